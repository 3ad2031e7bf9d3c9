"""What is compiled, by numba, where it is cached, and how that is announced."""

from __future__ import annotations

import functools
import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from time import perf_counter
from typing import Any, TypeVar

from llvmlite import ir
from numba import __version__ as numba_version
from numba import njit, types
from numba.core import config, event
from numba.core.compiler_lock import global_compiler_lock
from numba.extending import intrinsic, register_jitable

from pliant.runtime import processes
from pliant.runtime.caches import user_cache
from pliant.runtime.claims import claimed
from pliant.runtime.digests import PACKAGE, common, digest
from pliant.runtime.kept import KernelCache
from pliant.runtime.pipeline import HelperCompiler, KernelCompiler
from pliant.runtime.terminal import complain

F = TypeVar("F", bound=Callable[..., Any])

_LOG = logging.getLogger("pliant")

_njit: Any = njit  # a kernel keeps the type of its function

# No fastmath: certified signs and error-free transformations need every rounding where the source puts it.
_OPTIONS: dict[str, Any] = {"nogil": True, "error_model": "numpy", "fastmath": False}
# Nobody but Python calls a kernel: it needs no wrapper for calls from C.
_OF_KERNELS = {"pipeline_class": KernelCompiler, "no_cfunc_wrapper": True}
_OF_HELPERS = {"pipeline_class": HelperCompiler, "no_cfunc_wrapper": True, "no_cpython_wrapper": True}

PATIENCE = 60.0  # seconds that a process waits for another one to compile a kernel, before it does so itself

# None where others could write it: no cache, and no other folder, since what is loaded from it is machine code.
CACHE_FOLDER = user_cache("kernels", common(PACKAGE, numba_version, _OPTIONS))
INTERPRETED = bool(config.DISABLE_JIT)  # pyright: ignore[reportAttributeAccessIssue]


@functools.cache
def _cache_of(module: str, file: str) -> Path | None:
    """The folder for the kernels of a module: an edit compiles again only what depends on it."""
    if CACHE_FOLDER is None or not Path(file).is_file():
        return CACHE_FOLDER
    return CACHE_FOLDER / digest(module, Path(file))


@contextmanager
def _numba_cache_in(folder: Path) -> Iterator[None]:
    """numba reads its cache folder when a function is decorated: set it for ours alone, not for the whole process."""
    ours = {"CACHE_DIR": str(folder), "CACHE_LOCATOR_CLASSES": ""}  # the second may name folders, and code, elsewhere
    before = {name: getattr(config, name) for name in ours if hasattr(config, name)}
    config.__dict__.update(ours)
    try:
        yield
    finally:
        config.__dict__.update(before)


def kernel(function: F) -> F:
    """A compiled function that Python calls: cached on disk, releases the GIL.

    It returns nothing, a number, or a plain tuple of numbers; arrays are written into. numba makes arrays and named
    tuples with functions in Python and does not expect that one of them fails: an error that a signal handler raises
    there, or one of recursion, crashes the process. Of numbers it makes Python's without calling anything.
    """
    return _compiled(function, _OPTIONS)


def bare_kernel(function: F) -> F:
    """A kernel that makes no arrays, nor parts of arrays, and does not count who holds those it is given.

    Arrays are counted where a tuple of them is taken apart or passed to a helper, each by itself and atomically: in a
    short inner loop that took a third of the time.
    """
    return _compiled(function, {"_nrt": False, **_OPTIONS})


def _compiled(function: F, options: dict[str, Any]) -> F:
    options = options | _OF_KERNELS
    if INTERPRETED:
        return _njit(**options)(function)
    folder = _cache_of(function.__module__, function.__code__.co_filename)
    if folder is None:
        return _njit(**options)(function)
    compiled = _njit(**options)(function)
    with _numba_cache_in(folder):
        compiled._cache = KernelCache(function)
    if not Path(compiled._cache.cache_path).is_relative_to(folder):  # numba goes on to folders of its own choice
        return _njit(**options)(function)
    compiled.compile = functools.partial(compile_once, compiled)
    return compiled


def compile_once(kernel: Any, types: tuple[Any, ...], patience: float = PATIENCE) -> Any:
    """Load a kernel, or compile it: of all processes one at a time, and the others load what it has made.

    With no patience, what another process is compiling is left to that one.
    """
    with COMPILING.counted():
        if kernel._cache.cache_path is None:
            return type(kernel).compile(kernel, types)
        claim = Path(kernel._cache.cache_path, f"{kernel.py_func.__qualname__}.claim")
        # The lock of this process first, as everywhere else: two threads that take two locks take them in one order.
        with global_compiler_lock, claimed(claim, patience) as is_mine:
            return type(kernel).compile(kernel, types) if is_mine or patience else None


