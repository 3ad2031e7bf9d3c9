"""How solids go on in time: which steps, and which contact."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pliant.engine.plan import Tuning
from pliant.mesh.triangles import TriMesh
from pliant.mesh.volumes import VolumeMesh
from pliant.runtime.arrays import OptionError, choose
from pliant.runtime.threads import ThreadPool
from pliant.simulate.air import Air
from pliant.simulate.links import no_links
from pliant.simulate.model import Model, inverse_mass_of, resolver_of, rubbing_of, wind_of
from pliant.simulate.scene import Scene
from pliant.simulate.settings import ADAPTIVE, OF_SOLIDS, Settings
from pliant.simulate.solids.account import SolidAccount
from pliant.simulate.solids.building import Physics
from pliant.simulate.solids.explicit_account import ExplicitAccount
from pliant.simulate.solids.explicit_steps import ExplicitStepper
from pliant.simulate.solids.meeting import Penalised, Resolved
from pliant.simulate.solids.penalty import Penalty
from pliant.simulate.solids.pressure import Pressure
from pliant.simulate.stepping import Stepper
from pliant.simulate.terms import Body


class Scheme(NamedTuple):
    """is_explicit : or implicit; is_resolved : contact is, or answered with impact forces; interior : that of inner
    features too"""

    is_explicit: bool
    is_resolved: bool
    interior: bool
    tuning: Tuning | None
    threads: int | None

    @staticmethod
    def of(scheme: str, contact: str, interior: bool, tuning: Tuning | None, threads: int | None) -> Scheme:
        choose(contact, "contact", ("resolve", "penalty"))
        choose(scheme, "scheme", ("implicit", "explicit"))
        if contact == "penalty" and scheme != "explicit":
            raise OptionError('contact="penalty" needs scheme="explicit"')
        return Scheme(scheme == "explicit", contact == "resolve", bool(interior), tuning, threads)

    @property
    def settings(self) -> Settings:
        """Those that are not given."""
        return Settings(step=ADAPTIVE) if self.is_explicit else Settings()

    def tested(self, mesh: VolumeMesh) -> VolumeMesh | TriMesh:
        """What contact is searched among: impact forces take a mesh of cells in any case."""
        return mesh if self.interior or not self.is_resolved else TriMesh(mesh.surface().faces)


def model_of(
    physics: Physics, loads: tuple[Pressure, ...], scene: Scene, thickness: float, gravity: np.ndarray,
    settings: Settings,
) -> Model:  # fmt: skip
    """gravity : (3,) in units of length"""
    terms, stiffness = physics.terms, np.zeros(len(scene.x))
    stiffness[: len(physics.mass)] = physics.stiffness
    rubbing = rubbing_of(scene, thickness, stiffness, np.empty((0, 2), np.int64))
    body = Body(physics.mass, physics.rows, (*terms, *loads), lasting=terms, loads=loads)
    effort = settings.effort(OF_SOLIDS)
    return Model(body, scene, no_links(), rubbing, gravity, physics.edge, settings, effort)


def stepper_of(
    scheme: Scheme, model: Model, physics: Physics, mesh: VolumeMesh, pool: ThreadPool
) -> Stepper | ExplicitStepper:
    """mesh : the cells alone"""
    n, tuning, threads = len(physics.mass), scheme.tuning, scheme.threads
    watched = None if scheme.interior and scheme.is_resolved else mesh
    if not scheme.is_explicit:
        account = SolidAccount(
            model.body, model.scene.free[:n], model.gravity, model.settings, physics.stretch, watched
        )  # fmt: skip
        air = Air(None, n, 0.0), wind_of(None, n)
        return Stepper(model, air, account, resolver_of(model, tuning, threads), pool)
    inverse = inverse_mass_of(model.scene, physics.mass)
    if scheme.is_resolved:
        meeting = Resolved(resolver_of(model, tuning, threads), model.scene.names)
    else:
        assert isinstance(model.scene.mesh, VolumeMesh)
        meeting = Penalised(
            Penalty(
                model.scene.mesh, inverse, interior=scheme.interior, friction=model.scene.frictions, tuning=tuning,
                threads=threads,
            )
        )  # fmt: skip
    account = ExplicitAccount(
        physics.terms, physics.mass, inverse[:n], model.gravity, model.settings, physics.stretch, watched
    )  # fmt: skip
    return ExplicitStepper(model, account, meeting, pool)
