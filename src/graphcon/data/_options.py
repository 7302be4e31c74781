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
        target: Column to predict (classes or numbers), or several columns (all numbers, or all zeros and ones).
        id: Column of the node ids; by default id, node_id or node; without one, rows count from 0.
        source: Column of the ids where edges start; by default source, src, from or u.
        destination: Column of the ids where edges end; by default destination, target, dst, to or v.
        weight: Column of the edge weights; by default weight or edge_weight, if there is one.
        features: Columns of the nodes to use; by default all that have no other role.
        edge_features: Columns of the edges to use; by default all that have no other role.
        ignore: Columns of any table to leave out.
        categorical: Columns whose values are categories, even if they look like numbers or text.
        words: Columns that hold lists of words, separated by spaces, commas, semicolons or bars.
        split_column: Column with train, val and test, or three columns of zeros and ones in that order; by
            default split, if there is one.
        graph_id: Column that says to which graph a node, an edge or a graph belongs; by default graph_id.
        kind: Kind of the target; by default text, true/false and up to 50 different integers are classes.
        directed: Edges have a direction: use each one way only.
        undirected: Edges have no direction: use each both ways. This is the default for tables and .npz files;
            named sets and other graphs are used as published.
        degree: Add log(1 + degree) of a node as a feature.
        missing: What to do with an empty cell of a feature: refuse it (error), or fill in the mean or median of the
            training part, or zero. An empty category then is a category of its own.
        scaling: How to scale numbers: to mean 0 and standard deviation 1 (standard), to between 0 and 1 (minmax), or
            not at all (none); learned on the training part.
        one_hot_limit: Up to this many categories become a column each; more become indices for an embedding.
        words_limit: How many different words to keep at most: the most frequent in the training part.
        train: Share of the training part, if no column says.
        val: Share of the validation part, if no column says.
        seed: Seed of that split.
        delimiter: What separates the fields of a CSV file; by default a comma, in a .tsv file a tab.
        decimal: The decimal mark in a CSV file: a point or a comma.
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
