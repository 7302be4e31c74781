"""Dates and times as numbers of days."""

from datetime import UTC, datetime, timedelta

import polars as pl

#: 2020-01-31, with or without a time, 09:30 or 09:30:15.5 after T or a space, with or without Z or an offset as +02:00.
_ISO = (
    r"^(\d{4}-\d{2}-\d{2})"
    r"(?:[T ]([01]\d|2[0-3]):([0-5]\d)(?::([0-5]\d(?:\.\d+)?))?(?:Z|([+-])(\d{2}):?(\d{2}))?)?$"
)
_OTHER = r"^(?:\d{1,2}[./-]\d{1,2}[./-](?:\d{2}|\d{4})|\d{4}[./-]\d{1,2}[./-]\d{1,2})$"
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def as_days(values: pl.Series) -> pl.Series:
    """Days since the beginning of 1970 in UTC; empty where a cell is empty or no date."""
    if values.dtype == pl.Date:
        return values.to_physical().cast(pl.Float64)
    if isinstance(values.dtype, pl.Datetime):
        return values.dt.timestamp("us") / 86_400e6
    parts = pl.col("cell").str.extract_groups(_ISO).struct
    day, sign = parts.field("1").str.to_date("%Y-%m-%d", strict=False), parts.field("5")
    hours, minutes, seconds, off_hours, off_minutes = (
        parts.field(group).cast(pl.Float64).fill_null(0.0) for group in ("2", "3", "4", "6", "7")
    )
    west = pl.when(sign == "-").then(1.0).otherwise(-1.0)  # the sun is there later
    clock = hours / 24 + minutes / 1440 + seconds / 86_400 + west * (off_hours / 24 + off_minutes / 1440)
    cells = pl.DataFrame({"cell": values.cast(pl.String).str.strip_chars()})
    return cells.select(day.to_physical().cast(pl.Float64) + clock).to_series()


def look_like_dates(values: pl.Series) -> bool:
    """Whether cells could be dates in another way of writing: which of the numbers is the month cannot be known."""
    return bool(values.str.strip_chars().str.contains(_OTHER).all())


def as_date(days: float) -> str:
    """A number of days as the date it stands for."""
    return f"{_EPOCH + timedelta(days=days):%Y-%m-%d}"
