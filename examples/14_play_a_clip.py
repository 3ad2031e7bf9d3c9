"""An arm bends its elbow by 120 degrees: what blending lets pass, and what flesh that responds makes of it."""

import numpy as np

import pliant
from pliant.characters import play, summarise

scene = pliant.scenes.load_character("arm")  # or pliant.characters.load("arm.glb"), and body_of(character)
print(scene.character, scene.body)

# The classic: a mean of what the bones want. At the elbow one half of the arm is in the other.
blended = list(play(scene.character, "bend", body=scene.body, skinning="linear", rate=30))
print("blended:", summarise(blended))

deepest = max(blended, key=lambda frame: frame.penetrations.deepest)
found = deepest.penetrations
print(f"at {deepest.time:.2f} s:", found, found.bone_pairs())

# Each row: a vertex, the tetrahedron that holds it, where in it, how deep, which way out, and the bones of both.
first = int(np.nanargmax(found.depth))
corners = scene.body.volume.cells["tetra"][found.cells[first]]
at = found.weights[first] @ deepest.x[corners]
assert np.allclose(at, deepest.x[found.vertices[first]])
print("deepest vertex", found.vertices[first], "in cell", found.cells[first], "out along", found.direction[first])

# Flesh: constraints between neighbours, and barriers where it meets itself.
flesh = list(play(scene.character, "bend", body=scene.body, rate=30))
print("flesh:", summarise(flesh))


def volume(x):
    """Of the body, all tetrahedra together."""
    a, b, c, d = np.swapaxes(x[scene.body.volume.cells["tetra"]], 0, 1)
    return np.einsum("ij,ij->", np.cross(b - a, c - a), d - a) / 6.0


drift = max(abs(volume(frame.x) / volume(scene.body.rest) - 1.0) for frame in flesh)
print(f"volume of the flesh within {drift:.2%}")
assert drift < 0.03

assert summarise(blended).colliding > 0
assert summarise(flesh).colliding == 0
