"""What is learned about a feature column on the training part, and how its cells become numbers by that."""

from dataclasses import dataclass
from typing import Literal

import numpy as np
import polars as pl

from graphcon.data._options import TableOptions
from graphcon.data.tables.files import Table
from graphcon.errors import InputError

Role = Literal["number", "boolean", "category", "index", "words", "vector"]
MISSING = "(missing)"
_TRUTH = {"true": 1.0, "false": 0.0, "yes": 1.0, "no": 0.0}
_MOSTLY = 0.5
_LARGEST = float(np.finfo(np.float32).max)
_MISSING_CURE = "Fill the cell, or choose what to put there with --missing mean, median or zero."


@dataclass(frozen=True)
class Column:
    r"""A feature column: its role and what was learned. JSON holds it whole.

    Numbers become :math:`(x - \text{shift}) / \text{scale}`; a category becomes one of ``len(categories)``
    columns or, with the role ``index``, its place in `categories` plus one, where 0 stands for what training
    never saw.

    Attributes:
        name: Its name in the table.
        role: What its cells are.
        width: How many columns of ``x`` it becomes, or the number of indices, 0 included, where the role is
            ``index``.
        shift: Per number of a cell.
        scale: Per number of a cell.
        fill: What takes the place of an empty cell; None where that is an error.
        categories: Categories or words that training saw, in the order of their columns.
    """

    name: str
    role: Role
    width: int
    shift: tuple[float, ...] = ()
    scale: tuple[float, ...] = ()
    fill: tuple[float, ...] | None = None
    categories: tuple[str, ...] = ()

    @property
    def labels(self) -> list[str]:
        """A name for every column of ``x`` it becomes."""
        if self.role in ("category", "words"):
            return [f"{self.name}={category}" for category in self.categories]
        return [self.name] if self.role != "vector" else [f"{self.name}[{i}]" for i in range(self.width)]


def find_role(table: Table, name: str, options: TableOptions) -> tuple[Role | None, str | None]:
    """What the cells of a column are, and a note where it is left out or guessed from text."""
    values = table.frame[name]
    dtype = values.dtype
    if name in options.categorical:
        return "category", None
    if name in options.words:
        return "words", None
    if dtype == pl.Boolean:
        return "boolean", None
    if dtype.is_numeric():
        return "number", None
    if isinstance(dtype, pl.List | pl.Array):
        return ("words" if dtype.inner == pl.String else "vector"), None
    if dtype in (pl.Categorical, pl.Enum):
        return "category", None
    if dtype == pl.String:
        return _role_of_text(table, name, values)
    if dtype == pl.Null or values.null_count() == len(values):
        raise InputError(
            f"{table.path}, column '{name}': every cell is empty. Leave it out with --ignore {name}."
        )
    raise InputError(
        f"{table.path}, column '{name}': holds {dtype}, which is neither number, category, truth value nor "
        f"words. Convert it to numbers, or leave it out with --ignore {name}."
    )


def _role_of_text(table: Table, name: str, values: pl.Series) -> tuple[Role | None, str | None]:
    known = values.drop_nulls()
    if len(known) == 0:
        raise InputError(
            f"{table.path}, column '{name}': every cell is empty. Leave it out with --ignore {name}."
        )
    sample = known.head(10_000)
    if (
        sample.str.to_lowercase().is_in(list(_TRUTH)).all()
        and known.str.to_lowercase().is_in(list(_TRUTH)).all()
    ):
        return "boolean", None
    if sample.cast(pl.Float64, strict=False).is_not_null().mean() > _MOSTLY:  # pyright: ignore[reportOperatorIssue]
        odd = values.is_not_null() & values.cast(pl.Float64, strict=False).is_null()
        table.refuse(
            name,
            odd,
            "Most cells of this column are numbers, and this is none. Correct it; if it means an empty "
            f"cell, say --null-values; if these are categories, say --categorical {name}.",
        )
    distinct = known.n_unique()
    if sample.str.strip_chars().str.count_matches(r"[\s,;|]+").median() >= 2 and distinct > len(known) / 10:  # pyright: ignore[reportOperatorIssue]
        return "words", f"column '{name}' is read as lists of words."
    if distinct == len(known) and len(known) > 10:
        return None, (
            f"column '{name}' is left out: it is text that differs in every row. "
            f"Say --categorical {name} or --words {name} to use it."
        )
    return "category", None


