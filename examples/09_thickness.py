"""Cloth has thickness: contact within a distance, steps that keep it, and what is close already."""

import numpy as np

import pliant

scene = pliant.scenes.crumpled_sheet(2_000)
faces, x0 = scene.faces, scene.frames[1]
x1 = scene.frames[2]
thickness = 0.01

near = pliant.proximity(faces, x0, within=thickness)
print(near)

touching = pliant.ccd(faces, x0, x1)
thick = pliant.ccd(faces, x0, x1, min_distance=thickness)
print(f"touching: {touching}\nwithin {thickness}: {thick}")

# Everything that touches comes within the thickness first, and what starts within it has toi 0.
assert len(thick) >= len(touching)
assert np.count_nonzero(thick.toi == 0.0) == len(near)
assert np.count_nonzero(thick.gap <= thickness) == len(near)

# A step from a start that is too close already: keep half of the distance that each of those pairs starts with.
step = pliant.safe_step(faces, x0, x1, min_distance=thickness, initial=0.5)
print(step)
after = pliant.proximity(faces, step.positions, within=thickness)
closest_before, closest_after = near.distance.min(initial=thickness), after.distance.min(initial=thickness)
print(f"closest before {closest_before:.3g}, after the step {closest_after:.3g}")
assert closest_after >= 0.499 * closest_before
