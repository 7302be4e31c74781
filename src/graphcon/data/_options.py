"""What a user can say about own tables. Everything else is found by name and stated in the notes."""

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Annotated, Literal

import tyro

from graphcon._ranges import AT_LEAST_1, NOT_NEGATIVE
from graphcon.data._kinds import Kind
from graphcon.errors import InputError

Missing = Literal["error", "mean", "median", "zero"]
Scaling = Literal["standard", "minmax", "none"]
Decimal = Literal[".", ","]


@dataclass(frozen=True)
class TableOptions:
    """How tables are read.

    Attributes:
        target: Column to predict: one of classes or numbers, or several of numbers or of zeros and ones.
        id: Column of the nodes' ids; by default the one called id, node_id or node, else rows count from 0.
        source: Column of the ids where edges start; by default the one called source, src, from or u.
        destination: Column of the ids where edges end; by default destination, target, dst, to or v.
        weight: Column of the edges' weights; by default the one called weight or edge_weight, if any.
        features: Columns of the nodes to use; by default all that have no other role.
        edge_features: Columns of the edges to use; by default all that have no other role.
        ignore: Columns of any table that are left out.
        categorical: Columns whose values are categories, although they may look like numbers or text.
        words: Columns whose values are lists of words, divided by spaces, commas, semicolons or bars.
        split_column: Column with train, val and test, or three columns of zeros and ones in that order; by
            default the one called split, if any.
        graph_id: Column that says to which graph a node, an edge or a graph belongs; by default graph_id.
        kind: Kind of the target; by default text, truth values and up to 50 different integers are classes.
        directed: Edges have a direction.
        undirected: Edges have no direction, each is used both ways. By default those of tables and .npz files
            have none, and those of named sets and other graphs are as published.
        degree: Whether the logarithm of a node's degree is a feature too.
        missing: What to do about an empty cell of a feature: refuse it, or put the mean, the median or zero
            of the training part in its place, where an empty category is a category of its own.
        scaling: Numbers minus the mean over the standard deviation, between 0 and 1, or as they are; learned
            on the training part.
        one_hot_limit: Up to so many categories become a column each; more become indices for an embedding.
        words_limit: At most so many different words are kept, the most frequent of the training part.
        train: Share of the training part, where no column tells.
        val: Share of the validation part, where no column tells.
        seed: Seed of that split.
        delimiter: What divides the fields of a CSV file; a comma by default, a tab in a .tsv file.
        decimal: What stands before the fraction of a number in a CSV file, a point or a comma.
        null_values: Texts that mean an empty cell, such as NA.
    """

    target: tuple[str, ...] = ()
    id: str | None = None
    source: str | None = None
    destination: str | None = None
    weight: str | None = None
    features: tuple[str, ...] | None = None
    edge_features: tuple[str, ...] | None = None
    ignore: tuple[str, ...] = ()
    categorical: tuple[str, ...] = ()
    words: tuple[str, ...] = ()
    split_column: tuple[str, ...] = ()
    graph_id: str | None = None
    kind: Kind | None = None
    directed: bool = False
    undirected: bool = False
    degree: bool = False
    missing: Missing = "error"
    scaling: Scaling = "standard"
    one_hot_limit: Annotated[int, NOT_NEGATIVE] = 32
    words_limit: Annotated[int, AT_LEAST_1] = 2000
    train: float = 0.6
    val: float = 0.2
    seed: Annotated[int, tyro.conf.Suppress] = 0  # commands have it as an option of their own
    delimiter: str | None = None
    decimal: Decimal = "."
    null_values: tuple[str, ...] = ()

    @property
    def direction(self) -> bool | None:
        """Whether edges have a direction, None where the user said nothing.

        Raises:
            InputError: The user said both.
        """
        if self.directed and self.undirected:
            raise InputError("--directed and --undirected: say one of them.")
        return True if self.directed else False if self.undirected else None


DEFAULT_OPTIONS = TableOptions()
NAMED_SET_OPTIONS = ("seed", "directed", "undirected")


def check_meaning(options: TableOptions, name: str, known: tuple[str, ...]) -> None:
    """Refuses options that would be without effect.

    Args:
        options: What a user said.
        name: The set or the file.
        known: The options that have a meaning for it.

    Raises:
        InputError: The user said something else.
    """
    said = [f.name for f in fields(options) if getattr(options, f.name) != getattr(DEFAULT_OPTIONS, f.name)]
    others = [option for option in said if option not in known]
    if others:
        raise InputError(
            f"{_words(others)}: of no effect for '{name}'. Leave {'it' if len(others) == 1 else 'them'} out; of the "
            f"options for own tables it takes only {_words(known)}."
        )


def _words(names: Sequence[str]) -> str:
    """Options as they are typed."""
    return ", ".join(f"--{name.replace('_', '-')}" for name in names)