def learn(table: Table, name: str, role: Role, training: np.ndarray, options: TableOptions) -> Column:
    """What the training rows tell about a column.

    Args:
        table: The table.
        name: The column.
        role: What its cells are.
        training: Places of the training rows.
        options: The user's choices.
    """
    values = _clean(table, name, role)
    empty = values.is_null()
    if options.missing == "error" and empty.any():
        table.refuse(name, empty, _MISSING_CURE)
    values = values.gather(training)
    if role in ("category", "words"):
        return _learn_texts(table, name, role, values, options)
    numbers = _as_matrix(values.drop_nulls())  # [training rows, numbers per cell]
    if len(numbers) == 0:
        raise InputError(
            f"{table.path}, column '{name}': is empty in all training rows, so nothing can be learned about "
            f"it. Leave it out with --ignore {name}."
        )
    width = numbers.shape[1]
    scaling = "none" if role == "boolean" else options.scaling
    shift, scale = np.zeros(width), np.ones(width)
    if scaling == "standard":
        shift, scale = numbers.mean(axis=0), numbers.std(axis=0)
    elif scaling == "minmax":
        shift, scale = numbers.min(axis=0), np.ptp(numbers, axis=0)
    # A column that is constant on the training part carries nothing to scale by.
    scale = np.where(scale > 1e-12 * np.maximum(1.0, np.abs(shift)), scale, 1.0)
    fills = {"mean": numbers.mean, "median": lambda axis: np.median(numbers, axis=axis)}
    fill = None
    if options.missing != "error":
        fill = np.zeros(width) if options.missing == "zero" else fills[options.missing](axis=0)
    return Column(name, role, width, _plain(shift), _plain(scale), None if fill is None else _plain(fill))


def _learn_texts(table: Table, name: str, role: Role, values: pl.Series, options: TableOptions) -> Column:
    fill = None if options.missing == "error" else (0.0,)
    if role == "words":
        counts = values.drop_nulls().explode().drop_nulls().value_counts(sort=False)
        words = counts.sort(["count", counts.columns[0]], descending=[True, False])[counts.columns[0]]
        kept = tuple(sorted(words.head(options.words_limit).to_list()))
        if not kept:
            raise InputError(
                f"{table.path}, column '{name}': the training rows hold no word. Leave it out with --ignore "
                f"{name}."
            )
        return Column(name, "words", len(kept), fill=fill, categories=kept)
    categories = tuple(sorted(values.drop_nulls().unique().to_list()))
    if values.null_count():
        categories = (*categories, MISSING)
    if len(categories) <= options.one_hot_limit:
        return Column(name, "category", len(categories), fill=fill, categories=categories)
    return Column(name, "index", len(categories) + 1, fill=fill, categories=categories)


def encode(table: Table, column: Column) -> tuple[np.ndarray, list[str]]:
    """The cells of a column as numbers: float32 [rows, width], or int64 [rows] where the role is ``index``.

    Returns:
        The numbers, and a note for what training never saw.
    """
    name = column.name
    values = _clean(table, name, "category" if column.role == "index" else column.role)
    empty = values.is_null()
    if column.fill is None and empty.any():
        table.refuse(name, empty, _MISSING_CURE)
    notes = [f"{table.path}, column '{name}': {int(empty.sum()):,} empty cell(s), {_filled(column)}."]
    notes = notes if empty.any() else []
    if column.role == "words":
        numbers, unseen = _encode_words(table, column, values)
        return numbers, notes + unseen
    if column.role in ("category", "index"):
        numbers, unseen = _encode_categories(table, column, values)
        return numbers, notes + unseen
    if len(empty) == int(empty.sum()):
        numbers = np.full((len(values), column.width), np.nan)
    else:
        filled = np.flatnonzero(~empty.to_numpy())
        known = _as_matrix(values.drop_nulls())
        if known.shape[1] != column.width:
            raise InputError(
                f"{table.path}, column '{name}': cells hold {known.shape[1]} numbers, {column.width} when "
                "this was learned. Write lists of that length."
            )
        numbers = np.full((len(values), column.width), np.nan)
        numbers[filled] = known
    if column.fill is not None:
        numbers = np.where(np.isnan(numbers), np.array(column.fill), numbers)
    return ((numbers - np.array(column.shift)) / np.array(column.scale)).astype(np.float32), notes


def _filled(column: Column) -> str:
    if column.role == "words":
        return "read as no words"
    if column.role in ("category", "index"):
        return "read as a category of their own" if MISSING in column.categories else "read as unknown"
    return f"filled with {column.fill[0]:.4g}" if column.width == 1 and column.fill else "filled"


