"""How compiled kernels come back from their cache: without what only the compiler needs.

numba makes its compiler ready first: all that it can translate is imported, and where scipy is installed its linear
algebra too. That took more than half of the time of a first result whose kernels were all in the cache. Machine code
needs none of it. What is compiled later makes the compiler ready itself. Nor does it need the modules of numba that
helpers of its own come from: they are not imported, where numba's source is one that was examined.

These parts of numba are not documented: tried with 0.68.1.
"""

from __future__ import annotations

import sys
from typing import Any

from numba.core import environment
from numba.core.caching import FunctionCache
from numba.core.runtime.nrt import rtsys

from pliant.runtime import shortcuts


def _without_import(original: Any) -> Any:
    """Every function in a kernel has an environment: constants, and names of its module, for code that runs in Python.
    Functions of numba are none of those; importing their modules took a third of the time of loading."""

    def rebuilt(modname: str, consts: Any, env_name: str) -> Any:
        known = environment.lookup_environment(env_name)
        if known is not None or modname in sys.modules or not modname.startswith("numba."):
            return original(modname, consts, env_name)
        made = environment.Environment({"__name__": modname})
        made.consts[:] = consts
        made.env_name = env_name
        environment.Environment._memo[env_name] = made
        return made

    return rebuilt


LOADING = (shortcuts.Shortcut("numba.core.environment", "_rebuild_env", ("f946d544aa9e",), _without_import),)


class KernelCache(FunctionCache):
    """The cache of one kernel, in the folder that numba's configuration names when this is made."""

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        rtsys.initialize(target_context)  # what counts arrays: machine code calls it
        with self._guard_against_spurious_io_errors(), shortcuts.taken(LOADING):
            return self._load_overload(sig, target_context)
