"""The first row of a text file, which must name the columns."""

import csv
import io
import re
from pathlib import Path

from graphcon.errors import InputError

_DELIMITERS = {",": "comma", ";": "semicolon", "\t": "tab", "|": "bar", " ": "space"}


def check_header(path: Path, content: bytes, delimiter: str) -> list[str]:
    """The names of the columns.

    Raises:
        InputError: The first row does not name them, or it is divided by something else.
    """
    row = _first_row(content, delimiter)
    try:
        text = row.decode("utf-8").rstrip("\r\n")
    except UnicodeDecodeError as error:
        raise not_utf8(path, 1) from error
    if text.lower().startswith("sep="):
        raise InputError(f"{path}, row 1: {text!r} is a word to Excel, not the names of the columns. Delete this row.")
    if "\r" in re.sub(r'"[^"]*"', "", text):
        raise InputError(
            f"{path}, row 1: lines end in two ways, some in a carriage return alone. Save it as plain CSV."
        )
    header = next(csv.reader(io.StringIO(text, newline=""), delimiter=delimiter), [])
    others = [other for other in _DELIMITERS if other != delimiter and other in text]
    below = content[len(row) : len(row) + 10_000].decode("utf-8", "replace").splitlines()[:1]
    # Under names that semicolons divide, a decimal comma makes no field.
    if len(header) == 1 and set(others) <= {" "} and len(next(csv.reader(below, delimiter=delimiter), [])) > 1:
        raise InputError(
            f"{path}, row 1: {text[:60]!r} is one field, row 2 has more. The first row must name the columns: delete "
            "what stands above the names."
        )
    if len(header) == 1 and others:
        other = max(others, key=text.count)
        name, shown = _DELIMITERS[other], "tab" if other == "\t" else repr(other)
        raise InputError(
            f"{path}, row 1: the header {text[:60]!r} is a single column when divided by "
            f"{_DELIMITERS.get(delimiter, repr(delimiter))}s, but holds {name}s. "
            f"Say --delimiter {shown}, or save the file with {_DELIMITERS.get(delimiter, repr(delimiter))}s."
        )
    if "" in header and len(header) > 1:
        raise InputError(
            f"{path}, row 1: column {header.index('') + 1} has no name. The first row must name the columns: name it, "
            "or delete it; delete a title that stands above the names."
        )
    repeated = [name for name in header if header.count(name) > 1]
    if repeated:
        raise InputError(f"{path}, row 1: two columns are called '{repeated[0]}'. Names must differ: rename one.")
    if all(_is_number(name) for name in header):
        raise InputError(
            f"{path}, row 1: {text[:60]!r} are numbers, not names. The first row must name the columns: "
            "add a header such as id,... or source,destination."
        )
    return header


def _first_row(content: bytes, delimiter: str) -> bytes:
    """The first line, and with it those that a name in quotes goes on in."""
    lines = io.TextIOWrapper(io.BytesIO(content), "utf-8", errors="replace", newline="\n")
    reader = csv.reader(lines, delimiter=delimiter, strict=True)
    try:
        next(reader, None)
        count = reader.line_num
    except csv.Error:  # a quote that does not close, which is told of with its row
        count = 1
    file = io.BytesIO(content)
    return b"".join(file.readline() for _ in range(count))


def not_utf8(path: Path, row: int) -> InputError:
    """What to say of a row that cannot be read as text."""
    return InputError(f"{path}, row {row}: is not UTF-8. Save the file with that encoding; in Excel as CSV UTF-8.")


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
