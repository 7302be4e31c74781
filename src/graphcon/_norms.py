"""Normalisations of what a layer says, one per step."""

from collections.abc import Callable
from copy import deepcopy

from torch.nn import BatchNorm1d, Identity, LayerNorm, Module, ModuleList

from graphcon._validation import check_choice

#: By name. None of them looks at more than one node when a trained network answers.
NORMS: dict[str, Callable[[int], Module]] = {"none": lambda _: Identity(), "batch": BatchNorm1d, "layer": LayerNorm}


def build_norms(norm: str | Module, channels: int, steps: int) -> ModuleList:
    """The normalisation of that name, or copies of it, for every step: what one learns and remembers is no other's."""
    if isinstance(norm, Module):
        return ModuleList(deepcopy(norm) for _ in range(steps))
    short = norm.lower().replace("_", "").removesuffix("norm") if isinstance(norm, str) else norm  # PyG's BatchNorm
    build = NORMS[short if short in NORMS else check_choice("norm", norm, list(NORMS))]
    return ModuleList(build(channels) for _ in range(steps))
