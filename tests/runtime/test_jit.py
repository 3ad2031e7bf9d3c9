"""What the arithmetic needs of the compiler: every rounding where the source puts it, and a cache that cannot lie."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from fractions import Fraction
from pathlib import Path

import numba
import numpy as np
import pytest

from pliant.arithmetic.double_double import two_product, two_sum
from pliant.elementary.exact import decide_in_doubles
from pliant.runtime import jit

COMPILED = pytest.mark.skipif(jit.INTERPRETED, reason="nothing is compiled")


@numba.njit
def _products(a, b, p, e, s, f):
    for i in range(len(a)):
        p[i], e[i] = two_product(a[i], b[i])
        s[i], f[i] = two_sum(a[i], b[i])


@pytest.mark.unit
def test_error_free_transformations_are_free_of_error():
    """With a fused multiply-add, a_high b_high - p would not be rounded where the proof wants it."""
    rng = np.random.default_rng(1)
    a, b = rng.standard_normal((2, 2000)) * 2.0 ** rng.integers(-60, 60, (2, 2000))
    a[:100], b[:100] = rng.integers(-9, 10, (2, 100))
    p, e, s, f = np.empty((4, 2000))
    _products(a, b, p, e, s, f)
    np.testing.assert_array_equal(p, a * b)
    np.testing.assert_array_equal(s, a + b)
    for i in range(2000):
        assert Fraction(p[i]) + Fraction(e[i]) == Fraction(a[i]) * Fraction(b[i])
        assert Fraction(s[i]) + Fraction(f[i]) == Fraction(a[i]) + Fraction(b[i])
    assert np.count_nonzero(e) > 1500
    assert np.count_nonzero(f) > 1500


FUSED = re.compile(r"\b(?:vfn?m(?:add|sub)\w*|fn?m(?:add|sub|la|ls)\w*)\b")


@COMPILED
def test_no_fused_multiply_add_in_the_machine_code():
    x, table = np.zeros((4, 3)), np.array([(1, 2, 3)], np.int32)
    pairs, status = np.zeros((1, 2), np.int32), np.empty(1, np.int8)
    # Compiled here and now: code from the cache cannot be examined.
    compiled = numba.njit(**jit._OPTIONS)(decide_in_doubles.py_func)
    compiled(0, x, x, table, pairs, 1, np.empty(1), np.empty(1), status)
    for assembly in compiled.inspect_asm().values():
        assert re.search(r"mul[sp]d|fmul", assembly), "no multiplication at all: this is not the code"
        assert not FUSED.search(assembly)


@pytest.mark.parametrize("line", ["vfmadd213sd %xmm0", "vfnmsub231pd", "fmadd d0, d1", "fmla v0.2d", "vfmsub132sd"])
def test_fused_multiply_adds_are_recognised(line):
    assert FUSED.search(line)
    assert not FUSED.search("vmulsd vaddsd fmul fadd vmulpd")


def test_no_kernel_has_fast_math():
    assert jit._OPTIONS["fastmath"] is False
    assert jit._OPTIONS["error_model"] == "numpy"


OUTSIDE = {
    "outside/__init__.py": "",
    "outside/kernels.py": """
from outside.helpers import FACTOR, scaled
from pliant.runtime.jit import kernel

@kernel
def answer(a):
    return scaled(a) + FACTOR
""",
    "outside/helpers.py": """
from outside import numbers
from pliant.runtime.jit import helper

FACTOR = 10.0

@helper
def scaled(a):
    return numbers.TWO * a
