"""The words for what a set asks for, and in which parts."""

from typing import Literal

Task = Literal["node", "graph"]
Kind = Literal["classification", "multilabel", "regression"]
Part = Literal["train", "val", "test"]
PARTS: tuple[Part, ...] = ("train", "val", "test")
MEASURES = ("minimum", "mean", "standard deviation", "maximum")
