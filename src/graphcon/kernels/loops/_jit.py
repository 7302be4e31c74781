"""How the loops are compiled."""

import hashlib
import importlib.util
import os
import sys
from pathlib import Path
from typing import Any

import numba
import numpy as np
from numba.core import config, event

from graphcon._files import cache_folder

settings: Any = config  # Numba declares none of its settings

# OpenMP, where there is one: Numba's own `workqueue` is slower and may not be entered by two Python threads at once.
if importlib.util.find_spec("numba.np.ufunc.omppool") is not None and settings.THREADING_LAYER == "default":
    settings.THREADING_LAYER = "omp"

# Sums may be vectorised and products contracted, once and for all at compile time; NaN and infinity stay what they are.
_FASTMATH = {"reassoc", "contract", "nsz"}

#: Indices of inner loops. A signed one might be negative and count from the end: checking that keeps a loop from being
#: vectorised.
index = np.uintp

# Division by zero gives infinity, as everywhere else, and no exception whose check every loop would pay for.
_OPTIONS: dict[str, Any] = {"cache": True, "nogil": True, "fastmath": _FASTMATH, "error_model": "numpy"}


def _kept(**options: Any) -> Any:
    """A compiler whose results are kept in a place of their own for every state of the sources.

    Numba looks at the file of a function alone to tell whether what it has kept is still true, not at those of the
    functions that it calls.
    """

    def compiled(function: Any) -> Any:
        before, settings.CACHE_DIR = settings.CACHE_DIR, str(_FOLDER)
        try:
            return numba.njit(**_OPTIONS, **options)(function)
        finally:
            settings.CACHE_DIR = before

    return compiled


def _folder() -> Path:
    """Where Numba is told to keep things, or beside the sources, or where this package may write."""
    here = Path(__file__).parent
    sources = b"".join(source.read_bytes() for source in sorted(here.glob("*.py")))
    told = settings.CACHE_DIR or (here / "__pycache__" if os.access(here, os.W_OK) else cache_folder())
    return Path(told) / f"kernels-{hashlib.sha256(sources).hexdigest()[:16]}"


_FOLDER = _folder()

jit: Any = _kept()
#: For what is called once per row or edge: passing a dozen arrays costs more than what is done with them.
inlined: Any = _kept(forceinline=True)
parallel_jit: Any = _kept(parallel=True)


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
