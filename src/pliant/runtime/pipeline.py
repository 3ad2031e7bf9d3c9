"""How numba compiles kernels and helpers: its own way, without what only functions that Python calls need.

A first query is compiled from two hundred helpers. numba makes machine code of each, together with all helpers that it
calls, and never runs it: what is linked into a kernel is what the machine code was made of. Here it is not made.

Helpers are optimized before they are linked, all the same. To optimize once, in the kernel, did not compile faster by
more than runs differ, and what came out was slower: `ccd` took 1.4 to 1.5 times as long.

Libraries and flags of numba are not documented: tried with 0.61.2 and 0.68.1.
"""

from __future__ import annotations

from typing import Any

from numba.core import compiler
from numba.core.codegen import JITCodeLibrary

from pliant.runtime import shortcuts
from pliant.runtime.garbage import uncollected

_DEFAULTS: dict[str, Any] = {name: option.default for name, option in compiler.Flags.options.items()}
_HASH = hash(compiler.Flags())  # of the names of all flags: the same for all values


class _Flags(compiler.Flags):
    """Flags that are compared fast: numba compares them for every call in a kernel, with all versions of the callee."""

    def values(self) -> dict[str, Any]:
        return {**_DEFAULTS, **self._values}

    def __hash__(self) -> int:
        return _HASH

    def __eq__(self, other: object) -> bool:
        return super().__eq__(other)


class _Unrun:
    """In place of what makes machine code, for a library that has none."""

    def set_env(self, *_: object) -> None:
        pass


class _HelperLibrary(JITCodeLibrary):
    """The code of a helper and of all helpers that it calls, to be linked into kernels: never run by itself."""

    @property
    def codegen(self) -> Any:
        return _Unrun()

    def _finalize_final_module(self) -> None:
        self._finalize_dynamic_globals()
        self._finalized = True

    def get_pointer_to_function(self, name: str) -> int:
        self._ensure_finalized()
        return 0  # as for everything that Python cannot call


class KernelCompiler(compiler.Compiler):
    """numba's compiler, without collections of garbage, and with shortcuts."""

    def __init__(
        self, typingctx: Any, targetctx: Any, library: Any, args: Any, return_type: Any, flags: Any, *rest: Any
    ):
        super().__init__(typingctx, targetctx, library, args, return_type, _Flags(flags), *rest)

    def _compile_core(self) -> Any:
        with uncollected(), shortcuts.taken():
            return super()._compile_core()


class HelperCompiler(KernelCompiler):
    def define_pipelines(self) -> Any:
        if self.state.library is None:
            name = self.state.func_id.func_qualname
            self.state.library = _HelperLibrary(self.state.targetctx.codegen(), name)
            self.state.library.enable_object_caching()
        return super().define_pipelines()
