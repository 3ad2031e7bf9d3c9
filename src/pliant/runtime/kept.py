"""How compiled kernels come back from their cache: without what only the compiler needs.

numba makes its compiler ready first: all that it can translate is imported, and where scipy is installed its linear
algebra too. That took more than half of the time of a first result whose kernels were all in the cache. Machine code
needs none of it. What is compiled later makes the compiler ready itself.

These parts of numba are not documented: tried with 0.68.1.
"""

from __future__ import annotations

from typing import Any

from numba.core.caching import FunctionCache
from numba.core.runtime.nrt import rtsys


class KernelCache(FunctionCache):
    """The cache of one kernel, in the folder that numba's configuration names when this is made."""

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        rtsys.initialize(target_context)  # what counts arrays: machine code calls it
        with self._guard_against_spurious_io_errors():
            return self._load_overload(sig, target_context)
