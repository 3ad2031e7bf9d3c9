"""Newton on the CPU: vertex block descent, and Style3D's projective dynamics, as its own examples use them."""

from __future__ import annotations

from typing import Any

import newton
import numpy as np
import warp as wp

from bench.simulators.scenes import BENDING, DENSITY, FRICTION, POISSON, RATE, STIFFNESS, THICKNESS, Scene

SUBSTEPS, ITERATIONS = 10, 4  # of its examples cloth_twist and cloth_style3d
GAP = 0.75  # of the contact distance: that of cloth_twist
VERTEX_BUFFER, EDGE_BUFFER = 64, 128  # pairs of a vertex or an edge; of cloth_twist


class _Stepped:
    """What both solvers share: two states that take turns, and particles that are put to where they are driven."""

    steps = SUBSTEPS

    def __init__(self, scene: Scene, model: Any, solver: Any) -> None:
        self._scene, self._solver = scene, solver
        self._state, self._next = model.state(), model.state()
        self._control = model.control()
        self._seconds, self._count = 1.0 / (RATE * SUBSTEPS), 0

    def step(self, time: float) -> None:
        self._drive(time)
        if self._count % SUBSTEPS == 0:
            self._solver.rebuild_bvh(self._state)
        self._advance(self._contacts(time))
        self._state, self._next = self._next, self._state
        self._count += 1

    def _advance(self, contacts: Any) -> None:
        self._state.clear_forces()
        self._solver.step(self._state, self._next, self._control, contacts, self._seconds)

    def positions(self) -> np.ndarray:
        return self._state.particle_q.numpy()

    def _drive(self, time: float) -> None:
        for state in (self._state, self._next):
            q = state.particle_q.numpy()  # on the CPU, a view
            self._put(q, time)
            state.particle_q.assign(q)

    def _put(self, q: np.ndarray, time: float) -> None:
        q[self._scene.driven] = self._scene.driven_at(time)

    def _contacts(self, time: float) -> Any:
        return None


class NewtonVBD(_Stepped):
    """Obstacles are triangles whose particles are not active, as in its example cloth_rollers.

    So contact with them has the same detection and the same bounds of motion as contact of the cloth with itself.
    """

    def __init__(self, scene: Scene, threads: int) -> None:
        _quiet()
        builder = newton.ModelBuilder(gravity=(0.0, 0.0, -scene.gravity))
        shear, lame = _lame()
        _add_mesh(builder, _flat(scene.rest), scene.faces, tri_ke=shear, tri_ka=lame, edge_ke=_hinge(scene))
        for solid in scene.solids:
            _add_mesh(builder, solid.x, solid.faces, tri_ke=0.0, tri_ka=0.0, edge_ke=0.0)
        _place(builder, scene.x)
        builder.color()
        model = builder.finalize(device="cpu")
        _hold(model, np.concatenate((scene.driven, np.arange(len(scene.x), model.particle_count))))
        model.soft_contact_ke, model.soft_contact_kd, model.soft_contact_mu = 1.0e3, 1.0e-1, FRICTION
        solver = newton.solvers.SolverVBD(
            model, iterations=ITERATIONS, particle_enable_self_contact=True, particle_self_contact_margin=THICKNESS,
            particle_self_contact_gap=GAP * THICKNESS, particle_vertex_contact_buffer_size=VERTEX_BUFFER,
            particle_edge_contact_buffer_size=EDGE_BUFFER,
        )  # fmt: skip
        super().__init__(scene, model, solver)
        self._graphs: list[Any] = [None, None]
        self.settings = (
            f"cloth_twist: {SUBSTEPS} substeps x {ITERATIONS} iterations, graphs, margin {1e3 * THICKNESS:g} mm, "
            f"gap {1e3 * GAP * THICKNESS:g} mm"
        )

    def _advance(self, contacts: Any) -> None:
        """As a recorded graph of launches, one for each of the two states, as its examples do; the first two
        substeps allocate memory."""
        which = self._count % 2
        if self._count < 2:
            super()._advance(contacts)
            return
        if self._graphs[which] is None:
            with wp.ScopedCapture(device="cpu") as capture:  # launches are recorded, not run
                super()._advance(contacts)
            self._graphs[which] = capture.graph
        wp.capture_launch(self._graphs[which])

    def _put(self, q: np.ndarray, time: float) -> None:
        super()._put(q, time)
        q[len(self._scene.x) :] = self._scene.solids_at(time)

    def positions(self) -> np.ndarray:
        return super().positions().copy()


