"""What queries need of the cells of a volume mesh, computed with several threads before they ask for it one by one."""

from __future__ import annotations

from contextlib import suppress

from pliant.mesh.cell_features import cells_of
from pliant.mesh.derived import derive
from pliant.mesh.o_sets import TooManyOrphans, o_sets
from pliant.mesh.volumes import VolumeMesh
from pliant.runtime.threads import ThreadPool


def prepare(mesh: VolumeMesh, with_o_sets: bool, pool: ThreadPool) -> None:
    """The table of cells and, where they are wanted and few enough, the O-sets: kept in the mesh, as it keeps what it
    computes itself."""
    if not VolumeMesh.cell_table.is_known(mesh):
        derive(mesh, pool, *VolumeMesh.cell_table.sources)
        VolumeMesh.cell_table.keep(mesh, cells_of(mesh, pool))
    if not with_o_sets or VolumeMesh.has_o_sets.is_known(mesh):
        return
    if not VolumeMesh._o_sets.is_known(mesh):
        with suppress(TooManyOrphans):
            VolumeMesh._o_sets.keep(mesh, o_sets(mesh.cell_table, pool))
    VolumeMesh.has_o_sets.keep(mesh, VolumeMesh._o_sets.is_known(mesh))
