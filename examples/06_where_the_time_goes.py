"""What every stage did: pairs in, pairs out, seconds. And that nothing but time depends on the stages chosen."""

from itertools import pairwise

import numpy as np

import pliant

scene = pliant.scenes.load("flowing_cloth", triangles=5_000, frames=3)
x0, x1 = scene.frames[1], scene.frames[2]
mesh = pliant.TriMesh(scene.faces)


def show(contacts):
    print(contacts)
    for stage in contacts.stages:
        print(f"  {stage.name:22} {stage.pairs_in:>10,} -> {stage.pairs_out:>9,} {1e3 * stage.seconds:8.1f} ms")


reference = pliant.ccd(mesh, x0, x1)
show(reference)

# Other filters, other bounds, another number of threads: another funnel, the same contacts to the last bit.
for options in ({"filters": ()}, {"filters": ("csat", "dnf", "ncf")}, {"bounds": "18-dop"}):
    contacts = pliant.ccd(mesh, x0, x1, tuning=pliant.Tuning(**options), threads=1)
    print(options, {stage.name: stage.pairs_out for stage in contacts.stages if stage.pairs_in})
    assert np.array_equal(contacts.elements, reference.elements)
    assert np.array_equal(contacts.toi, reference.toi)
    assert np.array_equal(contacts.toi_upper, reference.toi_upper)

# The pairs that leave one stage are those that enter the next; what leaves the last one are the contacts.
stages = [stage for stage in reference.stages if ":" not in stage.name]  # "exact: integers" is a part of "exact"
names = [stage.name for stage in stages]
funnel = stages[names.index("feature boxes") :]
for before, after in pairwise(funnel):
    assert after.pairs_in == before.pairs_out
assert funnel[-1].pairs_out == len(reference) > 0
