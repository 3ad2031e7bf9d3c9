"""Repeated work of numba's compiler that is left out while kernels are compiled.

Most of the time of a compilation is numba's own Python. What is replaced here computes the same in less of it: machine
code stays the same, byte for byte. Functions of numba are not documented, so each is replaced only where its source is
one of those that were examined (``known``); in other versions numba does all the work itself. Everything is put back as
soon as a kernel is compiled: functions of others never see it.
"""

from __future__ import annotations

import functools
import hashlib
import importlib
import inspect
import types as python
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

from numba.core import types
from numba.core.compiler_lock import global_compiler_lock


class Shortcut(NamedTuple):
    module: str
    name: str  # of a function in it, or of a method
    known: tuple[str, ...]  # digests of its source, of the versions that were examined
    instead: Callable[[Any], Any]  # from the function, another one


class _Replaced(NamedTuple):
    owner: Any
    name: str
    original: Any
    shorter: Any


@contextmanager
def taken(shortcuts: tuple[Shortcut, ...] | None = None) -> Iterator[None]:
    """Take these shortcuts meanwhile, or those of compilations; not those that are taken already, nor where somebody
    else has replaced what they replace."""
    with global_compiler_lock:
        replaced = []
        for one in found(SHORTCUTS if shortcuts is None else shortcuts):
            if vars(one.owner).get(one.name) is one.original:
                setattr(one.owner, one.name, one.shorter)
                replaced.append(one)
        try:
            yield
        finally:
            for one in replaced:
                setattr(one.owner, one.name, one.original)


@functools.cache
def found(shortcuts: tuple[Shortcut, ...]) -> tuple[_Replaced, ...]:
    """What is to be replaced, of those functions whose source is known."""
    replaced = []
    for module, name, known, instead in shortcuts:
        owner, attribute = _place(module, name)
        original = vars(owner).get(attribute) if owner is not None else None
        if isinstance(original, python.FunctionType) and digest(original) in known:
            replaced.append(_Replaced(owner, attribute, original, instead(original)))
    return tuple(replaced)


def _place(module: str, name: str) -> tuple[Any, str]:
    owner, _, attribute = name.rpartition(".")
    try:
        place = importlib.import_module(module)
        return (getattr(place, owner) if owner else place), attribute
    except (ImportError, AttributeError):
        return None, attribute


def digest(function: Any) -> str:
    """Of the source; empty where there is none, as in frozen programs."""
    try:
        return hashlib.sha256(inspect.getsource(function).encode()).hexdigest()[:12]
    except (OSError, TypeError):
        return ""


def _is_number(type_: Any) -> bool:
    """Numbers, and tuples of nothing else: they hold no arrays."""
    if isinstance(type_, types.BaseTuple):
        return all(_is_number(one) for one in type_)  # pyright: ignore[reportGeneralTypeIssues]
    return isinstance(type_, (types.Number, types.Boolean))


def _count_arrays(original: Any) -> Any:
    """For every variable that is set or ends, numba takes its value apart to count the arrays in it, number by number,
    and LLVM removes that again. A third of all instructions took values apart."""
    numbers: dict[int, tuple[Any, bool]] = {}  # by identity, with what has it: a hash would take longer

    def count_arrays(context: Any, builder: Any, typ: Any, value: Any, funcname: Any) -> Any:
        seen = numbers.get(id(typ))
        if seen is None:
            seen = numbers[id(typ)] = typ, _is_number(typ)
        return None if seen[1] else original(context, builder, typ, value, funcname)

    return count_arrays


def _type_of_operator(original: Any) -> Any:
    """Operators are tried as functions of numpy first, for arrays: numbers only cost a search among numpy's loops."""

    def type_of_operator(template: Any, args: Any, kws: Any) -> Any:
        bare = (one.type if isinstance(one, types.Optional) else one for one in args)
        if not kws and not any(isinstance(one, types.ArrayCompatible) for one in bare):
            return None
        return original(template, args, kws)

    return type_of_operator


class _Defined:
    """A module of LLVM whose functions are those that have a body."""

    _module: Any

    def __init__(self, module: Any):
        object.__setattr__(self, "_module", module)

    def __setattr__(self, name: str, value: Any) -> None:
        setattr(self._module, name, value)

    @property
    def functions(self) -> list[Any]:
        return [one for one in self._module.functions if not one.is_declaration]


def _optimize_functions(original: Any) -> Any:
    """numba makes new optimizers for each function, and most are declared only."""
    return lambda library, module: original(library, _Defined(module))