class NewtonStyle3D(_Stepped):
    """Obstacles are shapes, as in its example cloth_style3d."""

    def __init__(self, scene: Scene, threads: int) -> None:
        from newton.solvers import style3d

        _quiet()
        builder = newton.ModelBuilder(gravity=(0.0, 0.0, -scene.gravity))
        newton.solvers.SolverStyle3D.register_custom_attributes(builder)
        style3d.add_cloth_mesh(
            builder, pos=wp.vec3(), rot=wp.quat_identity(), vel=wp.vec3(), vertices=_flat(scene.rest).tolist(),
            indices=scene.faces.reshape(-1).tolist(), panel_verts=scene.rest.tolist(),
            panel_indices=scene.faces.reshape(-1).tolist(), density=DENSITY, particle_radius=THICKNESS,
            tri_aniso_ke=wp.vec3(STIFFNESS, STIFFNESS, STIFFNESS / (2.0 * (1.0 + POISSON))),
            edge_aniso_ke=wp.vec3(BENDING, BENDING, BENDING),
        )  # fmt: skip
        _place(builder, scene.x)
        alone = newton.ModelBuilder.ShapeConfig(has_shape_collision=False)  # obstacles are not tested among themselves
        for solid in scene.solids:
            mesh = newton.Mesh(solid.x, solid.faces.reshape(-1))
            builder.add_shape_mesh(body=builder.add_body(), mesh=mesh, cfg=alone)
        model = builder.finalize(device="cpu")
        _hold(model, scene.driven)
        # The example has a stiffness of 10, for a softer cloth; with it this one fell through the ball.
        model.soft_contact_ke, model.soft_contact_kd, model.soft_contact_mu = 1.0e3, 1.0e-5, FRICTION
        solver = newton.solvers.SolverStyle3D(
            model, config=newton.solvers.SolverStyle3D.Config(iterations=ITERATIONS)
        )  # fmt: skip
        solver.collision.radius = THICKNESS
        super().__init__(scene, model, solver)
        self._pipeline = newton.CollisionPipeline(model)
        self._found = self._pipeline.contacts()
        self.settings = (
            f"cloth_style3d: {SUBSTEPS} substeps x {ITERATIONS} iterations, radius {1e3 * THICKNESS:g} mm, "
            "contact stiffness 1e3"
        )

    def positions(self) -> np.ndarray:
        return super().positions().copy()

    def _contacts(self, time: float) -> Any:
        """Found once in a substep, since obstacles move."""
        if self._scene.solids:
            for state in (self._state, self._next):
                poses = state.body_q.numpy()
                poses[:, :3] = [solid.shift(time) for solid in self._scene.solids]
                state.body_q.assign(poses)
            self._pipeline.collide(self._state, self._found)
        return self._found


def _quiet() -> None:
    wp.config.quiet = True
    wp.set_device("cpu")


def _lame() -> tuple[float, float]:
    return STIFFNESS / (2.0 * (1.0 + POISSON)), STIFFNESS * POISSON / (1.0 - POISSON**2)


def _hinge(scene: Scene) -> float:
    """Stiffness of a hinge for each length of it, N: 3 B l / (A + A') bends as a plate of rigidity B does."""
    a, b, c = (scene.rest[scene.faces[:, k]] for k in range(3))
    area = 0.5 * np.abs((b - a)[:, 0] * (c - a)[:, 1] - (b - a)[:, 1] * (c - a)[:, 0])
    return 3.0 * BENDING * float(np.linalg.norm(b - a, axis=1).mean()) / (2.0 * float(area.mean()))


def _flat(rest: np.ndarray) -> np.ndarray:
    return np.column_stack((rest, np.zeros(len(rest))))


def _add_mesh(builder: Any, x: np.ndarray, faces: np.ndarray, **stiffness: float) -> None:
    """Damping is that of cloth_twist."""
    builder.add_cloth_mesh(
        pos=wp.vec3(), rot=wp.quat_identity(), scale=1.0, vel=wp.vec3(), vertices=[wp.vec3(*p) for p in x.tolist()],
        indices=faces.reshape(-1).tolist(), density=DENSITY, tri_kd=2.0e-4, edge_kd=1.0e-2, particle_radius=THICKNESS,
        **stiffness,
    )  # fmt: skip


def _place(builder: Any, x: np.ndarray) -> None:
    """The mesh was added as it is at rest."""
    for vertex, p in enumerate(x.tolist()):
        builder.particle_q[vertex] = wp.vec3(*p)


def _hold(model: Any, vertices: np.ndarray) -> None:
    flags = model.particle_flags.numpy()
    flags[vertices] &= ~int(newton.ParticleFlags.ACTIVE)
    model.particle_flags.assign(flags)
