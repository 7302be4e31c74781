"""Numbers with spaces around them, as programs write that pad columns or put a space after every comma."""

from collections.abc import Collection

import polars as pl

from graphcon.data._options import Decimal

DECIMAL_COMMA = r"^[+-]?\d*,?\d+(?:[eE][+-]?\d+)?$"


def strip_numbers(
    frame: pl.DataFrame, written: Collection[str | None], decimal: Decimal = "."
) -> tuple[pl.DataFrame, tuple[str, ...]]:
    """Takes the spaces away, where all cells of a column then are numbers.

    Args:
        frame: A table.
        written: Its columns that are read as they are written.
        decimal: What stands before the fraction of a number.

    Returns:
        The table, and the names of these columns.
    """
    texts = [cells for cells in frame.select(pl.selectors.string()) if cells.name not in written]
    found = [numbers for cells in texts if (numbers := _find_numbers(cells, decimal)) is not None]
    return frame.with_columns(found), tuple(numbers.name for numbers in found)


def _find_numbers(cells: pl.Series, decimal: Decimal) -> pl.Series | None:
    """The numbers in a column of text; None where a cell is none, or no cell has spaces around."""
    # The first rows tell of nearly all columns that they are something else.
    if not _are_numbers(cells.drop_nulls().head(10_000), decimal) or not _are_numbers(cells, decimal):
        return None
    if not cells.str.contains(r"^\s|\s$").any():
        return None
    stripped = _strip(cells, decimal)
    integers = stripped.cast(pl.Int64, strict=False)
    if integers.null_count() > cells.null_count():
        return stripped.cast(pl.Float64)
    return stripped if stripped.str.contains(r"^[+-]?0\d").any() else integers  # a class or category 007 is not 7


def _are_numbers(cells: pl.Series, decimal: Decimal) -> bool:
    numbers = _strip(cells, decimal).cast(pl.Float64, strict=False)
    return numbers.null_count() == cells.null_count() < len(cells)


def _strip(cells: pl.Series, decimal: Decimal) -> pl.Series:
    """Cells without spaces around, numbers with a decimal point; with a decimal comma, others are no numbers."""
    stripped = cells.str.strip_chars()
    if decimal == ".":
        return stripped
    return stripped.set(~stripped.str.contains(DECIMAL_COMMA), "").str.replace(",", ".", literal=True)
