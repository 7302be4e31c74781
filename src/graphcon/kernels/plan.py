"""What a walk computes, told in numbers: the columns of one matrix product, and how they couple the nodes."""

from dataclasses import dataclass

from torch import Tensor

#: Activations by the code of the loops, with the parameter they take (the slope of a leaky ReLU, alpha of ELU).
ACTIVATIONS = {"identity": 0, "relu": 1, "tanh": 2, "sigmoid": 3, "elu": 4, "silu": 5, "gelu": 6}


def padded(length: int) -> int:
    """A length that keeps what follows aligned, so that products of it come out the same wherever it is."""
    return (length + 15) // 16 * 16


@dataclass(frozen=True)
class Plan:
    r"""A coupling that is one matrix product and one pass over the edges.

    .. math::
        H = X W^\top + s, \qquad
        F(X)_i = b + S_i + \mathrm{mix} \sum_k \sum_{j \to i} a^k_{ij} V^k_j

    where the values V, the linear term S and what the weights a are made of are columns of H.

    Args:
        kind: How a comes about: ``fixed`` (given per edge), ``additive`` (GAT), ``dynamic`` (GATv2), ``dot``
            (transformer), ``dot-mean`` (the mean of all heads' attention on one value), ``gated`` and ``gated-mean``
            (a sigmoid per channel, as it is or divided by its sum).
        heads: Number of heads.
        width: Channels of a head's value.
        key: Channels of a head's key.
        concat: Whether heads stand side by side, or are added up.
        skip: Whether there is a linear term S.
        shift: Whether there is an s.
        mix: The factor before the sum.
        leak: Slope of the leaky ReLU in the scores, or what a mean of gates adds to its denominator.
        edge_dropout: Dropout on a.
        act: The activation.
        act_leak: Its parameter.
        dropout: Dropout on the force.
        dt: The time step.
        source: Whether every node has a b of its own.
        bare: Whether there is no W, and H is X itself.
    """

    kind: str
    heads: int
    width: int
    key: int = 0
    concat: bool = True
    skip: bool = False
    shift: bool = False
    mix: float = 1.0
    leak: float = 0.0
    edge_dropout: float = 0.0
    act: str = "identity"
    act_leak: float = 0.0
    dropout: float = 0.0
    dt: float = 1.0
    source: bool = False
    bare: bool = False

    @property
    def sums(self) -> int:
        """How many numbers an edge has in the sum."""
        return 1 if self.kind == "dot-mean" else self.heads

    @property
    def attends(self) -> bool:
        """Whether the weights of the edges depend on the state."""
        return self.kind in ("additive", "dynamic", "dot", "dot-mean")

    @property
    def queries(self) -> bool:
        """Whether they are made of queries and keys."""
        return self.kind in ("dot", "dot-mean")

    @property
    def gated(self) -> bool:
        return self.kind in ("gated", "gated-mean")

    @property
    def value_at(self) -> int:
        """The first column of the values."""
        if self.queries:
            return 2 * self.heads * self.key
        return 2 * self.width if self.gated else 0

    @property
    def target_at(self) -> int:
        """The first column of what the target brings into the weights."""
        if self.kind == "additive":
            return self.heads * self.width + self.heads
        return self.heads * self.width if self.kind == "dynamic" else 0

    @property
    def source_at(self) -> int:
        """The first column of what the source brings into the weights."""
        if self.gated:
            return self.width
        return {"additive": self.heads * self.width, "dynamic": 0}.get(self.kind, self.heads * self.key)

    @property
    def skip_at(self) -> int:
        """The first column of the linear term: what comes after all others."""
        if self.kind == "additive":
            return self.heads * self.width + 2 * self.heads
        if self.kind == "dynamic":
            return 2 * self.heads * self.width
        return self.value_at + self.sums * self.width

    def columns(self, channels: int) -> int:
        """The width of H."""
        return self.skip_at + (channels if self.skip else 0)

    def rows(self, channels: int) -> list[int]:
        """The rows of each block of W; in the additive kind the vectors of the scores come on top."""
        if self.bare:
            return []
        values = self.sums * self.width
        before = {"dynamic": [values], "gated": [values] * 2, "gated-mean": [values] * 2}
        queries = [self.heads * self.key] * 2 if self.queries else before.get(self.kind, [])
        return [*queries, values, *([channels] if self.skip else [])]

    @property
    def terms(self) -> int:
        """How many numbers an edge brings, where it brings any."""
        if self.gated:
            return 2 * self.width
        return self.heads * self.width if self.kind in ("dynamic", "dot") else self.sums

    def sizes(self, nodes: int, channels: int) -> list[int]:
        """How many numbers each of the parameters has."""
        columns, biases = self.columns(channels), nodes if self.source else 1
        shift, vector = self.shift * columns, (self.kind == "dynamic") * self.heads * self.width
        return [0 if self.bare else columns * channels, biases * channels, channels, channels, shift, vector]

    def split(self, theta: Tensor, nodes: int, channels: int) -> list["Parameters"]:
        """The parameters of the layer of every step, the last step first, as views of the vector in which they travel.

        Where there is more than one layer each has the same length, which keeps the next one aligned.
        """
        sizes = self.sizes(nodes, channels)
        layers = (layer[: sum(sizes)].split(sizes) for layer in theta.split(padded(sum(sizes))))
        return [Parameters(w.view(-1, channels), b.view(-1, channels), *others) for w, b, *others in layers]


@dataclass(frozen=True)
class Parameters:
    """The parameters of a walk."""

    weight: Tensor  # W [columns, channels], or empty
    bias: Tensor  # b [1 or nodes, channels]
    alpha: Tensor  # [channels]
    gamma: Tensor  # [channels]
    shift: Tensor  # s [columns], or empty
    vector: Tensor  # what GATv2 multiplies its scores with [heads * width], or empty
