"""What a mesh derives from its indices: computed when it is asked for, kept, and taken over by a mesh that changed.

Each such attribute is a ``derived``, which says what it is derived from and can be asked whether a mesh has it already.
A mesh keeps what it has computed in one record, by these attributes themselves.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Generic, TypeVar, overload

from pliant.runtime.threads import Task, ThreadPool

if TYPE_CHECKING:
    from typing_extensions import Self

    from pliant.mesh.changed.cells import MeshChange

T = TypeVar("T")


class Derives:
    """A mesh: something whose derived attributes are kept in a record.

    Attributes
    ----------
    change : MeshChange or None
        how it came from another mesh, by ``changed``; None for one that was made from arrays
    """

    change: MeshChange | None
    _record: dict[derived[Any], Any]
    _token: object  # tells it from all other meshes, and does not keep it alive

    def __new__(cls, *_args: Any, **_options: Any) -> Self:
        self = super().__new__(cls)
        self._record, self._token, self.change = {}, object(), None
        return self


class derived(Generic[T]):  # used as a decorator, like property
    """An attribute of a mesh that is computed once.

    Parameters
    ----------
    make : function of the mesh that computes it
    sources : those of its derived attributes that it is computed from; what is not derived is given
    """

    def __init__(self, make: Callable[[Any], T], sources: tuple[derived[Any], ...] = ()) -> None:
        self._make, self.sources, self.__doc__ = make, sources, make.__doc__

    def __set_name__(self, owner: type, name: str) -> None:
        self.owner, self.name = owner, name

    def __repr__(self) -> str:
        return f"{self.owner.__name__}.{self.name}"

    @overload
    def __get__(self, mesh: None, owner: type) -> Self: ...
    @overload
    def __get__(self, mesh: Derives, owner: type) -> T: ...
    def __get__(self, mesh: Derives | None, owner: type) -> Self | T:
        if mesh is None:
            return self
        if self not in mesh._record:
            mesh._record[self] = self._make(mesh)
        return mesh._record[self]

    def __set__(self, mesh: Derives, value: T) -> None:
        raise AttributeError(f"{self.name} is derived, and cannot be set")

    def is_known(self, mesh: Derives) -> bool:
        """The mesh has computed it, or taken it over."""
        return self in mesh._record

    def keep(self, mesh: Derives, value: T) -> T:
        """The mesh takes over a value that it would have computed; returns it."""
        mesh._record[self] = value
        return value

    def __reduce__(self) -> tuple[Any, ...]:
        """A copy of a mesh, or one in another process, has the attributes of its class."""
        return getattr, (self.owner, self.name)


def derived_from(*sources: derived[Any]) -> Callable[[Callable[[Any], T]], derived[T]]:
    """The decorator of an attribute that is derived from others."""
    return lambda make: derived(make, sources)


def derive(mesh: Derives, pool: ThreadPool, *wanted: derived[Any]) -> None:
    """Computes attributes of a mesh and what they are derived from, each when its sources are there, with all threads
    of a pool; what is known stays."""
    missing: dict[derived[Any], None] = {}  # in an order in which each comes after its sources

    def require(one: derived[Any]) -> None:
        if not one.is_known(mesh) and one not in missing:
            for source in one.sources:
                require(source)
            missing[one] = None

    for one in wanted:
        require(one)
    pool.run_tasks(
        {
            repr(one): Task(
                lambda *_, one=one: one.__get__(mesh, type(mesh)), *(repr(s) for s in one.sources if s in missing)
            )
            for one in missing
        }
    )


def derived_of(kind: type) -> list[derived[Any]]:
    """All derived attributes of a kind of mesh."""
    return [value for base in kind.__mro__ for value in vars(base).values() if isinstance(value, derived)]
