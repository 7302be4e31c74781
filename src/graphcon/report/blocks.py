"""What a page is made of: plain values, which the template turns into HTML and escapes."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from graphcon._words import shown


@dataclass(frozen=True)
class Number:
    """A number as people read it, with all its digits kept for programs."""

    value: float
    text: str = ""

    def __str__(self) -> str:
        """The text, by default four digits after the point."""
        return self.text or shown(self.value)


@dataclass(frozen=True)
class Words:
    """Paragraphs."""

    kind: ClassVar[str] = "words"
    paragraphs: Sequence[str]


@dataclass(frozen=True)
class Code:
    """Text as it is, to be copied."""

    kind: ClassVar[str] = "code"
    title: str
    text: str


@dataclass(frozen=True)
class Table:
    """A table; cells are text or numbers."""

    kind: ClassVar[str] = "table"
    title: str
    head: Sequence[str]
    rows: Sequence[Sequence[str | Number]]
    note: str = ""


@dataclass(frozen=True)
class Matrix:
    """Counts of what was true (rows) and what was answered (columns)."""

    kind: ClassVar[str] = "matrix"
    title: str
    labels: Sequence[str]
    counts: Sequence[Sequence[int]]

    def share(self, row: int, column: int) -> float:
        """The share of a row that a cell has."""
        return self.counts[row][column] / max(sum(self.counts[row]), 1)


@dataclass(frozen=True)
class Series:
    """A line, or points, by its name; ``low`` and ``high`` are a band around it."""

    name: str
    x: Sequence[float]
    y: Sequence[float | None]
    points: bool = False
    low: Sequence[float] = ()
    high: Sequence[float] = ()
    labels: Sequence[str] = ()  # of the points


@dataclass(frozen=True)
class Area:
    """A region of the plane by its name."""

    name: str
    outline: Sequence[tuple[float, float]]
    colour: int  # of those that the style has for areas


@dataclass(frozen=True)
class Chart:
    """Lines and points over labelled axes.

    Attributes:
        title: What is shown.
        x_label: The horizontal axis, with its unit.
        y_label: The vertical axis, with its unit.
        series: The lines.
        log_x: Whether the horizontal axis is logarithmic.
        log_y: Whether the vertical axis is; values that are not positive are left out then.
        areas: Regions behind the lines.
        marks: Vertical lines with a word.
        diagonal: Whether the line of equal x and y is drawn.
        limits: The ends of both axes, by default those of the values.
        note: What to know.
    """

    kind: ClassVar[str] = "chart"
    title: str
    x_label: str
    y_label: str
    series: Sequence[Series]
    log_x: bool = False
    log_y: bool = False
    areas: Sequence[Area] = ()
    marks: Sequence[tuple[float, str]] = ()
    diagonal: bool = False
    limits: tuple[float, float, float, float] | None = None
    note: str = ""


@dataclass(frozen=True)
class Group:
    """Blocks that can be folded away."""

    kind: ClassVar[str] = "group"
    title: str
    blocks: Sequence["Block"]


Block = Words | Code | Table | Matrix | Chart | Group


@dataclass(frozen=True)
class Panel:
    """A tab."""

    name: str
    blocks: Sequence[Block]

    @property
    def slug(self) -> str:
        """The name as an address."""
        return "".join(c if c.isalnum() else "-" for c in self.name.lower())


@dataclass(frozen=True)
class Page:
    """A page: its title, what it comes to in a sentence or two, and its tabs."""

    title: str
    lead: Sequence[str]
    panels: Sequence[Panel]
