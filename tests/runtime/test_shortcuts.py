"""Shortcuts through the compiler: the same machine code, taken only where numba is known, put back afterwards."""

from __future__ import annotations

import os
import subprocess
import sys
from collections import Counter
from contextlib import nullcontext

import numba
import numpy as np
import pytest
from numba.core import compiler, event, ir, postproc, types

from pliant.runtime import jit, shortcuts

COMPILED = pytest.mark.skipif(jit.INTERPRETED, reason="nothing is compiled")


def _originals() -> dict[tuple[str, str], object]:
    return {
        (module, name): vars(owner).get(attribute)
        for module, name, _, _ in shortcuts.SHORTCUTS
        for owner, attribute in [shortcuts._place(module, name)]
        if owner is not None
    }


def test_all_are_taken_and_put_back():
    """In the version that is installed; errors have colours only where colorama is."""
    before = _originals()
    with shortcuts.taken():
        with shortcuts.taken():
            during = _originals()
        assert _originals() == during  # the inner one ends nothing
    assert _originals() == before
    missed = {name for (_, name), function in during.items() if function is before[_, name]}
    assert missed <= {"HighlightColorScheme._markup"}


def test_they_are_put_back_after_an_error():
    before = _originals()
    with pytest.raises(ZeroDivisionError), shortcuts.taken():
        _ = 1 / 0
    assert _originals() == before


def test_unknown_sources_stay_as_they_are():
    unknown = tuple(one._replace(known=("0" * 12,)) for one in shortcuts.SHORTCUTS)
    assert shortcuts.found(unknown) == ()
    gone = (
        shortcuts.Shortcut("numba.core.nowhere", "Nothing.at_all", ("",), lambda one: one),
        shortcuts.Shortcut("numba.core.event", "Nothing.at_all", ("",), lambda one: one),
        shortcuts.Shortcut("numba.core.event", "at_all", ("",), lambda one: one),
        shortcuts.Shortcut("math", "sqrt", ("",), lambda one: one),  # has no source
    )
    assert shortcuts.found(gone) == ()


def test_what_somebody_else_has_replaced_stays(monkeypatch):
    def other(*_: object) -> None: ...

    monkeypatch.setattr(event, "start_event", other)
    with shortcuts.taken():
        assert event.start_event is other
    assert event.start_event is other


def test_variables_of_instructions_are_listed_in_the_same_order():
    place = ir.Loc("nowhere", 1)
    scope = ir.Scope(None, place)
    a, b, c = (ir.Var(scope, name, place) for name in "abc")
    values = [
        a, 1, "a", None, [a, [b], (c, a)], {"x": b, "y": [a, {"z": c}]}, ir.Expr.build_tuple([c, a, b], place),
        {"kws": (("x", a), ("y", b)), "expr": ir.Expr.call(a, [b, c], (("k", a),), place)}, place, scope,
    ]  # fmt: skip
    inst, original = ir.Expr.build_tuple([], place), ir.Inst._rec_list_vars
    with shortcuts.taken():
        assert ir.Inst._rec_list_vars is not original
        found = [ir.Inst._rec_list_vars(inst, value) for value in values]
    assert found == [original(inst, value) for value in values]
    assert Counter(map(len, found))[0] == 5


def test_lifetimes_are_those_that_are_not_computed_at_once():
    def function(a, b):
        while a < b:
            c = a + b
            if c > 3:
                a, b = b, c
        return a

    lives = []
    for shortened in (False, True):
        seen = compiler.run_frontend(function, emit_dels=False)
        with shortcuts.taken() if shortened else nullcontext():
            postproc.PostProcessor(seen).run()
            lives.append([*seen.variable_lifetime.livemap.items()])
            assert len(seen.blocks) == len(lives[0]) > 3
            postproc.PostProcessor(seen).run(emit_dels=True)
        lives.append([str(one) for block in seen.blocks.values() for one in block.find_insts(ir.Del)])
    assert lives[:2] == lives[2:]
    assert lives[1]


def test_numbers_hold_no_arrays():
    array, number = types.Array(types.float64, 1, "C"), types.float64
    for plain in (number, types.boolean, types.int8, types.UniTuple(number, 3), types.Tuple((number, types.intp))):
        assert shortcuts._is_number(plain)
        assert shortcuts._is_number(types.Tuple((plain, types.UniTuple(plain, 2))))
    for other in (array, types.UniTuple(array, 2), types.Tuple((number, array)), types.Optional(array), types.string):
        assert not shortcuts._is_number(other)


SCRIPT = """
import contextlib, hashlib, sys
import numpy as np
from pliant.runtime import jit, pipeline
if sys.argv[1] == "plain":
    pipeline.shortcuts.taken = contextlib.nullcontext
elif sys.argv[1] == "unknown":
    ours = pipeline.shortcuts.SHORTCUTS
    pipeline.shortcuts.SHORTCUTS = tuple(one._replace(known=()) for one in ours)

@jit.helper
def mixed(pair, table, i):
    a, b = pair
    return (a + b, table[i, 0] * b), a > b or i & 3 == 1

@jit.kernel
def total(table, out):
    held, some = np.empty(4), 0
    for i in range(len(table)):
        both, is_some = mixed((table[i, 0], i), table, i)
        held[i & 3] = both[0] - both[1]
        some += is_some
    scaled = held[::-1]  # an array expression has the number of an object in its code, another one in each run
    for i in range(4):
        out[i] = scaled[i] ** 2 // 1.5
    return some

out = np.empty(4)
print(total(np.arange(20.0).reshape(10, 2), out), out.tolist())
for library in (one.library for one in total.overloads.values()):
    print(hashlib.sha256(library._compiled_object).hexdigest())
"""


@COMPILED
def test_machine_code_is_the_same_to_the_byte(tmp_path):
    def said(how: str) -> str:
        (tmp_path / "compiled.py").write_text(SCRIPT, "utf-8")
        environment = os.environ | {
            "PYTHONPATH": os.pathsep.join(sys.path), "PLIANT_CACHE_DIR": str(tmp_path / how),
            "PLIANT_COMPILE_PROCESSES": "1",
        }  # fmt: skip
        command = [sys.executable, str(tmp_path / "compiled.py"), how]
        done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=300, check=False)
        assert done.returncode == 0, done.stderr
        return done.stdout

    plain = said("plain")
    assert len(plain.splitlines()) == 2
    assert said("short") == plain
    assert said("unknown") == plain


@COMPILED
def test_errors_of_types_are_said_as_ever():
    def wrong(a):
        return a.nothing + 1

    def message(function) -> str:
        with pytest.raises(numba.TypingError) as caught:
            function(np.zeros(3))
        return str(caught.value)

    plain = message(numba.njit(wrong))
    assert "nothing" in plain
    assert message(jit.kernel(wrong)) == plain
