"""The cells of a column in the type of their role; what cannot be one is refused with its row."""

from collections.abc import Callable, Collection
from typing import Literal

import numpy as np
import polars as pl

from graphcon.data.tables.dates import as_days
from graphcon.data.tables.files import Table
from graphcon.errors import InputError

Role = Literal["number", "boolean", "date", "category", "index", "words", "vector"]
TRUTH = {"true": 1.0, "false": 0.0, "yes": 1.0, "no": 0.0}
DATE_RULE = "Must be a date as 2020-01-31, which a time may follow, as in 2020-01-31 09:30"
_LARGEST = float(np.finfo(np.float32).max)
_MOSTLY = 0.5


def clean(table: Table, name: str, role: Role) -> pl.Series:
    """The cells in the type of their role; what cannot be one is refused, empty cells stay empty."""
    values = table.frame[name]
    if role == "vector":
        return _check_vectors(table, name, values)
    if role == "words" and isinstance(values.dtype, pl.List | pl.Array):
        return values.cast(pl.List(pl.String))
    table.require_plain(name, "A feature")
    if role == "words":
        return _split_words(values.cast(pl.String))
    if role == "category":
        return values.cast(pl.String)
    if role == "boolean" and values.dtype == pl.String and odd_among_numbers(values) is None:
        lower = values.str.to_lowercase()
        odd = values.is_not_null() & ~lower.is_in(list(TRUTH))
        if odd.any():
            table.refuse(name, odd, "Must be true or false: correct it.")
        return lower.replace_strict(list(TRUTH), list(TRUTH.values()), default=None, return_dtype=pl.Float64)
    if role == "date":
        days = as_days(values)
        odd = values.is_not_null() & days.is_null()
        if odd.any():
            table.refuse(name, odd, f"{DATE_RULE}: correct it, or say --null-values if it means an empty cell.")
        return days
    try:
        numbers = _without_spaces(values).cast(pl.Float64)
    except pl.exceptions.PolarsError:
        odd = values.is_not_null() & as_numbers(values).is_null()
        table.refuse(name, odd, "Must be a number: correct it, or say --null-values if it means an empty cell.")
    check_finite(table, name, numbers, "A feature", "correct it, or leave the cell empty and choose --missing.")
    if role == "boolean" and not numbers.is_in([0.0, 1.0]).all():
        rule = "Must be 0 or 1, or true or false, as all cells of this column were when it was learned"
        cure = "correct it, or train again on tables that hold such numbers."
        table.refuse(name, ~numbers.is_in([0.0, 1.0]).fill_null(True), f"{rule}: {cure}")
    return numbers


def as_numbers(values: pl.Series) -> pl.Series:
    """Cells as numbers, whatever spaces are around them; empty where a cell is empty or no number."""
    return _without_spaces(values).cast(pl.Float64, strict=False)


def _without_spaces(values: pl.Series) -> pl.Series:
    return values.str.strip_chars() if values.dtype == pl.String else values


def as_known(values: pl.Series, known: Collection[str]) -> pl.Series:
    """Cells as text, to be looked up among what is known: truth values have one spelling there, and many in files;
    so have numbers, which may have spaces around them.
    """
    texts = values.cast(pl.String)
    if set(known) <= {"true", "false"}:
        return texts.str.to_lowercase()
    numbers = pl.Series([*known], dtype=pl.String).cast(pl.Float64, strict=False)
    return texts if numbers.null_count() else texts.str.strip_chars()


def check_finite(table: Table, name: str, numbers: pl.Series, what: str, cure: str) -> None:
    """Refuses NaN and infinity, and what float32 cannot hold."""
    bad = (numbers.is_nan() | numbers.is_infinite()).fill_null(False)
    if bad.any():
        table.refuse(name, bad, f"{what} must be a finite number: {cure}")
    large = (numbers.abs() > _LARGEST).fill_null(False)
    if large.any():
        table.refuse(
            name,
            large,
            f"{what} must lie between -3.4e38 and 3.4e38, the limits of float32: correct it, or write the column in "
            "another unit.",
        )


def odd_among_numbers(values: pl.Series) -> pl.Series | None:
    """Which cells of a column of text are no numbers; None where most are none, and it is text indeed."""
    return _odd_among(values, as_numbers)


def odd_among_dates(values: pl.Series) -> pl.Series | None:
    """Which cells of a column of text are no dates; None where most are none."""
    return _odd_among(values, as_days)


def _odd_among(values: pl.Series, read: Callable[[pl.Series], pl.Series]) -> pl.Series | None:
    sample = read(values.drop_nulls().head(10_000))
    if sample.null_count() >= (1 - _MOSTLY) * len(sample):
        return None
    return values.is_not_null() & read(values).is_null()


def _split_words(values: pl.Series) -> pl.Series:
    return values.str.replace_all(r"[\s,;|]+", " ").str.strip_chars().str.split(" ").list.filter(pl.element() != "")


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
    inside = pl.element().is_finite() & (pl.element().abs() <= _LARGEST)
    bad = lists.list.eval(~inside.fill_null(False)).list.any().fill_null(False)
    if bad.any():
        table.refuse(name, bad, "A feature must hold finite numbers only, between -3.4e38 and 3.4e38: correct it.")
    return lists


def as_matrix(values: pl.Series) -> np.ndarray:
    """Numbers, or lists of numbers of one length, as [rows, numbers per cell]."""
    if isinstance(values.dtype, pl.List):
        width = len(values[0]) if len(values) else 1
        return values.explode().to_numpy().astype(np.float64).reshape(-1, max(1, width))
    return values.cast(pl.Float64).to_numpy().reshape(-1, 1)
