"""The only file that knows numba: how kernels are compiled, where they are cached, and how that is announced."""

from __future__ import annotations

import hashlib
import logging
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import wraps
from importlib import import_module
from pathlib import Path
from typing import Any, TypeVar

from llvmlite import ir
from numba import __version__ as numba_version
from numba import njit, typeof, types
from numba.core import config
from numba.extending import intrinsic, register_jitable

from pliant._caches import user_cache
from pliant._terminal import complain

F = TypeVar("F", bound=Callable[..., Any])

_LOG = logging.getLogger("pliant")

_njit: Any = njit  # a kernel keeps the type of its function

# No fastmath: certified signs and error-free transformations need every rounding where the source puts it.
_OPTIONS: dict[str, Any] = {"nogil": True, "error_model": "numpy", "fastmath": False}

# Files, pages and commands: no kernel depends on what is there, but for a file that has kernels of its own.
_WITHOUT_KERNELS = ("io", "report", "view", "commands", "cli.py", "_terminal.py", "_caches.py")


def _digest() -> str:
    """What the compiled code depends on; numba's own cache sees neither edits in other files nor changed flags."""
    sha = hashlib.sha256(f"{numba_version} {sys.version_info[:2]} {_OPTIONS}".encode())
    sha.update(os.environ.get("NUMBA_BOUNDSCHECK", "0").encode())
    package = Path(__file__).parent
    for source in sorted(package.rglob("*.py")):
        content, inside = source.read_bytes(), source.relative_to(package)
        if inside.parts[0] not in _WITHOUT_KERNELS or b"_jit" in content:
            sha.update(inside.as_posix().encode())
            sha.update(content)
    return sha.hexdigest()[:16]


# None where others could write it: no cache, and no other folder, since what is loaded from it is machine code.
CACHE_FOLDER = user_cache("kernels", _digest())
INTERPRETED = bool(config.DISABLE_JIT)  # pyright: ignore[reportAttributeAccessIssue]


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
    """A compiled function that Python calls: cached on disk, releases the GIL."""
    return _compiled(function, _OPTIONS)


def bare_kernel(function: F) -> F:
    """A kernel that makes no arrays, nor parts of arrays, and does not count who holds those it is given.

    Arrays are counted where a tuple of them is taken apart or passed to a helper, each by itself and atomically: in a
    short inner loop that took a third of the time.
    """
    return _compiled(function, {"_nrt": False, **_OPTIONS})


def _compiled(function: F, options: dict[str, Any]) -> F:
    if INTERPRETED:
        return _njit(**options)(function)
    if CACHE_FOLDER is None:
        return _uninterrupted(_njit(**options)(function))
    with _numba_cache_in(CACHE_FOLDER):
        compiled = _njit(cache=True, **options)(function)
    if not Path(compiled._cache.cache_path).is_relative_to(CACHE_FOLDER):  # numba goes on to folders of its own choice
        compiled = _njit(**options)(function)
    return _uninterrupted(compiled)


# What ``signal`` wraps, without the enumerations that it makes of all it is given, which take 3 of 3.2 microseconds.
_signal: Any = import_module("_signal")
_SIGINT = int(signal.SIGINT)
# Where a program that has a Python in it runs us in another thread than the one that handles signals.
_NOT_HERE = suppress(ValueError)


def _uninterrupted(compiled: Any) -> Any:
    """The same function, during which Ctrl-C waits: it is told to whom it may concern when the call is over.

    numba makes arrays and named tuples that a kernel returns with the help of functions in Python, and does not expect
    that one of them fails: an error that Ctrl-C raises there crashes the process. Takes a microsecond, and concerns the
    main thread alone, the only one in which Python handles signals.
    """

    @wraps(compiled.py_func)
    def call(*arguments: Any) -> Any:
        if threading.get_ident() != threading.main_thread().ident:
            return compiled(*arguments)
        handler, signals = _signal.getsignal(_SIGINT), []
        if not callable(handler):  # ignored, or nothing of Python's
            return compiled(*arguments)
        if not compiled.overloads:  # the compiler can be interrupted, and takes seconds
            compiled.compile(tuple(typeof(argument) for argument in arguments))

        def note(*received: Any) -> None:
            signals.append(received)

        try:
            try:
                with _NOT_HERE:
                    _signal.signal(_SIGINT, note)
                return compiled(*arguments)
            finally:
                _take_back(note, handler)
        finally:
            _take_back(note, handler)  # an error that another signal raises may have kept the first one from it
            for received in signals:
                _signal.getsignal(_SIGINT)(*received)  # the first one may install another

    setattr(call, "_numba_type_", compiled._numba_type_)  # noqa: B010  # kernels call kernels
    return call


def _take_back(note: Any, handler: Any) -> None:
    """Install a handler again in place of our own."""
    if _signal.getsignal(_SIGINT) is note:
        _signal.signal(_SIGINT, handler)


def helper(function: F) -> F:
    """A function that only kernels call: compiled as part of its callers, plain Python when Python calls it.

    Without wrappers for calls from Python it compiles in three quarters of the time, and unlike a function of its own
    it is not compiled anew for every literal that it is called with (which made minutes out of seconds).
    """
    return register_jitable(no_cpython_wrapper=True, no_cfunc_wrapper=True, **_OPTIONS)(function)


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
    """prefetch(table, row): the memory is to bring the beginning of a row that is looked at soon; row is an integer and
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


_announced: set[str] = set()


def announce_compilation(kernel_name: str = "decide_in_doubles", seconds: int = 20) -> None:
    """Say once, on stderr, that a cold cache means waiting for the compiler; the kernel stands for its group."""
    if INTERPRETED or kernel_name in _announced:
        return
    _announced.add(kernel_name)
    cached = CACHE_FOLDER is not None and any(CACHE_FOLDER.rglob(f"*{kernel_name}*"))
    _LOG.info("kernels with %s are %s, cache: %s", kernel_name, "loaded" if cached else "compiled", CACHE_FOLDER)
    if not cached:
        complain(f"compiling kernels, once for this version (about {seconds} s) ...")
