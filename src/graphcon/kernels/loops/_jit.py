"""How the loops are compiled."""

import importlib.util
import sys
from typing import Any

import numba
import numpy as np
from numba.core import config, event

# OpenMP, where there is one: Numba's own `workqueue` is slower and may not be entered by two Python threads at once.
if importlib.util.find_spec("numba.np.ufunc.omppool") is not None and getattr(config, "THREADING_LAYER") == "default":  # noqa: B009  # Numba sets it from the environment
    setattr(config, "THREADING_LAYER", "omp")  # noqa: B010  # Numba declares none of its settings

# Sums may be vectorised and products contracted, once and for all at compile time; NaN and infinity stay what they are.
_FASTMATH = {"reassoc", "contract", "nsz"}

#: Indices of inner loops. A signed one might be negative and count from the end: checking that keeps a loop from being
#: vectorised.
index = np.uintp

# Division by zero gives infinity, as everywhere else, and no exception whose check every loop would pay for.
_OPTIONS: dict[str, Any] = {"cache": True, "nogil": True, "fastmath": _FASTMATH, "error_model": "numpy"}

jit: Any = numba.njit(**_OPTIONS)
#: For what is called once per row or edge: passing a dozen arrays costs more than what is done with them.
inlined: Any = numba.njit(**_OPTIONS, forceinline=True)
parallel_jit: Any = numba.njit(**_OPTIONS, parallel=True)


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
