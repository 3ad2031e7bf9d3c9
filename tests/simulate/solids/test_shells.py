"""Shells: patch tests, derivatives, and the closed forms of plates, of bending and of plastic hinges."""

from __future__ import annotations

import numpy as np
import pytest

import pliant
from pliant.runtime.threads import SERIAL, ThreadPool
from pliant.simulate.rows import rows_of
from pliant.simulate.solids.materials import solid_material_of
from pliant.simulate.solids.shells import ShellError, angles_at, shell_constants, shell_mass, shells_of
from pliant.simulate.solids.shells_laws import HEIGHTS, WEIGHTS, plane_stress
from pliant.simulate.solids.shells_step import ShellStep
from tests.simulate.solids.plates import STEP, dense, energy, equilibrium, plate, shells

KINDS = pytest.mark.parametrize("kind", ["triangle", "quad", "mixed"])
TURN = np.linalg.qr(np.random.default_rng(7).normal(size=(3, 3)))[0]
YOUNG, POISSON = 3.0, 0.3


def distorted(kind):
    """3 by 3 cells (of mixed ones, what is left of them), inner vertices off the grid, turned in space."""
    cells, x = plate(kind, 3, 3, (1.5, 1.0), 0.2)
    inner = ((x[:, :2] > 1e-9) & (x[:, :2] < (1.5 - 1e-9, 1.0 - 1e-9))).all(axis=1)
    return cells, x @ TURN.T, inner


@KINDS
def test_area_and_mass(kind):
    cells, x, _ = distorted(kind)
    mesh, step = pliant.VolumeMesh(cells), shells(cells, x)
    corners = [np.array(array) for array in mesh.cells.values() if len(array)]
    # Quads of a plane: half of the product of their diagonals; triangles: of two sides.
    ends = [(x[c[2]] - x[c[0]], x[c[3]] - x[c[1]] if len(c) == 4 else x[c[1]] - x[c[0]]) for a in corners for c in a]
    exact = sum(0.5 * np.linalg.norm(np.cross(*two)) for two in ends)
    assert step.shells.area.sum() == pytest.approx(exact, rel=1e-12)
    mass = shell_mass(mesh, x, np.full(len(mesh.types), 2.5))
    assert mass.sum() == pytest.approx(2.5 * exact, rel=1e-12)


@KINDS
def test_patch(kind):
    """Under any stretch of the plane inner vertices feel no force, energy is the closed form, and vertices that are
    moved off come back."""
    cells, x, inner = distorted(kind)
    step, rng = shells(cells, x, YOUNG, POISSON), np.random.default_rng(1)
    stretch = np.diag((1.05, 1.1, 1.0))
    y = x @ (TURN @ stretch @ TURN.T).T
    gradient, _ = dense(step, y)
    assert np.abs(gradient[inner]).max() < 1e-10 * np.abs(gradient).max()
    e, f = np.log(1.05), np.log(1.1)
    density = 0.5 * YOUNG / (1 - POISSON**2) * (e * e + f * f + 2 * POISSON * e * f)
    assert energy(step, y) == pytest.approx(0.1 * density * step.shells.area.sum(), rel=1e-11)
    off = y.copy()
    off[inner] += 0.05 * rng.uniform(-1, 1, (inner.sum(), 2)) @ TURN[:, :2].T
    found = equilibrium([step], off, np.zeros_like(x), inner)
    assert np.abs(found - y).max() < 1e-10


@KINDS
def test_constant_moments_leave_inner_vertices_in_equilibrium(kind):
    """Of vertices so far inside that no side on the boundary turns with them."""
    cells, x = plate(kind, 6, 5, (1.5, 1.0), 0.2)
    inner = ((x[:, :2] > (0.4, 0.3)) & (x[:, :2] < (1.1, 0.7))).all(axis=1)
    assert inner.sum() > 4
    x = x @ TURN.T
    made = shells(cells, x).shells
    area = np.add.reduceat(made.area, made.start[:-1])
    moment = np.array((0.3, -0.7, 0.4))
    # Warp of each cell is an axis of space laid into it: the same in all cells of a plane.
    for v in np.flatnonzero(inner):
        up = np.zeros_like(x)
        up[v] = 1e-5 * TURN[:, 2]
        turned = angles_at(x + up, made.stencil) - angles_at(x - up, made.stencil)
        curvature = np.einsum("erh,eh->er", made.bend, np.where(made.hinged, turned, 0.0))
        work = np.einsum("e,er,r->", area, curvature, moment)
        assert abs(work) < 1e-7 * np.abs(area[:, None] * curvature).sum()


