"""Frame after frame: a detector keeps the hierarchy of a cloth, and asks for contacts and for intersections."""

import numpy as np

import pliant

scene = pliant.scenes.load("hanging_cloth", triangles=6_000, frames=8)
mesh = pliant.TriMesh(scene.faces)
# Smooth patches are proved to be free of self-contact; by default a detector tries that where it pays.
detector = pliant.Detector(mesh, tuning=pliant.Tuning(culling="cones"))
print(scene, detector)

kept = {}
for i, x in enumerate(scene.frames):
    contacts = detector.advance(x)  # of the motion from the frame before; none in the first frame
    crossing = detector.intersections(x)  # at rest in this one
    kept[i] = contacts, crossing
    free = sum(stage.pairs_in - stage.pairs_out for stage in contacts.stages if stage.name == "contours")
    print(f"frame {i}: {contacts}, {crossing}, {free} patches free of self-contact")

assert len(kept[0][0]) == 0
assert all(len(contacts) + len(crossing) > 0 for contacts, crossing in list(kept.values())[1:])

# The tree was built once, in the first frame that needed it, and refitted in all others.
names = [{stage.name for tables in kept[i] for stage in tables.stages} for i in kept]
assert ["hierarchy" in stages for stages in names] == [True] + [False] * (len(names) - 1)

# A detector saves time and changes nothing: each frame is what fresh queries give, with any culling, to the last bit.
contacts, crossing = kept[5]
for culling in ("boxes", "cones"):
    fresh = pliant.ccd(mesh, scene.frames[4], scene.frames[5], tuning=pliant.Tuning(culling=culling))
    assert np.array_equal(fresh.elements, contacts.elements)
    assert np.array_equal(fresh.toi, contacts.toi)
    assert np.array_equal(fresh.toi_upper, contacts.toi_upper)
    at_rest = pliant.check(mesh, scene.frames[5], tuning=pliant.Tuning(culling=culling))
    assert np.array_equal(at_rest.faces, crossing.faces)
    assert np.array_equal(at_rest.segments, crossing.segments)
