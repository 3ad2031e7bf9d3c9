"""Solid cells: patch tests, derivatives, and the closed forms of uniaxial loading."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

import pliant
from pliant.runtime.threads import SERIAL
from pliant.simulate.solids.laws import COROTATIONAL, HENCKY, NEO_HOOKEAN
from pliant.simulate.solids.materials import SOLID_MATERIALS, SolidMaterial, solid_material_of
from pliant.simulate.solids.quadrature import InvertedCellError, lumped_mass, points_of
from pliant.simulate.solids.stresses import SolidStep, solids_of

LAWS = pytest.mark.parametrize(
    "law", [NEO_HOOKEAN, COROTATIONAL, HENCKY], ids=["neo-Hookean", "corotational", "hencky"]
)
YOUNG, POISSON = 3.0, 0.3
LAME, SHEAR = YOUNG * POISSON / (1 + POISSON) / (1 - 2 * POISSON), YOUNG / 2 / (1 + POISSON)

# A cube around an inner vertex, which no symmetry holds in place: eight cells of one type, or six pyramids.
GRID = np.stack(np.meshgrid(*[np.arange(3.0)] * 3, indexing="ij"), axis=-1).reshape(-1, 3)


def at(i, j, k):
    return 9 * i + 3 * j + k


def cube_of(kind):
    """Cells of a 2 x 2 x 2 grid, and positions in which inner and outer vertices are off the grid."""
    hexahedra = [
        [at(i, j, k), at(i + 1, j, k), at(i + 1, j + 1, k), at(i, j + 1, k), at(i, j, k + 1), at(i + 1, j, k + 1),
         at(i + 1, j + 1, k + 1), at(i, j + 1, k + 1)]
        for i in range(2) for j in range(2) for k in range(2)
    ]  # fmt: skip
    x = GRID + 0.15 * np.random.default_rng(5).uniform(-1, 1, GRID.shape)
    if kind == "hexahedron":
        return {kind: hexahedra}, x
    if kind == "wedge":
        return {kind: [[h[a] for a in w] for h in hexahedra for w in ((0, 1, 2, 4, 5, 6), (0, 2, 3, 4, 6, 7))]}, x
    if kind == "tetra":
        six = ((0, 1, 2, 6), (0, 2, 3, 6), (0, 3, 7, 6), (0, 7, 4, 6), (0, 4, 5, 6), (0, 5, 1, 6))
        return {kind: [[h[a] for a in t] for h in hexahedra for t in six]}, x
    middles = np.array([x[h].mean(axis=0) for h in hexahedra])
    sides = ((0, 3, 2, 1), (4, 5, 6, 7), (0, 1, 5, 4), (1, 2, 6, 5), (2, 3, 7, 6), (3, 0, 4, 7))
    cells = [[*(h[a] for a in reversed(side)), 27 + n] for n, h in enumerate(hexahedra) for side in sides]
    return {"pyramid": cells}, np.concatenate((x, middles))


def step_of(cells, x, law, limit=np.inf, slope=0.0, damping=0.0):
    mesh = pliant.VolumeMesh(cells)
    count = len(mesh._types)
    constants = np.tile([LAME, SHEAR, limit, slope], (count, 1))
    corners = np.where(np.arange(8) < mesh._corner_count[:, None], mesh._corners, -1).astype(np.int32)
    made = points_of(mesh, x), np.full(count, law, np.int32), constants, len(x), np.full(count, damping)
    return SolidStep(solids_of(corners, *made), SERIAL)


def energy(step, x, seconds=1.0):
    return sum(step.energies(x, seconds))


def force_of(step, x, gradient):
    energy(step, x)
    step.add(gradient, np.empty((0, 12)))


def dense(step, x):
    """Gradient and Hessian."""
    gradient = np.zeros_like(x)
    force_of(step, x, gradient)
    return gradient, matrix_of(step, x, 1.0)


def matrix_of(step, x, seconds):
    rows, n = step.solids.rows, len(x)
    blocks = np.empty((len(rows.columns), 12))
    step.energies(x, seconds)
    step.add(np.zeros((n, 3)), blocks)
    matrix = np.zeros((n, 3, n, 3))
    for v in range(n):
        for k in range(rows.start[v], rows.start[v + 1]):
            matrix[v, :, rows.columns[k]] = blocks[k].reshape(3, 4)[:, :3].T
    return matrix.reshape(3 * n, 3 * n)


KINDS = pytest.mark.parametrize("kind", ["tetra", "hexahedron", "wedge", "pyramid"])


@KINDS
def test_volume(kind):
    cells, x = cube_of(kind)
    boundary = pliant.VolumeMesh(cells).surface().faces
    a, b, c = (x[boundary[:, i]] for i in range(3))
    points = points_of(pliant.VolumeMesh(cells), x)
    flat = kind == "tetra"  # of others quadrilaterals are not flat, and their triangles are not their surface
    assert points.volume.sum() == pytest.approx(
        np.einsum("ij,ij->", a, np.cross(b, c)) / 6, rel=1e-12 if flat else 0.02
    )


@KINDS
@LAWS
def test_patch(kind, law):
    """Under any affine motion inner vertices feel no force, and a Newton step from anywhere near leads there."""
    cells, x = cube_of(kind)
    step, rng = step_of(cells, x, law), np.random.default_rng(1)
    affine = np.eye(3) + 0.1 * rng.uniform(-1, 1, (3, 3))
    y = x @ affine.T
    gradient, _ = dense(step, y)
    inner = np.flatnonzero([*((GRID == 1).all(axis=1)), *([True] * (len(x) - len(GRID)))])
    assert np.abs(gradient[inner]).max() < 1e-10 * np.abs(gradient).max()
    off = y.copy()
    off[inner] += 0.05 * rng.uniform(-1, 1, (len(inner), 3))
    unknowns = (3 * inner[:, None] + np.arange(3)).ravel()
    for _ in range(30):
        gradient, hessian = dense(step, off)
        change = np.linalg.solve(hessian[np.ix_(unknowns, unknowns)], gradient[inner].ravel())
        off[inner] -= change.reshape(-1, 3)
        if np.abs(change).max() < 1e-14:
            break
    assert np.abs(off - y).max() < 1e-10


@KINDS
@pytest.mark.parametrize(
    ("law", "limit"), [(NEO_HOOKEAN, np.inf), (COROTATIONAL, np.inf), (HENCKY, np.inf), (HENCKY, 0.3)]
)
def test_derivatives(kind, law, limit):
    """Forces are those of the energy; where the Hessian is positive, it is that of the forces."""
    cells, x = cube_of(kind)
    step, rng = step_of(cells, x, law, limit, 5.0), np.random.default_rng(2)
    y = 1.15 * x + 0.02 * rng.uniform(-1, 1, x.shape)  # stretched: so it is positive
    gradient, hessian = dense(step, y)
    for _ in range(4):
        way, e = rng.uniform(-1, 1, x.shape), 1e-5
        there, back = y + e * way, y - e * way
        assert np.vdot(gradient, way) == pytest.approx((energy(step, there) - energy(step, back)) / (2 * e), rel=1e-6)
        slope = (dense(step, there)[0] - dense(step, back)[0]) / (2 * e)
        assert np.abs(hessian @ way.ravel() - slope.ravel()).max() < 2e-5 * np.abs(slope).max()


@KINDS
def test_damping(kind):
    """Forces of viscosity are those of its energy, which nothing rigid has; its Hessian is positive, and that of the
    forces where nothing has been deformed."""
    cells, x = cube_of(kind)
    step, rng, h = step_of(cells, x, COROTATIONAL, damping=0.3), np.random.default_rng(2), 0.01
    before = x + 0.02 * rng.uniform(-1, 1, x.shape)
    turn = np.linalg.qr(rng.normal(size=(3, 3)))[0]
    turn *= np.linalg.det(turn)
    step.begin(before)
    assert step.energies(before @ turn.T + 3.0, h)[1] < 1e-20
    y, way, e = before + 0.05 * rng.uniform(-1, 1, x.shape), rng.uniform(-1, 1, x.shape), 1e-5
    blocks = np.empty((len(step.solids.rows.columns), 12))
    slopes = []
    for z in (y, before + e * way, before - e * way):
        gradient, elastic = np.zeros_like(x), np.zeros_like(x)
        step.energies(z, h)
        step.add(gradient, blocks)
        step.energies(z, 1e30)
        step.add(elastic, np.empty((0, 12)))
        slopes.append(gradient - elastic)
    numeric = (step.energies(y + e * way, h)[1] - step.energies(y - e * way, h)[1]) / (2 * e)
    assert np.vdot(slopes[0], way) == pytest.approx(numeric, rel=1e-6)
    hessian = matrix_of(step, before, h) - matrix_of(step, before, 1e30)
    numeric = (slopes[1] - slopes[2]).ravel() / (2 * e)
    assert np.abs(hessian @ way.ravel() - numeric).max() < 1e-5 * np.abs(numeric).max()
    for z in (y, x * (0.3, 1.0, 2.0)):
        matrix = matrix_of(step, z, h)
        assert np.linalg.eigvalsh(matrix).min() > -1e-9 * np.abs(matrix).max()


@LAWS
def test_hessian_is_positive_however_a_cell_is_bent(law):
    cells, x = cube_of("hexahedron")
    step, rng = step_of(cells, x, law), np.random.default_rng(3)
    for size in (0.3, 0.6, 2.0):
        _, hessian = dense(step, x + size * rng.uniform(-1, 1, x.shape))
        assert np.allclose(hessian, hessian.T, atol=1e-9 * np.abs(hessian).max())
        assert np.linalg.eigvalsh(hessian).min() > -1e-9 * np.abs(hessian).max()


@LAWS
def test_small_strains_obey_hookes_law(law):
    """A bar that is pulled by a little: Young's modulus and Poisson's ratio, whatever the law."""
    cells, x = cube_of("hexahedron")
    step = step_of(cells, x, law)
    e = 1e-6
    y = x * (1 + e, 1 - POISSON * e, 1 - POISSON * e)
    volume = step.solids.points.volume.sum()
    assert energy(step, y) == pytest.approx(0.5 * YOUNG * e * e * volume, rel=1e-4)
    assert abs(energy(step, x)) < 1e-12 * YOUNG * volume


def test_uniaxial_loading_and_unloading():
    """J2 with linear hardening: stress in a bar pulled to 5 % and let go, against the closed form in logarithms."""
    cells = {"hexahedron": [[0, 1, 2, 3, 4, 5, 6, 7]]}
    x = np.array([(0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0), (0, 0, 1), (1, 0, 1), (1, 1, 1), (0, 1, 1)], float)
    limit, slope = 0.02, 0.4
    step = step_of(cells, x, HENCKY, limit, slope)
    tangent = YOUNG * slope / (YOUNG + slope)
    strain = np.concatenate((np.linspace(0, 0.05, 26), np.linspace(0.05, 0.03, 11)[1:]))
    width, plastic = 1.0, 0.0
    for e in strain:
        for _ in range(60):  # sides are free: Newton on the width alone
            forces = [_force_across(step, x, e, w) for w in (width - 1e-6, width, width + 1e-6)]
            change = forces[1] / ((forces[2] - forces[0]) / 2e-6)
            width -= change
            if abs(change) < 1e-13:
                break
        y = x * (np.exp(e), width, width)
        gradient = np.zeros_like(x)
        force_of(step, y, gradient)
        force = gradient[[1, 2, 5, 6], 0].sum()
        stress = force * np.exp(e)  # Kirchhoff's: times the volume of the bar, which is 1 at rest
        trial = YOUNG * (e - plastic)
        grown = limit + slope * plastic
        flow = max(0.0, trial - grown) / (YOUNG + slope)
        plastic += flow
        assert stress == pytest.approx(YOUNG * (e - plastic), abs=1e-7)
        step.accept(y)
        assert step.plastic.strain == pytest.approx(plastic, abs=1e-7)
    assert plastic > 0.03
    assert tangent * (0.05 - limit / YOUNG) + limit == pytest.approx(YOUNG * (0.05 - plastic), rel=1e-6)
    assert np.linalg.det(step.plastic.inverse) == pytest.approx(1.0, abs=1e-9)


def _force_across(step, x, strain, width):
    gradient = np.zeros_like(x)
    force_of(step, x * (np.exp(strain), width, width), gradient)
    return gradient[[2, 3, 6, 7], 1].sum()


def test_forces_do_not_push_or_turn_the_whole():
    cells, x = cube_of("wedge")
    step, rng = step_of(cells, x, NEO_HOOKEAN), np.random.default_rng(4)
    y, gradient = x + 0.1 * rng.uniform(-1, 1, x.shape), np.zeros_like(x)
    force_of(step, y, gradient)
    assert np.abs(gradient.sum(axis=0)).max() < 1e-13
    assert np.abs(np.cross(y, gradient).sum(axis=0)).max() < 1e-13


def test_inverted_at_rest():
    cells, x = cube_of("tetra")
    x = x.copy()
    x[at(1, 1, 1)] = (3.0, 3.0, 3.0)
    with pytest.raises(InvertedCellError, match=r"cell [0-9]+, a tetra, is inverted"):
        points_of(pliant.VolumeMesh(cells), x)


@KINDS
def test_mass(kind):
    cells, x = cube_of(kind)
    mesh = pliant.VolumeMesh(cells)
    points = points_of(mesh, x)
    mass = lumped_mass(mesh, points, np.full(len(mesh._types), 2.5), len(x))
    assert mass.sum() == pytest.approx(2.5 * points.volume.sum(), rel=1e-13)
    assert mass.min() > 0.0


def test_materials():
    steel = solid_material_of("steel")
    lame, shear = steel.lame
    assert shear * (3 * lame + 2 * shear) / (lame + shear) == pytest.approx(steel.young)
    assert all(solid_material_of(one) is one for one in SOLID_MATERIALS.values())
    for wrong in ({"poisson": 0.5}, {"poisson": 0.7}, {"young": -1.0}, {"density": np.nan}, {"yield_stress": 1e6}):
        with pytest.raises(pliant.MeshError, match=next(iter(wrong))):
            dataclasses.replace(SolidMaterial(1e3, 1e6, 0.3), **wrong)
    with pytest.raises(pliant.OptionError, match="'stone' is not known"):
        solid_material_of("stone")