""",
    "outside/numbers.py": "TWO = 2.0",
    "outside/alone.py": "TWO = 2.0",
}


@COMPILED
def test_kernels_outside_of_the_package_are_never_stale(tmp_path):
    """numba looks at the file of the kernel alone: a helper that was compiled in stayed as it had been."""
    for name, content in OUTSIDE.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(content, "utf-8")

    def answer():
        script = (
            "from outside.kernels import answer; print(answer(1.0));"
            "print(answer._cache.cache_path, sum(answer.stats.cache_hits.values()))"
        )
        path = os.pathsep.join([str(tmp_path), *sys.path])
        environment = os.environ | {"PYTHONPATH": path, "PLIANT_CACHE_DIR": str(tmp_path / "cache")}
        command = [sys.executable, "-B", "-c", script]
        done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=300, check=False)
        assert done.returncode == 0, done.stderr
        number, kept = done.stdout.splitlines()
        return float(number), *kept.rsplit(" ", 1)

    number, folder, hits = answer()
    assert (number, hits) == (12.0, "0")
    assert Path(folder).is_relative_to(tmp_path / "cache")
    (tmp_path / "outside" / "alone.py").write_text("TWO = 3.0", "utf-8")
    assert answer() == (12.0, folder, "1")
    (tmp_path / "outside" / "numbers.py").write_text("TWO = 3.0", "utf-8")
    assert answer()[0] == 13.0
    (tmp_path / "outside" / "helpers.py").write_text(OUTSIDE["outside/helpers.py"].replace("10.0", "20.0"), "utf-8")
    assert answer()[0] == 23.0
    (tmp_path / "outside" / "numbers.py").write_text("TWO = 2.0", "utf-8")
    (tmp_path / "outside" / "helpers.py").write_text(OUTSIDE["outside/helpers.py"], "utf-8")
    assert answer() == (12.0, folder, "1")  # what was compiled before is still there


@pytest.mark.bounds
@COMPILED
def test_bounds_checks_are_really_on_where_asked_for():
    """Only says something in the run with NUMBA_BOUNDSCHECK=1; without, an index too large must not be tried."""
    if not numba.config.BOUNDSCHECK:
        pytest.skip("compiled without bounds checks")

    @numba.njit
    def beyond(a):
        return a[len(a)]

    with pytest.raises(IndexError):
        beyond(np.zeros(3))


READ_ONLY = """
import sys
import pliant
from tests.runtime.storms import queries
for query in queries().values():
    query()
scene = pliant.scenes.load("twisted_cloth", 200)
for culling in ("boxes", "front", "cones", "cones+front"):
    mesh = pliant.TriMesh(scene.faces, edges=[[0, 50]], points=[3])
    detector = pliant.Detector(mesh, tuning=pliant.Tuning(culling=culling))
    for x in scene.frames[:3]:
        detector.advance(x), detector.intersections(x)
pliant.ccd(scene.faces, scene.x0, scene.x1, min_distance=0.01)
pliant.safe_step(scene.faces, scene.x0, scene.x1, min_distance=0.01)
step = pliant.scenes.load_volume("liver", 500).steps[0]
mesh = pliant.VolumeMesh(step.cells)
pliant.dcd(mesh.surface(), step.x1)
pliant.ccd(mesh, step.x0, step.x1, tuning=pliant.Tuning(assignment="static"))
pliant.ccd(mesh, step.x0, step.x1, interior=False)
pliant.inside(mesh.surface(), step.x1, points=step.x1[:50] + 0.01)
for name, module in list(sys.modules.items()):
    for member in vars(module).values() if name.startswith("pliant.") else ():
        for overload in getattr(member, "overloads", {}).values():
            if "readonly" in str(overload.signature.args):
                print(member, overload.signature.args)
ours = [module for name, module in sys.modules.items() if name.startswith("pliant.")]
print("examined", sum(hasattr(member, "overloads") for module in ours for member in vars(module).values()))
"""


@COMPILED
def test_kernels_get_no_read_only_arrays():
    """What meshes show is read-only; numba would compile every kernel once more for it, for seconds each."""
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, "-c", READ_ONLY]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=600, check=False)
    assert done.returncode == 0, done.stderr
    found, looked_at = done.stdout.splitlines()[:-1], done.stdout.splitlines()[-1]
    assert found == []
    assert int(looked_at.split()[-1]) > 100
