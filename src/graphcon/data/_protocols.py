"""How a set is split for an experiment: the part of its graph that is used, and the rule for the three
parts.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from torch import Tensor
from torch_geometric.data import Data

from graphcon.data import splits
from graphcon.data._catalogue import PROTOCOL_SUMMARIES
from graphcon.data._split import Split
from graphcon.errors import InputError


@dataclass(frozen=True)
class Raw:
    """What a reader returns: the graphs, with masks where they are published, and the published numbers of
    graphs.
    """

    graphs: Sequence[Data]
    sizes: tuple[int, int, int] | None = None


@dataclass(frozen=True)
class Protocol:
    """A named rule.

    Attributes:
        name: What users type.
        draw: Makes the split of a seed.
        seeded: Whether another seed gives another split.
        largest_component: Whether only the largest component is used.
        needs_masks: Whether it reads masks that come with the files.
    """

    name: str
    draw: Callable[[Raw, int], Split]
    seeded: bool = True
    largest_component: bool = False
    needs_masks: bool = False

    @property
    def summary(self) -> str:
        """What it does."""
        return PROTOCOL_SUMMARIES[self.name]


def _random_development(raw: Raw, seed: int) -> Split:
    return splits.random_development(_labels(raw), seed)


def _public(raw: Raw, seed: int) -> Split:
    data = raw.graphs[0]
    return Split.from_masks("public", data.train_mask, data.val_mask, data.test_mask)


def _fixed(raw: Raw, seed: int) -> Split:
    data = raw.graphs[0]
    return splits.fixed(data.train_mask, data.val_mask, data.test_mask, seed)


def _published(raw: Raw, seed: int) -> Split:
    assert raw.sizes is not None
    return splits.consecutive(*raw.sizes, name="published")


def _given_test(raw: Raw, seed: int) -> Split:
    assert raw.sizes is not None
    return splits.consecutive(*raw.sizes, name="given-test", seed=seed, val_from_train=True)


def _random(raw: Raw, seed: int) -> Split:
    y = _labels(raw)
    return splits.random_fractions(y.numel(), seed, labels=y)


def _labels(raw: Raw) -> Tensor:
    y = raw.graphs[0].y
    assert isinstance(y, Tensor)
    return y


_PROTOCOLS = (
    Protocol("random-development", _random_development, largest_component=True),
    Protocol("public", _public, seeded=False, needs_masks=True),
    Protocol("fixed", _fixed, needs_masks=True),
    Protocol("published", _published, seeded=False),
    Protocol("given-test", _given_test),
    Protocol("random", _random),
)
PROTOCOLS: dict[str, Protocol] = {protocol.name: protocol for protocol in _PROTOCOLS}


def choose(name: str | None, allowed: tuple[str, ...], set_name: str) -> Protocol:
    """The protocol of that name, by default the first of those allowed."""
    name = name or allowed[0]
    if name not in allowed:
        raise InputError(f"{set_name} has no protocol '{name}'. It has: {', '.join(allowed)}.")
    return PROTOCOLS[name]
