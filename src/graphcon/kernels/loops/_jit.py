"""How the loops are compiled."""

import hashlib
import importlib.util
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any

import numba
import numpy as np
from numba.core import config, event
from numba.core.caching import FunctionCache

from graphcon._files import cache_folder
from graphcon.errors import InputError

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
_OPTIONS: dict[str, Any] = {"nogil": True, "fastmath": _FASTMATH, "error_model": "numpy"}


class _Kept(FunctionCache):
    """Compiled loops on disk: a help where they are whole and there is room, and never in the way."""

    @contextmanager
    def _guard_against_spurious_io_errors(self) -> Iterator[None]:
        """Around all reading and writing; what fails within is compiled anew.

        Numba does not wait until its files are on the disk: a machine that dies soon after leaves them empty.
        """
        try:
            yield
        except Exception:  # whatever unpickling half a file comes to
            with suppress(OSError):
                self.flush()


def _kept(**options: Any) -> Any:
    """A compiler whose results are kept in a place of their own for every state of the sources.

    Numba looks at the file of a function alone to tell whether what it has kept is still true, not at those of the
    functions that it calls.
    """

    def compiled(function: Any) -> Any:
        dispatcher: Any = numba.njit(**_OPTIONS, **options)(function)
        if _FOLDER is not None:
            before, settings.CACHE_DIR = settings.CACHE_DIR, str(_FOLDER)
            try:
                dispatcher._cache = _Kept(function)
            finally:
                settings.CACHE_DIR = before
        return dispatcher

    return compiled


def _folder() -> Path | None:
    """Where Numba is told to keep things, or beside the sources, or where this package may write.

    None where nothing can be written, as in a container that is read-only: every process then compiles for itself.
    """
    here = Path(__file__).parent
    sources = b"".join(source.read_bytes() for source in sorted(here.glob("*.py")))
    name = f"kernels-{hashlib.sha256(sources).hexdigest()[:16]}"
    places = [lambda: Path(settings.CACHE_DIR)] if settings.CACHE_DIR else [lambda: here / "__pycache__", cache_folder]
    for place in places:
        with suppress(OSError, InputError):
            folder = place() / name
            folder.mkdir(parents=True, exist_ok=True)
            TemporaryFile(dir=folder).close()
            return folder
    return None


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
        often = "once" if _FOLDER else "at every start: set GRAPHCON_CACHE to a folder where they can be kept"
        print(f"graphcon: compiling kernels for this machine ({often}) ...", file=sys.stderr, flush=True)

    def on_end(self, event: event.Event) -> None:
        pass


event.register("numba:compile", _Notice())
