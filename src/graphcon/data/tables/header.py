"""The first row of a text file, which must name the columns."""

import csv
from pathlib import Path

from graphcon.errors import InputError

_DELIMITERS = {",": "comma", ";": "semicolon", "\t": "tab", "|": "bar", " ": "space"}


def check_header(path: Path, content: bytes, delimiter: str) -> list[str]:
    """The names of the columns.

    Raises:
        InputError: The first row does not name them, or it is divided by something else.
    """
    line = content[: content.find(b"\n") if b"\n" in content else len(content)]
    try:
        text = line.decode("utf-8").rstrip("\r")
    except UnicodeDecodeError as error:
        raise not_utf8(path, 1) from error
    if text.lower().startswith("sep="):
        raise InputError(f"{path}, row 1: {text!r} is a word to Excel, not the names of the columns. Delete this row.")
    if "\r" in text:
        raise InputError(
            f"{path}, row 1: lines end in two ways, some in a carriage return alone. Save it as plain CSV."
        )
    header = next(csv.reader([text], delimiter=delimiter), [])
    others = [other for other in _DELIMITERS if other != delimiter and other in text]
    below = content[len(line) + 1 : len(line) + 10_000].decode("utf-8", "replace").splitlines()[:1]
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


def not_utf8(path: Path, row: int) -> InputError:
    """What to say of a row that cannot be read as text."""
    return InputError(f"{path}, row {row}: is not UTF-8. Save the file with that encoding; in Excel as CSV UTF-8.")


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
