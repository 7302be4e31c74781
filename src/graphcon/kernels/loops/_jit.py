"""How the loops are compiled."""

import sys

import numba
import numpy as np
from numba.core import event

# GNU OpenMP is what torch runs its own loops on: the two share one pool of threads, and nobody waits for the other's.
# (Numba's own `workqueue` may not be entered from two Python threads at once.)
if numba.config.THREADING_LAYER == "default":
    numba.config.THREADING_LAYER = "omp"

# Sums may be vectorised and products contracted, once and for all at compile time; NaN and infinity stay what they are.
_FASTMATH = {"reassoc", "contract", "nsz"}

#: Indices of inner loops. A signed one might be negative and count from the end: checking that keeps a loop from being
#: vectorised.
index = np.uintp

jit = numba.njit(cache=True, nogil=True, fastmath=_FASTMATH)
parallel_jit = numba.njit(cache=True, nogil=True, fastmath=_FASTMATH, parallel=True)


class _Notice(event.Listener):
    """Tells once that something is being compiled, for it can take a while."""

    told = False

    def on_start(self, event: event.Event) -> None:
        data = event.data or {}
        if self.told or not data["dispatcher"].py_func.__module__.startswith(__package__ or ""):
            return
        self.told = True
        print("graphcon: compiling kernels for this machine (once) ...", file=sys.stderr, flush=True)

    def on_end(self, event: event.Event) -> None:
        pass


event.register("numba:compile", _Notice())
