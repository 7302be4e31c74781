"""How cells become numbers, by what was learned about their column."""

import numpy as np
import polars as pl

from graphcon._words import counted
from graphcon.data.tables.cells import as_known, as_matrix, clean
from graphcon.data.tables.columns import MISSING, MISSING_CURE, Column
from graphcon.data.tables.dates import as_date
from graphcon.data.tables.files import Table
from graphcon.errors import InputError


def encode(table: Table, column: Column, out: np.ndarray) -> list[str]:
    """Writes the cells of a column as numbers to their place: beside the whole there is no room for parts of it.

    Args:
        table: The table.
        column: The column.
        out: Zeros: float32 [rows, width], or int64 [rows] where the role is ``index``.

    Returns:
        Notes for empty cells, and for what training never saw.
    """
    name = column.name
    values = clean(table, name, "category" if column.role == "index" else column.role)
    empty = values.is_null()
    if column.fill is None and empty.any():
        table.refuse(name, empty, MISSING_CURE)
    notes = [f"{table.path}, column '{name}': {counted(int(empty.sum()), 'empty cell')}, {_filled(column)}."]
    notes = notes if empty.any() else []
    if column.role == "words":
        return notes + _encode_words(table, column, values, out)
    if column.role in ("category", "index"):
        return notes + _encode_categories(table, column, values, out)
    if len(empty) == int(empty.sum()):
        numbers = np.full((len(values), column.width), np.nan)
    else:
        filled = np.flatnonzero(~empty.to_numpy())
        known = as_matrix(values.drop_nulls())
        if known.shape[1] != column.width:
            raise InputError(
                f"{table.path}, column '{name}': cells hold {known.shape[1]} numbers, {column.width} when "
                "this was learned. Write lists of that length."
            )
        numbers = np.full((len(values), column.width), np.nan)
        numbers[filled] = known
    if column.fill is not None:
        numbers = np.where(np.isnan(numbers), np.array(column.fill), numbers)
    out[:] = (numbers - np.array(column.shift)) / np.array(column.scale)
    return notes


def _filled(column: Column) -> str:
    if column.role == "words":
        return "read as no words"
    if column.role in ("category", "index"):
        return "read as a category of their own" if MISSING in column.categories else "read as unknown"
    if column.role == "date" and column.fill:
        return f"filled with {as_date(column.fill[0])}"
    return f"filled with {column.fill[0]:.4g}" if column.width == 1 and column.fill else "filled"


def _encode_categories(table: Table, column: Column, values: pl.Series, out: np.ndarray) -> list[str]:
    places = pl.DataFrame(
        {"value": column.categories, "place": np.arange(1, len(column.categories) + 1)},
        schema={"value": pl.String, "place": pl.Int64},
    )
    values = as_known(values, {*column.categories} - {MISSING}).fill_null(MISSING)
    found = pl.DataFrame({"value": values}).join(places, on="value", how="left", maintain_order="left")["place"]
    # An empty cell that training never saw is reported as empty, not as a category.
    unknown = found.is_null() & (values != MISSING)
    notes = []
    if unknown.any():
        examples = values.filter(unknown).unique().sort().head(3).to_list()
        notes.append(
            f"{table.path}, column '{column.name}': {counted(int(unknown.sum()), 'cell')} of categories that the "
            f"training part never saw ({', '.join(examples)}{', ...' if len(examples) == 3 else ''}), which "
            "count as unknown."
        )
    index = found.fill_null(0).to_numpy()
    if column.role == "index":
        out[:] = index
    else:
        seen = np.flatnonzero(index)
        out[seen, index[seen] - 1] = 1.0
    return notes


def _encode_words(table: Table, column: Column, values: pl.Series, out: np.ndarray) -> list[str]:
    cells = pl.DataFrame({"row": np.arange(len(values)), "word": values}).explode("word").drop_nulls()
    places = pl.DataFrame({"word": column.categories, "place": np.arange(column.width)})
    found = cells.join(places, on="word", how="left")
    known = found.drop_nulls()
    out[known["row"].to_numpy(), known["place"].to_numpy()] = 1.0
    unseen = found.filter(pl.col("place").is_null())["word"].n_unique()
    if not unseen:
        return []
    return [
        f"{table.path}, column '{column.name}': {counted(unseen, 'word')} beyond the {column.width:,} "
        "kept from the training part, left out."
    ]
