"""Tangled meshes, by class and by seed, and how well they are untangled: ``python -m bench untangle``.

    from bench.untangling.cases import recipes

    for recipe in recipes(["sheets", "noise"]):          # all classes without an argument; nothing is made yet
        if not recipe.held_out:                          # parameters are chosen by these alone
            case = recipe.make()                         # the same numbers every time
            done = pliant.untangle(case.mesh, case.x, **case.options)

`case.options` has fixed, layers and outside_of, where they are known; `case.reference` is a clean state, where there is
one; `case.edge` is the mean length of an edge that can move, the unit of all distances. Cases of the data folder are
left out where it is missing, and every class has at least twelve without it.
"""
