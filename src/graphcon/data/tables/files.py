"""Reads one CSV or Parquet file, and refuses what is not a table: empty, ragged, wrongly divided, without
header.
"""

import csv
import gzip
import io
import logging
import re
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import NoReturn

import polars as pl

from graphcon._words import did_you_mean
from graphcon.data._options import Decimal
from graphcon.data.tables.header import check_header, not_utf8
from graphcon.data.tables.spaces import DECIMAL_COMMA, strip_numbers
from graphcon.errors import InputError

#: Bytes from which a user wants to know what is waited for.
LARGE = 20_000_000
_TEXT, _PARQUET, _WORKBOOKS = (".csv", ".tsv", ".txt"), (".parquet", ".pq"), (".xlsx", ".xls", ".xlsm", ".ods")
#: How a spreadsheet program writes a file that can be read.
_SAVE = "Save the sheet as CSV UTF-8"
_ZIP = b"PK\x03\x04"
WrittenColumns = Callable[[list[str]], Collection[str | None]]
"""Which columns of a header are read as they are written: 007 is not 7, and 1.10 is not 1.1."""
_LEADING_ZERO = re.compile(rb"(?<![0-9.])0[0-9]")
_DECIMAL_POINT = r"^[+-]?(?:\d*\.\d+|\d{1,3}(?:\.\d{3})+,\d+)$"


@dataclass(frozen=True)
class Table:
    """A table and where it came from.

    Attributes:
        path: The file, for messages.
        frame: Its columns.
        first_row: The row of the file in which the first record is: 2 in a CSV file, under its header.
        spaced: Columns whose numbers had spaces around them, which are taken away.
    """

    path: str
    frame: pl.DataFrame
    first_row: int = 1
    spaced: tuple[str, ...] = ()

    def at(self, place: int, column: str | None = None) -> str:
        """Where a record is, as a message names it."""
        where = f"{self.path}, row {place + self.first_row}"
        return where if column is None else f"{where}, column '{column}'"

    def refuse(self, column: str, bad: pl.Series, rule: str) -> NoReturn:
        """Raises for the first record that `bad` marks: where it is, its value, the rule, and how many
        more.
        """
        place = int(bad.arg_true()[0])
        count = int(bad.sum())
        more = f" ({count:,} rows in all)" if count > 1 else ""
        raise InputError(f"{self.at(place, column)}: {show(self.frame[column][place])}{more}. {rule}")

    def note_spaces(self) -> list[str]:
        """A note on spaces that are taken away."""
        spaced = f"{self.path}: spaces around the numbers are taken away in: {', '.join(self.spaced)}."
        return [spaced] if self.spaced else []

    def require_rows(self) -> "Table":
        """The table itself, where it has a row; only edges may be none."""
        if self.frame.height == 0:
            raise InputError(f"{self.path}: has a header and no rows. Add a row per record.")
        return self

    def require_plain(self, column: str, what: str) -> None:
        """Raises unless a cell holds a single value: a Parquet file may hold lists, bytes and spans of time too."""
        dtype = self.frame[column].dtype
        if dtype.is_nested() or dtype in (pl.Duration, pl.Time, pl.Binary, pl.Object):
            raise InputError(
                f"{self.path}, column '{column}': holds {dtype}. {what} must be a number, a text, a truth value or a "
                "date: convert it, or name another column."
            )

    def require(self, column: str, role: str) -> None:
        """Raises unless there is such a column."""
        if column not in self.frame.columns:
            raise InputError(
                f"{self.path}: there is no column '{column}' for {role}. It has: {', '.join(self.frame.columns)}."
                + did_you_mean(column, self.frame.columns, plain=plain)
            )


def show(value: object) -> str:
    """A cell as messages write it: a text in quotes, a list by its first entries."""
    if isinstance(value, pl.Series):
        return f"[{', '.join(map(show, value.head(3)))}{', ...' if len(value) > 3 else ''}]"
    return "an empty cell" if value is None else repr(value) if isinstance(value, str) else str(value)


def plain(name: str) -> str:
    """A name without what does not matter when columns are looked for: case, spaces and underscores."""
    return name.lower().replace("_", "").replace(" ", "")