@KINDS
@pytest.mark.parametrize("limit", [np.inf, 0.02])
def test_derivatives(kind, limit):
    """Forces are those of the energy, however large; the Hessian is that of the forces where strains are small, and
    never negative."""
    cells, x, _ = distorted(kind)
    rng = np.random.default_rng(2)
    shape = x + 0.05 * np.sin(3 * x[:, :1])
    step = shells(cells, shape, YOUNG, POISSON, limit, 1.0, 0.3, 0.2)
    step.begin(shape)
    y, e = 1.05 * shape + 0.05 * rng.uniform(-1, 1, x.shape), 1e-6
    gradient, hessian = dense(step, y)
    for _ in range(3):
        way = rng.uniform(-1, 1, x.shape)
        assert np.vdot(gradient, way) == pytest.approx(
            (energy(step, y + e * way) - energy(step, y - e * way)) / (2 * e), rel=1e-6, abs=1e-9
        )
    assert np.abs(hessian - hessian.T).max() < 1e-13
    assert np.linalg.eigvalsh(hessian).min() > -1e-12
    y, way = shape * (1 + 1e-5), rng.uniform(-1, 1, x.shape)
    _, hessian = dense(step, y)
    slope = (dense(step, y + e * way)[0] - dense(step, y - e * way)[0]) / (2 * e)
    assert np.abs(hessian @ way.ravel() - slope.ravel()).max() < 1e-3 * np.abs(slope).max()


@pytest.mark.bounds
@pytest.mark.unit
@KINDS
def test_rigid_motions_make_no_forces(kind):
    cells, x, _ = distorted(kind)
    shape = x + 0.1 * np.sin(3 * x[:, :1])
    step = shells(cells, shape)
    turn = np.linalg.qr(np.random.default_rng(3).normal(size=(3, 3)))[0]
    gradient, _ = dense(step, shape @ (turn * np.linalg.det(turn)).T + 5.0)
    assert np.abs(gradient).max() < 1e-12
    far, gradient = shape + 0.1 * np.random.default_rng(4).uniform(-1, 1, x.shape), np.zeros_like(x)
    step.add_gradient(far, STEP, gradient)
    assert np.abs(gradient.sum(axis=0)).max() < 1e-14
    assert np.abs(np.cross(far, gradient).sum(axis=0)).max() < 1e-14


def deflection(kind, nx, ny, poisson, shift=0.0):
    """Of the free end of a strip, as a part of what a beam does; fixed half way between the first two rows."""
    length, width, thick, young = 1.0, 0.2, 0.005, 1e6
    cells, x = plate(kind, nx, ny, (length, width), shift)
    free, end = x[:, 0] > 1.5 * length / nx, x[:, 0] > length - 1e-9
    x[~free, 0] = np.round(x[~free, 0] * nx / length) * length / nx
    reach = length - 0.5 * length / nx
    load = np.zeros_like(x)
    load[end, 2] = 0.01 * 3 * young * width * thick**3 / 12 / reach**3 / end.sum()
    y = equilibrium([shells(cells, x, young, poisson, thickness=thick)], x, load, free)
    return y[end, 2].mean() / 0.01


