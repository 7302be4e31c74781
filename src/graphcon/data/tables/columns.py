"""What is learned about a feature column, on the training part."""

from dataclasses import dataclass

import numpy as np
import polars as pl

from graphcon.data._options import TableOptions
from graphcon.data.tables.cells import DATE_RULE, TRUTH, Role, as_matrix, clean, odd_among_dates, odd_among_numbers
from graphcon.data.tables.files import Table
from graphcon.data.tables.hints import hint_at_meaning, hint_at_numbers
from graphcon.errors import InputError

MISSING = "(missing)"
MISSING_CURE = "Fill the cell, or choose what to put there with --missing mean, median or zero."


@dataclass(frozen=True)
class Column:
    r"""A feature column: its role and what was learned. JSON holds it whole.

    Numbers, and dates in days, become :math:`(x - \text{shift}) / \text{scale}`; a category becomes one of
    ``len(categories)`` columns or, with the role ``index``, its place in `categories` plus one, where 0 stands for
    what training never saw.

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
    if dtype == pl.Date or isinstance(dtype, pl.Datetime):
        return "date", None
    if isinstance(dtype, pl.List | pl.Array):
        return ("words" if dtype.inner == pl.String else "vector"), None
    if dtype in (pl.Categorical, pl.Enum):
        return "category", None
    if dtype == pl.String:
        return _role_of_text(table, name, values)
    if dtype == pl.Null or values.null_count() == len(values):
        raise InputError(f"{table.path}, column '{name}': every cell is empty. Leave it out with --ignore {name}.")
    raise InputError(
        f"{table.path}, column '{name}': holds {dtype}, which is neither number, date, category, truth value "
        f"nor words. Convert it to numbers, or leave it out with --ignore {name}."
    )


def _role_of_text(table: Table, name: str, values: pl.Series) -> tuple[Role | None, str | None]:
    known = values.drop_nulls()
    if len(known) == 0:
        raise InputError(f"{table.path}, column '{name}': every cell is empty. Leave it out with --ignore {name}.")
    sample = known.head(10_000)
    if sample.str.to_lowercase().is_in(list(TRUTH)).all() and known.str.to_lowercase().is_in(list(TRUTH)).all():
        return "boolean", None
    odd = odd_among_numbers(values)
    if odd is not None:
        if not odd.any():
            return "number", None
        table.refuse(
            name,
            odd,
            "Most cells of this column are numbers, and this is none. Correct it; if it means an empty "
            f"cell, say --null-values; if these are categories, say --categorical {name}."
            + hint_at_numbers(values.filter(odd)),
        )
    odd = odd_among_dates(values)
    if odd is not None:
        if not odd.any():
            return "date", f"column '{name}' is read as dates, in days."
        table.refuse(
            name,
            odd,
            f"Most cells of this column are dates. {DATE_RULE}: correct it; if it means an empty cell, say "
            f"--null-values; if these are categories, say --categorical {name}.",
        )
    hint = hint_at_meaning(sample)
    distinct = known.n_unique()
    if sample.str.strip_chars().str.count_matches(r"[\s,;|]+").median() >= 2 and distinct > len(known) / 10:  # pyright: ignore[reportOperatorIssue]  # not empty, so a number
        return "words", f"column '{name}' is read as lists of words.{hint}"
    if distinct == len(known) and len(known) > 10:
        return None, (
            f"column '{name}' is left out: it is text that differs in every row. "
            f"Say --categorical {name} or --words {name} to use it.{hint}"
        )
    return "category", f"column '{name}' is read as categories.{hint}" if hint else None


def learn(table: Table, name: str, role: Role, training: np.ndarray, options: TableOptions) -> Column:
    """What the training rows tell about a column.

    Args:
        table: The table.
        name: The column.
        role: What its cells are.
        training: Places of the training rows.
        options: The user's choices.
    """
    values = clean(table, name, role)
    empty = values.is_null()
    if options.missing == "error" and empty.any():
        table.refuse(name, empty, MISSING_CURE)
    # By all rows: a count that is 0 or 1 in the training part and 59 elsewhere is a number, and scaled as such.
    if role == "number" and values.is_in([0.0, 1.0]).all():
        role = "boolean"
    values = values.gather(training)
    if role in ("category", "words"):
        return _learn_texts(table, name, role, values, options)
    numbers = as_matrix(values.drop_nulls())  # [training rows, numbers per cell]
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
    # A column that is constant on the training part, but for rounding, carries nothing to scale by.
    scale = np.where(scale > 1e-12 * np.abs(numbers).max(axis=0), scale, 1.0)
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
                f"{table.path}, column '{name}': the training rows hold no word. Leave it out with --ignore {name}."
            )
        return Column(name, "words", len(kept), fill=fill, categories=kept)
    categories = tuple(sorted(values.drop_nulls().unique().to_list()))
    # Some programs write an empty cell so: one category with those.
    if values.null_count() and MISSING not in categories:
        categories = (*categories, MISSING)
    if len(categories) <= options.one_hot_limit:
        return Column(name, "category", len(categories), fill=fill, categories=categories)
    return Column(name, "index", len(categories) + 1, fill=fill, categories=categories)


def _plain(numbers: np.ndarray) -> tuple[float, ...]:
    return tuple(float(number) for number in np.atleast_1d(numbers))
