"""Dates in tables become days, however they are written and stored."""

from datetime import UTC, date, datetime, timedelta, timezone
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphcon.data import TableSchema, read_tables
from graphcon.data.tables.dates import as_date, as_days
from graphcon.errors import InputError

EDGES = "source,target\na,b\nb,c\nc,d\n"
zones = st.integers(-14 * 60, 14 * 60).map(lambda minutes: timezone(timedelta(minutes=minutes)))


def _nodes(cells: list[str]) -> str:
    rows = zip("abcdefgh", cells, ["u", "v"] * 4, strict=False)
    return "id,joined,label\n" + "".join(f"{name},{cell},{label}\n" for name, cell, label in rows)


def _files(folder: Path, cells: list[str]) -> tuple[Path, Path]:
    nodes, edges = folder / "nodes.csv", folder / "edges.csv"
    nodes.write_text(_nodes(cells))
    edges.write_text(EDGES)
    return nodes, edges


@given(st.datetimes(datetime(1000, 1, 1), datetime(9000, 1, 1), timezones=zones))
def test_times_with_an_offset_are_the_days_that_python_counts(moment: datetime):
    days = as_days(pl.Series([moment.isoformat(), moment.isoformat(sep=" ")]))
    expected = (moment - datetime(1970, 1, 1, tzinfo=UTC)) / timedelta(days=1)
    np.testing.assert_allclose(days, [expected, expected], rtol=0, atol=1e-6)


@pytest.mark.parametrize(
    ("text", "days"),
    [
        ("1970-01-02", 1.0),
        (" 1970-01-02 ", 1.0),
        ("1970-01-01 12:00", 0.5),
        ("1970-01-01T12:00:00Z", 0.5),
        ("1970-01-01T12:00:00.0-06:00", 0.75),
        ("1970-01-01T12:00+0600", 0.25),
        ("1969-12-31", -1.0),
        ("1970-02-30", None),
        ("1970-01-01 25:00", None),
        ("1970-1-1", None),
        ("01/02/1970", None),
        ("1970", None),
        ("soon", None),
        (None, None),
    ],
)
def test_a_date_is_days_since_1970_and_what_is_none_is_empty(text: str | None, days: float | None):
    assert as_days(pl.Series([text], dtype=pl.String)).to_list() == [days]


def test_text_dates_and_times_of_parquet_give_the_same_numbers(tmp_path):
    days = [date(2020, 1, 1) + timedelta(days=n * n) for n in range(4)]
    files = _files(tmp_path, [str(day) for day in days])
    read, schema = read_tables(*files, target="label")
    assert [column.role for column in schema.columns] == ["date"]
    assert "column 'joined' is read as dates, in days." in " ".join(read.notes)
    frame = pl.read_csv(tmp_path / "nodes.csv", try_parse_dates=True)
    assert frame["joined"].dtype == pl.Date
    for stored in (frame, frame.with_columns(pl.col("joined").cast(pl.Datetime("ms", "Europe/Berlin")))):
        stored.write_parquet(tmp_path / "nodes.parquet")
        other, _ = read_tables(tmp_path / "nodes.parquet", tmp_path / "edges.csv", target="label")
        np.testing.assert_allclose(other.data.x, read.data.x, atol=1e-6)

    training = np.array([(day - date(1970, 1, 1)).days for day in days])[read.split.train]
    assert schema.columns[0].shift == pytest.approx((training.mean(),))
    again = TableSchema.from_json(schema.to_json()).apply(tmp_path / "nodes.parquet", tmp_path / "edges.csv")
    np.testing.assert_allclose(again.graphs[0].x, read.data.x, atol=1e-6)


def test_an_empty_date_follows_the_rule_of_the_user(tmp_path):
    files = _files(tmp_path, ["2020-01-01", "2020-01-01", "2020-01-01", ""])
    with pytest.raises(InputError, match="row 5, column 'joined'.*--missing mean"):
        read_tables(*files, target="label")
    read, _ = read_tables(*files, target="label", missing="median")
    assert "1 empty cell, filled with 2020-01-01" in " ".join(read.notes)
    assert as_date(18262.0) == "2020-01-01"


def test_what_is_no_date_among_dates_is_refused_with_its_row(tmp_path):
    files = _files(tmp_path, ["2020-01-01", "2020-01-02", "2020-02-30", "2020-01-03"])
    with pytest.raises(InputError, match="row 4, column 'joined': '2020-02-30'.*2020-01-31.*--categorical joined"):
        read_tables(*files, target="label")
    _, schema = read_tables(*files, target="label", categorical=("joined",))
    assert schema.columns[0].role == "category"

    _files(tmp_path, ["2020-01-01", "2020-01-02", "2020-01-04", "2020-01-03"])
    _, schema = read_tables(*files, target="label")
    (tmp_path / "new.csv").write_text(_nodes(["2020-01-01", "2020-01-02", "12", "2020-01-03"]))
    with pytest.raises(InputError, match="row 4, column 'joined': '12'. Must be a date as 2020-01-31"):
        schema.apply(tmp_path / "new.csv", tmp_path / "edges.csv")


@pytest.mark.parametrize("form", ["%d.%m.%Y", "%m/%d/%Y", "%d-%m-%y", "%Y/%m/%d"])
def test_dates_that_could_be_read_in_two_ways_stay_text_and_are_noted(tmp_path, form: str):
    days = [f"{date(2020, 2, 1 + n % 3):{form}}" for n in range(8)]
    read, schema = read_tables(*_files(tmp_path, days), target="label")
    assert schema.columns[0].role == "category"
    assert f"write them as 2020-01-31, not as {days[0]}." in " ".join(read.notes)