class _Compiling:
    """Seconds that this process has waited for kernels to be loaded or compiled: no limit of seconds counts them."""

    def __init__(self) -> None:
        self.seconds, self._depth = 0.0, 0

    @contextmanager
    def counted(self) -> Iterator[None]:
        began, self._depth = perf_counter(), self._depth + 1
        try:
            yield
        finally:
            self._depth -= 1
            if not self._depth:  # kernels that kernels call are part of them
                self.seconds += perf_counter() - began


COMPILING = _Compiling()


def helper(function: F) -> F:
    """A function that only kernels call: compiled as part of its callers, plain Python when Python calls it.

    Without wrappers for calls from Python it compiles in three quarters of the time, and unlike a function of its own
    it is not recompiled for every literal that it is called with (which made minutes out of seconds).
    """
    if not INTERPRETED:
        _DECLARED.append(function)
    return function


_DECLARED = list[Callable[..., Any]]()  # helpers that numba does not know yet


class _Registration(event.Listener):
    """numba is told of helpers when something is compiled: to tell it of four hundred takes longer than to load what a
    first query calls."""

    def on_start(self, event: Any) -> None:
        while _DECLARED:
            register_jitable(**_OPTIONS, **_OF_HELPERS)(_DECLARED.pop(0))

    def on_end(self, event: Any) -> None:
        pass


def _out_of_line(_typing_context: Any) -> Any:
    """Called in a helper's body: keep its code in one place, and small, instead of copying it into every caller.

    LLVM inlines eagerly, unrolls and vectorises: where a hundred places multiply wide integers, most of them of two or
    three limbs, that made 169 s of compilation out of 10, and does not run faster.
    """

    return types.void(), _attributes("noinline", "optsize")


def _one_copy(_typing_context: Any) -> Any:
    """Called in a helper's body: keep its code in one place, but as fast as it can be."""
    return types.void(), _attributes("noinline")


def _in_line(_typing_context: Any) -> Any:
    """Called in a helper's body: copy its code into every caller, whatever its size. Python cannot call such a helper.

    A call passes tuples number by number, most of them over the stack: where a short helper takes thirty and is called
    in the innermost loop, that took as long as what it does.
    """

    return types.void(), _attributes("alwaysinline")


def _attributes(*names: str) -> Any:
    """What makes no code, but tells the compiler something about the function that it is called in."""

    def add(context: Any, builder: Any, _signature: Any, _arguments: Any) -> Any:
        for name in names:
            builder.function.attributes.add(name)
        return context.get_dummy_value()

    return add


def _prefetch(_typing_context: Any, table: Any, _row: Any) -> Any:
    """prefetch(table, row): the memory is to bring the beginning of a row that is examined soon; row is an integer and
    may be none of the table's."""

    def call(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        array = context.make_array(signature.args[0])(context, builder, arguments[0])
        stride = builder.extract_value(array.strides, 0)
        offset = builder.mul(context.cast(builder, arguments[1], signature.args[1], types.intp), stride)
        address = builder.add(builder.ptrtoint(array.data, offset.type), offset)
        pointer = builder.inttoptr(address, ir.IntType(8).as_pointer())
        flag = ir.IntType(32)
        function = builder.module.declare_intrinsic(
            "llvm.prefetch", [pointer.type], ir.FunctionType(ir.VoidType(), [pointer.type, flag, flag, flag])
        )
        builder.call(function, [pointer, flag(0), flag(3), flag(1)])  # to read, into all caches, data
        return context.get_dummy_value()

    return types.void(table, _row), call


prefetch: Any = (lambda _table, _row: None) if INTERPRETED else intrinsic(_prefetch)
in_line: Any = (lambda: None) if INTERPRETED else intrinsic(_in_line)
one_copy: Any = (lambda: None) if INTERPRETED else intrinsic(_one_copy)
out_of_line: Any = (lambda: None) if INTERPRETED else intrinsic(_out_of_line)


class _Announcer(event.Listener):
    """Says once, on stderr, that somebody has to wait for the compiler: when it starts, and only then. Other processes
    start with it."""

    def __init__(self) -> None:
        self.is_done = False

    def on_start(self, event: Any) -> None:
        function = event.data["dispatcher"].py_func
        if not function.__module__.startswith("pliant."):
            return
        _LOG.info("compiling %s.%s, cache: %s", function.__module__, function.__name__, CACHE_FOLDER)
        count = 1 if CACHE_FOLDER is None else processes.begin()
        if not self.is_done:
            self.is_done = True
            how = f"in {count} processes, about 10 s" if count > 1 else "about 20 s"
            complain(f"compiling kernels, once for this version and environment: {how} for a first query ...")

    def on_end(self, event: Any) -> None:
        pass


ANNOUNCER = _Announcer()
event.register("numba:compile", _Registration())
event.register("numba:compile", ANNOUNCER)
