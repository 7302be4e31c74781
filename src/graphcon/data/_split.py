"""A split: which nodes or graphs are for training, validation and test, by which rule and seed."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

import torch
from torch import Tensor

from graphcon._words import counted
from graphcon.data._kinds import PARTS, Part
from graphcon.errors import InputError


@dataclass(frozen=True, eq=False)
class Split:
    r"""Three parts of the nodes of one graph, or of the graphs of a set, checked to be disjoint.

    Args:
        name: The protocol that drew it.
        train: Indices of the training part, sorted, without repetition.
        val: Indices of the validation part.
        test: Indices of the test part.
        size: How many nodes or graphs there are; what lies in no part is without a label or left out on
            purpose.
        unit: What the indices count.
        seed: The seed it was drawn with, or the number of a fixed split; None where there is only one.

    Raises:
        InputError: Two parts share an index, an index lies outside, repeats, or the training part is empty.
    """

    name: str
    train: Tensor
    val: Tensor
    test: Tensor
    size: int
    unit: Literal["node", "graph"] = "node"
    seed: int | None = None

    def __post_init__(self) -> None:
        owner = torch.full((self.size,), -1, dtype=torch.int8)
        for number, (part, index) in enumerate(self.parts()):
            index = torch.as_tensor(index, dtype=torch.long).flatten().sort().values
            object.__setattr__(self, part, index)
            if index.numel() == 0:
                continue
            if index[0] < 0 or index[-1] >= self.size:
                outside = int(index[0] if index[0] < 0 else index[-1])
                raise InputError(
                    f"split '{self.name}': {part} holds the index {outside}, but there are {self.size} "
                    f"{self.unit}s, numbered from 0. Leave it out."
                )
            if (index[1:] == index[:-1]).any():
                twice = int(index[1:][index[1:] == index[:-1]][0])
                raise InputError(f"split '{self.name}': {self.unit} {twice} is twice in {part}. List it once.")
            taken = owner[index]
            if (taken >= 0).any():
                shared = index[taken >= 0]
                raise InputError(
                    f"split '{self.name}': {part} and {PARTS[int(owner[shared[0]])]} share "
                    f"{counted(shared.numel(), self.unit)}, the first is {int(shared[0])}. "
                    "The parts of a split must be disjoint: take them out of one of the two."
                )
            owner[index] = number
        if self.train.numel() == 0:
            raise InputError(
                f"split '{self.name}': the training part is empty. At least one {self.unit} must be in it."
            )

    @classmethod
    def from_masks(cls, name: str, train: Tensor, val: Tensor, test: Tensor, seed: int | None = None) -> "Split":
        """The split of one graph's nodes that three boolean masks describe."""
        index = (mask.nonzero().flatten() for mask in (train, val, test))
        return cls(name, *index, size=train.numel(), unit="node", seed=seed)

    def parts(self) -> Iterator[tuple[Part, Tensor]]:
        """``("train", indices)``, ``("val", indices)``, ``("test", indices)``."""
        return ((part, getattr(self, part)) for part in PARTS)

    def mask(self, part: Part) -> Tensor:
        """A part as a boolean mask of length ``size``."""
        if part not in PARTS:
            raise InputError(f"part={part!r} is unknown; choose one of {', '.join(map(repr, PARTS))}.")
        mask = torch.zeros(self.size, dtype=torch.bool)
        mask[getattr(self, part)] = True
        return mask

    def __str__(self) -> str:
        """The name, the seed and the sizes."""
        seed = "" if self.seed is None else f" #{self.seed}"
        sizes = " / ".join(f"{index.numel():,}" for _, index in self.parts())
        return f"{self.name}{seed}: {sizes} {self.unit}s for training / validation / test"

    __repr__ = __str__