@pytest.mark.parametrize("kind", ["triangle", "quad"])
def test_cantilever(kind):
    errors = [abs(deflection(kind, nx, nx // 4, 0.0) - 1) for nx in (4, 8)]
    assert errors[0] > 3 * errors[1]
    assert errors[1] < 0.006
    assert 0.93 < deflection(kind, 12, 3, 0.3) < 1.0  # sides of a plate bend a little less than those of a beam
    assert 0.9 < deflection(kind, 12, 3, 0.0, 0.25) < 1.0  # distorted: too stiff


def bent(x, curvature):
    """A plate around a cylinder, without stretch along chords of one column of cells."""
    column, angle = np.round(x[:, 0] / x[:, 0].max() * 8).astype(int), curvature * x[:, 0].max() / 8
    turned = angle * (np.arange(8) + 0.5)
    at = x[:, 0].max() / 8 * np.stack((np.cos(turned), np.sin(turned)), axis=1)
    line = np.concatenate((np.zeros((1, 2)), np.cumsum(at, axis=0)))
    return np.column_stack((line[column, 0], x[:, 1], line[column, 1]))


@pytest.mark.parametrize("kind", ["triangle", "quad"])
def test_plastic_hinge_of_a_plate(kind):
    """A wide plate around a cylinder: no strain across, so it flows at 2 / sqrt(3) of the yield stress. Let go, it is
    elastic."""
    thick, limit = 0.02, 0.003
    cells, x = plate(kind, 8, 2, (1.0, 0.5))
    step = shells(cells, x, YOUNG, POISSON, limit, 0.0, thick)
    rigidity, width = YOUNG * thick**3 / 12 / (1 - POISSON**2), 0.5
    inner = 7 / 8  # of the length, is bent: at the first and last side nothing is

    def moment(k):
        return (energy(step, bent(x, k + 1e-5)) - energy(step, bent(x, k - 1e-5))) / (2e-5 * inner * width)

    first = limit / YOUNG * (1 - POISSON**2) / np.sqrt(1 - POISSON + POISSON**2) / (thick / 2)
    assert moment(0.5 * first) == pytest.approx(0.5 * rigidity * first, rel=2e-3)
    for k in np.linspace(0.5, 30, 60) * first:
        reached = moment(k)
        step.accept(bent(x, k))
    assert reached == pytest.approx(2 / np.sqrt(3) * limit * thick**2 / 4, rel=0.02)
    assert moment(30 * first) - moment(29.5 * first) == pytest.approx(0.5 * rigidity * first, rel=0.01)
    assert step.plastic.equivalent.max() > 0.01
    assert step.stresses(bent(x, 30 * first)).max() == pytest.approx(limit, rel=1e-6)


def pulled_around(curvature, across, past, constants, thick):
    """Moment of a strip that is free across, and its layers' strains, by Newton's method on the curvature across."""
    layers = []
    for _ in range(50):
        moment, across_moment, slope, layers = 0.0, 0.0, 0.0, []
        for k, (height, weight) in enumerate(zip(HEIGHTS, WEIGHTS)):
            z = 0.5 * thick * height
            strain = (z * curvature - past[k][0], z * across - past[k][1], 0.0)
            _, stress, tangent, more = plane_stress(strain, past[k][2], constants)
            layers.append((z, stress, more))
            moment += thick * weight * z * stress[0]
            across_moment += thick * weight * z * stress[1]
            slope += thick * weight * z * z * tangent[1]
        across -= across_moment / slope
        if abs(across_moment) < 1e-15:
            break
    young, nu = constants[:2]
    after = [
        (z * curvature - (s[0] - nu * s[1]) / young, z * across - (s[1] - nu * s[0]) / young, p[2] + more)
        for p, (z, s, more) in zip(past, layers)
    ]
    return moment, across, after


def test_plastic_hinge_of_a_strip():
    """Moment at which the surface flows, sigma t^2 / 6, its limit, sigma t^2 / 4, and what is left when let go."""
    thick, limit = 0.02, 0.003
    constants, first = np.array((YOUNG, POISSON, limit, 0.0)), 2 * limit / YOUNG / thick
    past, across, found = [(0.0, 0.0, 0.0)] * 5, 0.0, {}
    for part in (0.999, 1.5, 2.0, 4.0, 10.0, 20.0):
        found[part], across, past = pulled_around(part * first, across, past, constants, thick)
    start, full = limit * thick**2 / 6, limit * thick**2 / 4
    assert found[0.999] == pytest.approx(0.999 * start, rel=1e-9)
    for part in (1.5, 2.0, 4.0):  # five layers: within a tenth of the closed form on the way
        assert found[part] == pytest.approx(start * (1.5 - 0.5 / part**2), rel=0.1)
    assert found[10.0] == pytest.approx(full, rel=0.01)
    assert found[20.0] == pytest.approx(full, rel=0.005)
    back = found[20.0] / (YOUNG * thick**3 / 12)
    assert pulled_around(20 * first - back, across + POISSON * back, past, constants, thick)[0] == pytest.approx(
        0.0, abs=1e-3 * full
    )


def test_uniaxial_loading_and_unloading():
    """J2 with linear hardening in a strip that is pulled and let go, against the closed form in logarithms."""
    limit, slope = 0.02, 0.4
    constants, plastic = np.array((YOUNG, POISSON, limit, slope)), 0.0
    past = (0.0, 0.0, 0.0)
    for e in np.concatenate((np.linspace(0, 0.05, 11), np.linspace(0.05, 0.03, 5)[1:])):
        across = -0.4 * e
        for _ in range(50):
            strain = (e - past[0], across - past[1], 0.0)
            _, stress, tangent, more = plane_stress(strain, past[2], constants)
            across -= stress[1] / tangent[1]
            if abs(stress[1]) < 1e-16:
                break
        plastic += max(0.0, YOUNG * (e - plastic) - limit - slope * plastic) / (YOUNG + slope)
        assert stress[0] == pytest.approx(YOUNG * (e - plastic), abs=1e-12)
        past = (e - stress[0] / YOUNG, across + POISSON * stress[0] / YOUNG, past[2] + more)
        assert past[2] == pytest.approx(plastic, abs=1e-12)
    assert plastic > 0.03


def test_plane_stress_is_the_slope_of_its_energy_and_convex():
    rng, flowing = np.random.default_rng(5), 0
    constants = np.array((YOUNG, POISSON, 0.02, 0.5))
    for _ in range(200):
        strain, e = 0.02 * rng.normal(size=3), 1e-7
        _, stress, d, more = plane_stress(strain, 0.03, constants)
        flowing += more > 0.0
        full = np.array(((d[0], d[3], d[4]), (d[3], d[1], d[5]), (d[4], d[5], d[2])))
        assert np.linalg.eigvalsh(full).min() > 0.0
        for k in range(3):
            way = e * np.eye(3)[k]
            (up, s_up, _, _), (down, s_down, _, _) = (plane_stress(strain + w, 0.03, constants) for w in (way, -way))
            assert stress[k] == pytest.approx((up - down) / (2 * e), abs=1e-8)
            assert full[k] == pytest.approx((np.array(s_up) - s_down) / (2 * e), abs=1e-4)
    assert 60 < flowing < 190


@pytest.mark.bounds
def test_three_plates_at_one_edge():
    """Each two of them resist as one plate would, the third following: they come back as one when let go."""
    x = np.array([(0, 0, 0), (0, 1, 0), (1, 0.5, 0), (-1, 0.5, 0), (0, 0.5, 1)], float)
    step = shells({"triangle": [[0, 1, 2], [1, 0, 3], [0, 1, 4]]}, x)
    assert len(step.shells.stencil) == 6
    y = x.copy()
    y[2, 2] = 0.1
    assert energy(step, y) > 1e-6
    gradient, hessian = dense(step, y)
    assert np.abs(gradient.sum(axis=0)).max() < 1e-15
    assert np.linalg.eigvalsh(hessian).min() > -1e-13


def test_a_term_among_others():
    """In rows of a body that joins more vertices, blocks are added to what others have written."""
    cells, x, _ = distorted("mixed")
    mesh = pliant.VolumeMesh(cells)
    materials = [solid_material_of("steel" if k % 2 else "airbag fabric") for k in range(len(mesh.types))]
    made = shells_of(mesh, x, shell_constants(materials, np.full(len(mesh.types), 0.01)))
    alone = ShellStep(made, SERIAL)
    more = np.array([[0, 15, 7, 3, 12, -1]])
    rows, _ = rows_of(np.concatenate((made.stencil, more)), len(x))
    among = ShellStep(made, SERIAL, rows, is_first=False)
    y = x + 1e-4 * np.random.default_rng(8).uniform(-1, 1, x.shape)
    _, expected = dense(alone, y)
    blocks, gradient = np.full((len(rows.columns), 12), 3.0), np.zeros_like(x)
    among.energies(y, STEP)
    among.add(gradient, blocks)
    matrix = np.zeros((len(x), 3, len(x), 3))
    row = np.repeat(np.arange(len(x)), np.diff(rows.start))
    matrix[row, :, rows.columns] = (blocks - 3.0).reshape(-1, 3, 4)[:, :, :3].transpose(0, 2, 1)
    assert np.abs(matrix.reshape(expected.shape) - expected).max() < 1e-9 * np.abs(expected).max()
    again = np.zeros_like(x)
    among.add(again, np.empty((0, 12)))
    assert np.array_equal(again, gradient)


def test_threads_do_not_change_anything():
    cells, x = plate("quad", 40, 40)
    y = x + 0.01 * np.random.default_rng(6).uniform(-1, 1, x.shape)
    mesh = pliant.VolumeMesh(cells)
    made = shells_of(mesh, x, np.tile([3.0, 0.3, 0.01, 0.5, 0.02, 0.0], (1600, 1)))
    found = []
    for threads in (1, 3):
        step, gradient = ShellStep(made, ThreadPool(threads)), np.zeros_like(x)
        step.accept(y)
        step.add_gradient(y, STEP, gradient)
        found.append((energy(step, y), gradient.tobytes(), step.plastic.strain.tobytes()))
    assert found[0] == found[1]
    assert np.frombuffer(found[0][2]).any()


def test_a_fold_may_close_and_go_on():
    """Impact forces did not keep two sides of a fold apart in time: its angle jumped by a whole turn, and metal flowed
    46 times its length."""
    cells, x = plate("triangle", 1, 1)
    step = shells(cells, x, limit=0.1, slope=1.0)
    corners = np.array(cells["triangle"])
    axis = np.intersect1d(*corners)
    free = np.setdiff1d(corners[1], axis)
    along = (x[axis[1]] - x[axis[0]]) / np.linalg.norm(x[axis[1]] - x[axis[0]])
    arm, energies = x[free] - x[axis[0]], []
    for angle in np.linspace(0.0, 1.2 * np.pi, 61):
        out = np.outer(arm @ along, along)
        y = x.copy()
        y[free] = x[axis[0]] + out + np.cos(angle) * (arm - out) + np.sin(angle) * np.cross(along, arm)
        energies.append(energy(step, y))
        step.accept(y)
        assert step.plastic.turn.max() - step.plastic.turn.min() == pytest.approx(angle, abs=1e-9)
    assert np.ptp(np.diff(energies)[10:]) < 0.02 * max(energies)  # no jump where it closes


def test_bad_input():
    x = np.array([(0, 0, 0), (1, 0, 0), (2, 0, 0), (1, 1, 0)], float)
    constants = np.array([[3.0, 0.3, np.inf, 0.0, 0.1, 0.0]])
    with pytest.raises(ShellError, match="shell 0 has no area"):
        shells_of(pliant.VolumeMesh({"triangle": [[0, 1, 2]]}), x, constants)
    with pytest.raises(ShellError, match="thickness of 0"):
        shells_of(pliant.VolumeMesh({"triangle": [[0, 1, 3]]}), x, constants * (1, 1, 1, 1, 0, 1))
    with pytest.raises(ShellError, match="are of 1 shells, but there are 2"):
        shells_of(pliant.VolumeMesh({"triangle": [[0, 1, 3], [1, 2, 3]]}), x, constants)
    bow = np.array([(0, 0, 0), (1, 0, 0), (0, 1, 0), (1, 1, 0)], float)
    with pytest.raises(ShellError, match=r"shell 0.*(folded over|no area)"):
        shells_of(pliant.VolumeMesh({"quad": [[0, 1, 2, 3]]}), bow, constants)
    assert shells_of(pliant.VolumeMesh({}), x, np.empty((0, 6))).area.shape == (0,)
