"""The names of columns, whatever stands in them."""

import pytest

from graphcon.data import read_tables
from graphcon.data.tables.files import read_file
from graphcon.errors import InputError

ROWS = "".join(f"{i},00{i},{'uv'[i % 2]}\n" for i in range(10))
NAMES = ['size "big"', '"', 'a ""b', "size\n(cm)", "size\r\n(cm)", "a, b", 'one\n"two"\nthree', " size ", "a;b|c\td"]


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("name", NAMES)
def test_a_column_is_called_what_stands_in_the_header(tmp_path, name, end):
    quoted = '"' + name.replace('"', '""') + '"'
    (tmp_path / "nodes.csv").write_text(f"id,{quoted},label\n{ROWS}".replace("\n", end), newline="")
    (tmp_path / "edges.csv").write_text("source,target\n0,1\n")
    name = name.replace("\n", end)
    dataset, schema = read_tables(tmp_path / "nodes.csv", tmp_path / "edges.csv", target="label")
    assert dataset.feature_names == (name,)
    as_written, _ = read_tables(tmp_path / "nodes.csv", tmp_path / "edges.csv", target="label", categorical=name)
    assert all(feature.startswith(f"{name}=00") for feature in as_written.feature_names)
    assert schema.apply(tmp_path / "nodes.csv", tmp_path / "edges.csv").graphs[0].x.equal(dataset.data.x)
    (tmp_path / "nodes.csv").write_bytes((tmp_path / "nodes.csv").read_bytes() + b"10,1\n")
    with pytest.raises(InputError, match="nodes.csv, row 12: has 2 fields, the header has 3"):  # the header is row 1
        read_tables(tmp_path / "nodes.csv", tmp_path / "edges.csv", target="label")


@pytest.mark.parametrize(("row", "line"), [(1, 'id,5" disk,label'), (3, '1,5" disk,v'), (11, '9,5" disk,v')])
def test_a_quote_within_a_cell_that_is_not_in_quotes_is_told_with_its_row(tmp_path, row, line):
    lines = ["id,disk,label", *ROWS.splitlines()]
    lines[row - 1] = line
    (tmp_path / "inches.csv").write_text("\n".join(lines) + "\n")
    with pytest.raises(InputError, match=f"inches.csv, row {row}: a quote stands within a cell that is not in quotes"):
        read_file(tmp_path / "inches.csv")


def test_a_quote_that_does_not_close_in_the_header_is_told(tmp_path):
    (tmp_path / "open.csv").write_text('id,"f,label\n' + ROWS)
    with pytest.raises(InputError, match=r"open.csv, row 1.*quote"):
        read_file(tmp_path / "open.csv")
    (tmp_path / "open.csv").write_text('id,"f,label\n0,"x, y",u\n')
    with pytest.raises(InputError, match=r"open.csv, row 1.*quote"):
        read_file(tmp_path / "open.csv")
