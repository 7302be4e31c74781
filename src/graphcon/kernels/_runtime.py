"""Whether compiled loops can run here, and with how many threads."""

import importlib.util
import os
import threading
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any

import torch
from torch import Tensor
from torch.autograd import forward_ad

# A thread is worth its waking from about this many multiplications on.
_WORK_PER_THREAD = 100_000
#: Where the kernels do but a part of a layer, calling them pays from about this many multiplications a step on.
LEAST_WORK = 60_000

_has_numba = importlib.util.find_spec("numba") is not None
_switched_off = 0
_started = False
_forked = False
_one_at_a_time = threading.Lock()
_NOTHING = nullcontext()


@contextmanager
def disabled() -> Iterator[None]:
    """Within this context every layer takes its own path.

    Example::

        with graphcon.kernels.disabled():
            reference = model(x, edge_index)
    """
    global _switched_off
    _switched_off += 1
    try:
        yield
    finally:
        _switched_off -= 1


def enabled() -> bool:
    """Whether known layers run on the fused kernels: Numba is there, nobody switched them off, and no fork forbids.

    GNU OpenMP does not survive a fork: a process that was forked from one that had run kernels takes the plain path.
    """
    return _switched_off == 0 and _has_numba and not _forked


def compiled(x: Tensor) -> bool:
    """Whether the loops take tensors like this one, here and now."""
    fits = x.device.type == "cpu" and x.dtype in (torch.float32, torch.float64)
    return fits and _has_numba and not _forked


def transformed() -> bool:
    """Whether torch.func, forward-mode differentiation or torch.jit is at work, which cannot look into an op."""
    if torch.compiler.is_compiling():
        return False
    if torch._C._is_tracing():
        return True
    return forward_ad._current_level >= 0 or torch._C._functorch.peek_interpreter_stack() is not None  # pyright: ignore  # torch has no public name for it


def is_traced() -> bool:
    """Whether a program is being made, and what there is are not the values."""
    return torch.compiler.is_compiling() or torch._C._is_tracing() or torch._C._len_torch_dispatch_stack() > 0


def pays(edge_index: Tensor, x: Tensor, share: float = 1.0) -> bool:
    """Whether a graph is large enough for kernels that do but a part of a layer; a program is for graphs of any size.

    Args:
        edge_index: The edges.
        x: The state.
        share: How much of the layer's time they can save, roughly, in comparison with others.
    """
    return is_traced() or share * edge_index.size(1) * x.size(1) >= LEAST_WORK


@contextmanager
def threads(work: int) -> Iterator[None]:
    """Gives the loops as many threads as torch has, and no more than the work is worth."""
    import numba

    wanted = threads_for(work)
    with pool():
        before = numba.get_num_threads()
        numba.set_num_threads(wanted)
        try:
            yield
        finally:
            numba.set_num_threads(before)


def threads_for(work: int) -> int:
    """As many threads as torch has, and no more than the work is worth; they are started if need be."""
    from numba.core import config

    if not _started:
        _start()
    return min(threads_of_torch(), 1 + work // _WORK_PER_THREAD, getattr(config, "NUMBA_NUM_THREADS"))  # noqa: B009  # set from the environment


def pool() -> AbstractContextManager[Any]:
    """What to hold while loops run: Numba's own pool, where there is no OpenMP, takes one Python thread at a time."""
    from numba.core import config

    return _NOTHING if getattr(config, "THREADING_LAYER") in ("omp", "tbb") else _one_at_a_time  # noqa: B009  # set from the environment


def threads_of_torch() -> int:
    return torch.get_num_threads()


@contextmanager
def autograd_inside_an_op() -> Iterator[None]:
    """An op runs below autograd; within this context what it does is recorded all the same."""
    keys = torch._C.DispatchKey
    guard = torch._C._SetExcludeDispatchKeyGuard
    with torch.enable_grad(), guard(keys.AutogradFunctionality, False), guard(keys.ADInplaceOrView, False):
        yield


def _start() -> None:
    """Starts the threads. From here on, a forked process is one that has lost them."""
    global _started
    from numba.np.ufunc import parallel

    with _one_at_a_time:
        if _started:
            return
        # Where torch and Numba share one OpenMP, starting the latter's threads changes the number of the former's.
        number = torch.get_num_threads()
        parallel._launch_threads()
        torch.set_num_threads(number)
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=_lose_threads)
        _started = True


def _lose_threads() -> None:
    global _forked
    _forked = True