def _encode_categories(table: Table, column: Column, values: pl.Series) -> tuple[np.ndarray, list[str]]:
    places = pl.DataFrame(
        {"value": column.categories, "place": np.arange(1, len(column.categories) + 1)},
        schema={"value": pl.String, "place": pl.Int64},
    )
    values = values.fill_null(MISSING)
    found = pl.DataFrame({"value": values}).join(places, on="value", how="left", maintain_order="left")[
        "place"
    ]
    # An empty cell that training never saw is reported as empty, not as a category.
    unknown = found.is_null() & (values != MISSING)
    notes = []
    if unknown.any():
        examples = values.filter(unknown).unique().sort().head(3).to_list()
        notes.append(
            f"{table.path}, column '{column.name}': {int(unknown.sum()):,} cell(s) hold categories that the "
            f"training part never saw ({', '.join(examples)}{', ...' if len(examples) == 3 else ''}); they "
            "count as unknown."
        )
    index = found.fill_null(0).to_numpy()
    if column.role == "index":
        return index.astype(np.int64), notes
    hot = np.zeros((len(index), column.width + 1), dtype=np.float32)
    hot[np.arange(len(index)), index] = 1.0
    return hot[:, 1:], notes


def _encode_words(table: Table, column: Column, values: pl.Series) -> tuple[np.ndarray, list[str]]:
    if len(values) * column.width > 2e9:
        raise InputError(
            f"{table.path}, column '{column.name}': {column.width:,} words for {len(values):,} rows do not "
            "fit into memory. Keep fewer with --words-limit."
        )
    cells = pl.DataFrame({"row": np.arange(len(values)), "word": values}).explode("word").drop_nulls()
    places = pl.DataFrame({"word": column.categories, "place": np.arange(column.width)})
    found = cells.join(places, on="word", how="left")
    known = found.drop_nulls()
    hot = np.zeros((len(values), column.width), dtype=np.float32)
    hot[known["row"].to_numpy(), known["place"].to_numpy()] = 1.0
    unseen = found.filter(pl.col("place").is_null())["word"].n_unique()
    notes = []
    if unseen:
        notes.append(
            f"{table.path}, column '{column.name}': {unseen:,} word(s) are not among the {column.width:,} "
            "kept from the training part; they do not count."
        )
    return hot, notes


def _clean(table: Table, name: str, role: Role) -> pl.Series:
    """The cells in the type of their role; what cannot be one is refused, empty cells stay empty."""
    values = table.frame[name]
    if role == "words":
        if isinstance(values.dtype, pl.List | pl.Array):
            return values.cast(pl.List(pl.String))
        return _split_words(values.cast(pl.String))
    if role == "category":
        return values.cast(pl.String)
    if role == "boolean" and values.dtype == pl.String:
        lower = values.str.to_lowercase()
        odd = values.is_not_null() & ~lower.is_in(list(_TRUTH))
        if odd.any():
            table.refuse(name, odd, "Must be true or false: correct it.")
        return lower.replace_strict(
            list(_TRUTH), list(_TRUTH.values()), default=None, return_dtype=pl.Float64
        )
    if role == "vector":
        return _check_vectors(table, name, values)
    try:
        numbers = values.cast(pl.Float64)
    except pl.exceptions.PolarsError:
        odd = values.is_not_null() & values.cast(pl.Float64, strict=False).is_null()
        table.refuse(
            name, odd, "Must be a number: correct it, or say --null-values if it means an empty cell."
        )
    bad = (numbers.is_nan() | (numbers.abs() > _LARGEST)).fill_null(False)
    if bad.any():
        table.refuse(
            name,
            bad,
            "A feature must be a finite number: correct it, or leave the cell empty and choose --missing.",
        )
    return numbers


def _split_words(values: pl.Series) -> pl.Series:
    return (
        values.str.replace_all(r"[\s,;|]+", " ")
        .str.strip_chars()
        .str.split(" ")
        .list.filter(pl.element() != "")
    )


def _check_vectors(table: Table, name: str, values: pl.Series) -> pl.Series:
    try:
        lists = values.cast(pl.List(pl.Float64))
    except pl.exceptions.PolarsError as error:
        raise InputError(
            f"{table.path}, column '{name}': holds {values.dtype}. A list must hold numbers or words."
        ) from error
    lengths = lists.list.len()
    width = lengths.drop_nulls().mode().min()
    odd = (lengths != width).fill_null(False)
    if odd.any():
        table.refuse(name, odd, f"All lists of a column must have one length, most here have {width}.")
    bad = lists.list.eval(
        pl.element().is_null() | pl.element().is_nan() | pl.element().is_infinite()
    ).list.any()
    if bad.fill_null(False).any():
        table.refuse(name, bad.fill_null(False), "A feature must hold finite numbers only: correct it.")
    return lists


def _as_matrix(values: pl.Series) -> np.ndarray:
    """Numbers, or lists of numbers of one length, as [rows, numbers per cell]."""
    if isinstance(values.dtype, pl.List):
        width = len(values[0]) if len(values) else 1
        return values.explode().to_numpy().astype(np.float64).reshape(-1, max(1, width))
    return values.cast(pl.Float64).to_numpy().reshape(-1, 1)


def _plain(numbers: np.ndarray) -> tuple[float, ...]:
    return tuple(float(number) for number in np.atleast_1d(numbers))