def read_file(
    path: str | Path,
    delimiter: str | None = None,
    null_values: tuple[str, ...] = (),
    written: WrittenColumns = lambda _: (),
    decimal: Decimal = ".",
) -> Table:
    """The table in a file, by its ending.

    Args:
        path: A ``.csv``, ``.tsv``, ``.txt`` (each also with ``.gz``) or ``.parquet`` file.
        delimiter: What divides the fields of a text file.
        null_values: Texts that mean an empty cell.
        written: Tells the columns of a text file that hold ids, classes or categories.
        decimal: What stands before the fraction of a number in a text file.
    """
    path = Path(path)
    if path.is_dir():
        raise InputError(f"{path}: is a folder, and a table is a file. Name a .csv or .parquet file in it.")
    if not path.is_file():
        raise InputError(f"{path}: there is no such file. Name a .csv or .parquet file.")
    _announce(path)
    endings = [ending.lower() for ending in path.suffixes]
    packed = bool(endings) and endings[-1] == ".gz"
    ending = "".join(endings[-2:-1] if packed else endings[-1:])
    if ending in _WORKBOOKS:
        raise InputError(f"{path}: is a workbook, and a table is a CSV or Parquet file. {_SAVE}.")
    if ending in _PARQUET and not packed:
        table = _read_parquet(path, written)
    elif ending in _TEXT:
        delimiter = delimiter or ("\t" if ending == ".tsv" else ",")
        table = _read_text(path, packed, delimiter, null_values, written, decimal)
    else:
        raise InputError(f"{path}: must end in .csv, .tsv, .txt (or these with .gz) or .parquet.")
    return table


def typed(delimiter: str) -> str:
    """The character that a user has typed for: a shell passes no tab on."""
    return "\t" if delimiter in ("\\t", "tab") else delimiter


@cache
def _announce(path: Path) -> None:
    size = path.stat().st_size
    if size > LARGE:
        logging.getLogger(__name__).info("reading %s (%.0f MB) ...", path, size / 1e6)


def _read_parquet(path: Path, written: WrittenColumns) -> Table:
    try:
        frame = pl.read_parquet(path)
    except (pl.exceptions.PolarsError, OSError) as error:
        raise InputError(f"{path}: is no Parquet file ({_first_line(error)}). Write it again.") from error
    frame, spaced = strip_numbers(frame, written(frame.columns))
    return Table(str(path), frame, spaced=spaced)


def _read_text(
    path: Path, packed: bool, delimiter: str, null_values: tuple[str, ...], written: WrittenColumns, decimal: Decimal
) -> Table:
    delimiter = typed(delimiter)
    if len(delimiter) != 1:
        raise InputError(f"--delimiter {delimiter!r}: must be a single character.")
    try:
        content = gzip.decompress(path.read_bytes()) if packed else path.read_bytes()
    except (OSError, EOFError) as error:
        raise InputError(f"{path}: cannot be unpacked ({_first_line(error)}). Write it again.") from error
    content = content.removeprefix(b"\xef\xbb\xbf")
    if b"\n" not in content:
        content = content.replace(b"\r", b"\n")  # how old spreadsheets end a line
    if not content.strip():
        raise InputError(f"{path}: is empty. It must hold a header and a row per record.")
    if content.startswith(_ZIP):
        raise InputError(f"{path}: is a workbook or a ZIP file, whatever its name. {_SAVE}.")
    header = check_header(path, content, delimiter)
    _check_rows(path, content, delimiter, len(header))
    texts = [name for name in written(header) if name in header]

    def read(texts: Sequence[str], rows: int | None, columns: Sequence[str] = header) -> pl.DataFrame:
        names = _names_of_polars(path, content, delimiter, header)
        frame = pl.read_csv(
            content,
            columns=[names[name] for name in columns],
            separator=delimiter,
            null_values=["", *null_values],  # "" in quotes is as empty as nothing
            schema_overrides={names[name]: pl.String for name in texts},
            infer_schema_length=rows,
            raise_if_empty=False,
            decimal_comma=decimal == ",",
        )
        return frame.rename({names[name]: name for name in columns})

    try:
        try:
            # Ten thousand rows tell the types of nearly all columns; where they do not, all rows are asked.
            frame = read(texts, 10_000)
        except pl.exceptions.ComputeError:
            frame = read(texts, None)
    except pl.exceptions.PolarsError as error:
        _check_widths(path, content, delimiter, len(header))  # tells the row, where a row is to blame
        raise InputError(
            f"{path}: cannot be read as CSV ({_first_line(error)}). Save it as plain CSV; a cell that holds a quote "
            "must be in quotes, and the quote written twice."
        ) from error
    if _LEADING_ZERO.search(content):  # a class or category 007 is not 7
        whole = [name for name, dtype in frame.schema.items() if dtype.is_integer()]
        again = read(whole, 1, whole)
        frame = frame.with_columns(column for column in again if column.str.contains(r"^[+-]?0\d").any())
    frame, spaced = strip_numbers(frame, texts, decimal)
    table = Table(str(path), frame, first_row=2, spaced=spaced)
    if decimal == ",":
        _check_decimals(table, texts)
    return table


