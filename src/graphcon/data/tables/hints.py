"""What texts may be meant for that are read as classes or categories: numbers or dates in another way of writing,
nothing.
"""

import polars as pl

from graphcon.data.tables.dates import look_like_dates

_NOTHING = {"", "na", "n/a", "#n/a", "<na>", "nan", "null"}
_PLAIN = r"[+-]?\d+(?:\.\d+)?"
_FIGURES = r"[+-]?\d[\d.,' ]*"
_CURRENCY = r"(?:\p{Sc}|EUR|USD|GBP|CHF|JPY)"
#: The first that fits most cells counts: 956,000 may be either of the first two, and 0,956 cannot be the first.
_WAYS = (
    (
        r"[+-]?[1-9]\d{0,2}(?:[,' ]\d{3})+(?:\.\d+)?",
        "If these are numbers with separators of thousands, write them without, not as {0}; if the comma is a decimal "
        "comma, say --decimal , for a CSV file.",
    ),
    (
        r"[+-]?(?:\d+|[1-9]\d{0,2}(?:[.' ]\d{3})+),\d+",
        "If these are numbers, write them with a decimal point, not as {0}, or say --decimal , for a CSV file.",
    ),
    (rf"{_FIGURES}%", "If these are numbers, write them without the percent sign, not as {0}."),
    (
        rf"{_CURRENCY} ?{_FIGURES}|{_FIGURES}{_CURRENCY}",
        "If these are numbers, write them without the currency, not as {0}.",
    ),
)


def hint_at_numbers(values: pl.Series) -> str:
    """How texts must be written to be read as numbers; nothing where most do not look like numbers."""
    cells = values.drop_nulls().head(10_000).str.strip_chars()
    for pattern, hint in _WAYS:
        marked = cells.str.contains(f"^(?:{pattern})$")
        if marked.any() and (marked | cells.str.contains(f"^{_PLAIN}$")).sum() > len(cells) / 2:
            return " " + hint.format(cells.filter(marked)[0])
    return ""


def hint_at_meaning(values: pl.Series) -> str:
    """How texts must be written to be read as dates or numbers; nothing where they look like neither."""
    sample = values.drop_nulls().head(10_000)
    if len(sample) and look_like_dates(sample):
        return f" If it holds dates, write them as 2020-01-31, not as {sample[0]}."
    return hint_at_numbers(sample)


def looks_empty(text: str) -> bool:
    """Whether other programs write this for an empty cell."""
    return text.strip().casefold() in _NOTHING
