"""Normalisations of what a layer says, one per step."""

from collections.abc import Callable

from torch.nn import BatchNorm1d, Identity, LayerNorm, Module, ModuleList

from graphcon._validation import check_choice

#: By name. None of them looks at more than one node when a trained network answers.
NORMS: dict[str, Callable[[int], Module]] = {"none": lambda _: Identity(), "batch": BatchNorm1d, "layer": LayerNorm}


def build_norms(norm: str, channels: int, steps: int) -> ModuleList:
    """The normalisation of that name for every step: what is learned and remembered of one step is no other's."""
    short = norm.lower().replace("_", "").removesuffix("norm") if isinstance(norm, str) else norm  # PyG's BatchNorm
    build = NORMS[short if short in NORMS else check_choice("norm", norm, list(NORMS))]
    return ModuleList(build(channels) for _ in range(steps))
