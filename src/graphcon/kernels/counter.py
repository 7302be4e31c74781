"""Random numbers from a counter: the plain-torch twin of what the loops do in place.

A mask is a function of a seed and of the place of an entry alone. It is never stored: whoever needs it again, the
backward pass or a recomputation, computes it again.
"""

import torch
from torch import Tensor

_LOW = 0xFFFFFFFF


def threshold(dropout: float) -> int:
    """An entry is dropped where its 32 random bits are below this."""
    return min(round(dropout * 2**32), _LOW)


def draw_seeds(steps: int) -> Tensor:
    """Two seeds a step, one for the force and one for attention, from torch's generator: ``[steps, 2]``."""
    return torch.randint(1 << 62, (steps, 2), device="cpu")


def keep_mask(seed: Tensor, rows: int, columns: int, dropout: float, dtype: torch.dtype) -> Tensor:
    """Zero where an entry is dropped and ``1 / (1 - dropout)`` elsewhere, ``[rows, columns]``."""
    row = torch.arange(rows, device=seed.device)
    h = seed + row * _signed(0x9E3779B97F4A7C15)
    h = (h ^ _shifted(h, 30)) * _signed(0xBF58476D1CE4E5B9)
    h = (h ^ _shifted(h, 27)) * _signed(0x94D049BB133111EB)
    key = (h ^ _shifted(h, 31)) & _LOW
    h = (key.unsqueeze(1) + torch.arange(columns, device=seed.device) * 0x9E3779B9) & _LOW
    h = ((h ^ (h >> 16)) * 0x7FEB352D) & _LOW
    h = ((h ^ (h >> 15)) * 0x846CA68B) & _LOW
    h = h ^ (h >> 16)
    return (h >= threshold(dropout)).to(dtype) / (1 - dropout)


def _shifted(h: Tensor, bits: int) -> Tensor:
    """A logical shift to the right; torch's is arithmetic."""
    return (h >> bits) & ((1 << (64 - bits)) - 1)


def _signed(value: int) -> int:
    return value - (1 << 64) if value >= 1 << 63 else value
