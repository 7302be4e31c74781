"""Memory that walks use again and again.

The first touch of fresh memory is what costs: the system has to find and clear every page. On a batch of molecules that
took longer than the aggregation which wrote to it. What a walk has done with is therefore kept for the next one.
"""

import math
import threading
import weakref

import numpy as np
import torch
from torch import Tensor

#: As much as this is kept while nobody uses it.
KEPT_BYTES = 1 << 30
# Below this size fresh memory costs nothing: malloc has pages at hand.
_SMALL_BYTES = 1 << 17

_KINDS = {torch.float32: np.dtype(np.float32), torch.float64: np.dtype(np.float64)}

_free: list[np.ndarray] = []
_lent: dict[int, tuple[weakref.ref, np.ndarray]] = {}
# A garbage collection may give memory back in the middle of a request for some.
_lock = threading.RLock()


def scratch(like: Tensor, *size: int) -> Tensor:
    """An uninitialised tensor; its memory is used again once nobody holds the tensor or a view of it any more.

    Args:
        like: Tells the type.
        *size: The shape.
    """
    kind = _KINDS[like.dtype]
    needed = math.prod(size) * kind.itemsize
    if needed < _SMALL_BYTES:
        return like.new_empty(size)
    block = _take(needed)
    array = block[:needed].view(kind).reshape(size)
    # The tensor holds this array, and all arrays made of the tensor hold the tensor (a view of the array itself would
    # hold the block alone). The array tells when it is let go of, which a tensor does not.
    ref = weakref.ref(array, _give_back)
    _lent[id(ref)] = ref, block
    return torch.from_numpy(array)  # no view of a tensor: what a Function gives out is changed in place by who likes


def free_memory() -> None:
    """Gives back to the system what is kept for the next walk."""
    with _lock:
        _free.clear()


def _take(needed: int) -> np.ndarray:
    """The smallest block that is large enough without being wasteful, or a new one."""
    with _lock:
        fitting = [block for block in _free if needed <= block.nbytes <= 2 * needed]
        if fitting:
            best = min(fitting, key=len)
            _free[:] = [block for block in _free if block is not best]
            return best
    # A little more than needed, so that a batch that is somewhat larger still fits.
    return torch.empty(needed + needed // 8, dtype=torch.uint8, device="cpu").numpy()


def _give_back(ref: weakref.ref) -> None:
    """Keeps a block; what has been waiting longest makes room for it, for it may fit nothing that is asked for now."""
    _, block = _lent.pop(id(ref))
    if block.nbytes > KEPT_BYTES:
        return
    with _lock:
        _free.append(block)
        while sum(map(len, _free)) > KEPT_BYTES:
            del _free[0]