def _size(original: Any) -> Any:
    """To find the size of a type, llvmlite writes a module, which LLVM reads."""
    sizes: dict[tuple[str, Any], int] = {}

    def size(type_: Any, target_data: Any, context: Any = None) -> int:
        text = str(type_)
        if context is not None or "%" in text:  # names of types that are defined elsewhere
            return original(type_, target_data, context)
        if (text, target_data) not in sizes:
            sizes[text, target_data] = original(type_, target_data, context)
        return sizes[text, target_data]

    return size


def _markup(_original: Any) -> Any:
    """Types that do not fit are errors, which are coloured although most are never shown; for each, the streams of the
    process were replaced and put back."""

    def markup(_scheme: Any, msg: str, color: str | None = None, style: str = "\033[1m") -> str:
        return f"{color or ''}{style or ''}{msg}\033[0m"

    return markup


def _broadcast(status: str) -> Any:
    """Every call of LLVM is said to those who listen: stop watches, which do not ask what it is."""

    def replacement(original: Any) -> Any:
        from numba.core import event

        listeners: Any = vars(event)["_registered"]
        watch = event.TimingListener

        def tell(kind: str, data: Any = None, *rest: Any, **more: Any) -> None:
            listening = listeners.get(kind, ())
            if any(type(one) is not watch for one in listening):
                original(kind, data, *rest, **more)
                return
            for one in listening:
                getattr(one, status)(None)

        return tell

    return replacement


def _load_registries(original: Any) -> Any:
    """For each function, numba imports once more whatever it can translate; what is registered in these modules is
    registered while they are imported."""
    seen = weakref.WeakSet[Any]()

    def load(context: Any) -> None:
        if context not in seen:
            original(context)
            seen.add(context)

    return load


def _variables(_original: Any) -> Any:
    """The same list without a list of every part's own."""
    from numba.core import ir

    kinds: dict[type, int] = {}

    def kind_of(type_: type) -> int:
        order: tuple[Any, ...] = (ir.Var, ir.Inst, (list, tuple), dict)
        kinds[type_] = found = next((i for i, one in enumerate(order) if issubclass(type_, one)), len(order))
        return found

    def collect(value: Any, into: list[Any]) -> None:
        kind = kinds.get(type(value))
        if kind is None:
            kind = kind_of(type(value))
        if kind == 0:
            into.append(value)
        elif kind == 1:
            into += value.list_vars()
        elif kind == 2:
            for one in value:
                collect(one, into)
        elif kind == 3:
            for one in value.values():
                collect(one, into)

    def variables(_inst: Any, val: Any) -> list[Any]:
        into: list[Any] = []
        collect(val, into)
        return into

    return variables


def _live_variables(original: Any) -> Any:
    """After each of nine passes numba finds out which variables live at the beginning of each block, for functions in
    object mode and generators; what else asks for lifetimes computes them then. A tenth of numba's Python."""
    from numba.core import postproc, transforms

    def run(processor: Any, emit_dels: bool = False, extend_lifetimes: bool = False) -> None:
        function = processor.func_ir
        if emit_dels or function.is_generator:
            original(processor, emit_dels, extend_lifetimes)
            return
        function.blocks = transforms.canonicalize_cfg(function.blocks)
        function.variable_lifetime = postproc.VariableLifetime(function.blocks)
        function.generator_info = None

    return run


SHORTCUTS: tuple[Shortcut, ...] = (
    Shortcut(
        "numba.core.runtime.context", "NRTContext._call_incref_decref", ("3c6a1f1e08c2", "ca9f44df4256"), _count_arrays
    ),
    Shortcut("numba.core.typing.npydecl", "NumpyRulesArrayOperator.generic", ("4647f17d50ba",), _type_of_operator),
    Shortcut(
        "numba.core.codegen",
        "CPUCodeLibrary._optimize_functions",
        ("5dcbdd9e6718", "9439219fa946"),
        _optimize_functions,
    ),
    Shortcut("llvmlite.ir.types", "Type.get_abi_size", ("01d00b21d2d6",), _size),
    Shortcut("llvmlite.ir.types", "Type.get_abi_alignment", ("0b15b89afc4e",), _size),
    Shortcut("numba.core.errors", "HighlightColorScheme._markup", ("5a002d7db106",), _markup),
    Shortcut("numba.core.event", "start_event", ("ee296d6ff362",), _broadcast("on_start")),
    Shortcut("numba.core.event", "end_event", ("1f3727213c76",), _broadcast("on_end")),
    Shortcut(
        "numba.core.cpu",
        "CPUContext.load_additional_registries",
        ("827136d072d9", "00bf2570f5bb", "0383d5716d37"),
        _load_registries,
    ),
    Shortcut("numba.core.ir", "Inst._rec_list_vars", ("054700e9100b",), _variables),
    Shortcut("numba.core.postproc", "PostProcessor.run", ("e1a8e77d6f17",), _live_variables),
)