def _names_of_polars(path: Path, content: bytes, delimiter: str, header: list[str]) -> dict[str, str]:
    """What polars calls the columns: a quote in a name is written twice in a file, and it leaves it so."""
    names = pl.read_csv(content, separator=delimiter, n_rows=0, raise_if_empty=False).columns
    if len(names) != len(header):
        raise InputError(
            f"{path}, row 1: a quote in it can be read in two ways. A name that holds a quote must be in quotes, and "
            "the quote written twice."
        )
    return dict(zip(header, names, strict=True))


def _check_decimals(table: Table, texts: list[str]) -> None:
    """Refuses what is no number with a decimal comma in a column of such: 1.500 may be a thousand times another."""
    for name in table.frame.select(pl.selectors.string() - pl.selectors.by_name(texts)).columns:
        cells = table.frame[name].str.strip_chars()
        number = cells.str.contains(DECIMAL_COMMA)
        mostly = (number | cells.str.contains(_DECIMAL_POINT)).sum() > (len(cells) - cells.null_count()) / 2
        if mostly and not number.all():
            rule = "With --decimal , a fraction stands after a comma, and nothing else divides the digits of a number. "
            cure = "Correct it; if it means an empty cell, say --null-values; if these are categories, --categorical "
            table.refuse(name, ~number.fill_null(True), f"{rule}{cure}{name}.")


def _check_rows(path: Path, content: bytes, delimiter: str, width: int) -> None:
    """Every row must have as many fields as the header; counted at once, and only then row by row."""
    # What is in quotes may hold anything.
    bare = re.sub(rb'"[^"]*"', b"", content) if b'"' in content else content
    bare = bare.rstrip(b"\r\n")
    # A quote closes at the end of a cell, else it may have been left open.
    left_open = b'"' in bare or re.search(rb'"[^"]*"(?!["\r\n%b]|\Z)' % re.escape(delimiter.encode()), content)
    if not left_open and bare.count(delimiter.encode()) == (bare.count(b"\n") + 1) * (width - 1):
        return
    _check_widths(path, content, delimiter, width)


def _check_widths(path: Path, content: bytes, delimiter: str, width: int) -> None:
    for row, fields in _records(path, content, delimiter):
        if fields and len(fields) != width:
            raise InputError(
                f"{path}, row {row}: has {len(fields)} fields, the header has {width}. "
                "Every row needs one field per column: put quotes around a text that holds the delimiter."
            )


def _records(path: Path, content: bytes, delimiter: str) -> Iterator[tuple[int, list[str]]]:
    """The rows with their numbers, slowly; what is not UTF-8 is refused, and a quote that is not closed."""
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError as error:
        row = content.count(b"\n", 0, error.start) + 1
        raise not_utf8(path, row) from error
    lines = io.StringIO(text, newline="")
    row = start = 0
    try:
        for fields in csv.reader(lines, delimiter=delimiter, strict=True):
            row, end = row + 1, lines.tell()
            if text.count('"', start, end) % 2:  # to polars, it opens there
                raise InputError(
                    f"{path}, row {row}: a quote stands within a cell that is not in quotes. Put the cell in quotes, "
                    "and write the quote within twice."
                )
            yield row, fields
            start = end
    except csv.Error as error:
        if "new-line" in str(error):  # a carriage return alone
            raise InputError(f"{path}, row {row + 1}: {error}. Save it as plain CSV.") from error
        raise InputError(
            f"{path}, row {row + 1}: a quote opens in this row and does not close at the end of its cell. "
            "Close it; a quote within a cell in quotes is written twice."
        ) from error


def _first_line(error: Exception) -> str:
    return str(error).strip().split("\n")[0][:160]
