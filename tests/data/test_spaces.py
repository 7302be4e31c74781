"""Numbers with spaces around them are the numbers, and a note says so."""

from pathlib import Path

import polars as pl
import pytest
import torch

from graphcon.data import TableSchema, read_tables
from graphcon.errors import InputError

EDGES = "source,target,weight,sum\n" + "".join(f"{i},{i + 1},{i}.5,{i}\n" for i in range(59))
NODES = "id,age,price,count,label,part\n" + "".join(f"{i},{i},{i}.5,{i},{i % 3},train\n" for i in range(60))


def _spaced(text: str, around: str = " {}") -> str:
    """The rows of a table with spaces around all fields but the ids."""
    header, *rows = text.splitlines()
    fields = [row.split(",") for row in rows]
    ids = 1 if header.startswith("id") else 2
    spaced = [",".join([*row[:ids], *(around.format(field) for field in row[ids:])]) for row in fields]
    return "\n".join([header, *spaced]) + "\n"


def _write(folder: Path, nodes: str = NODES, edges: str = EDGES) -> tuple[Path, Path]:
    (folder / "nodes.csv").write_text(nodes)
    (folder / "edges.csv").write_text(edges)
    return folder / "nodes.csv", folder / "edges.csv"


@pytest.mark.parametrize("around", [" {}", "{} ", "\t{}  ", '" {}"'])
@pytest.mark.parametrize("target", ["label", "price", "count"])
def test_spaces_around_numbers_change_nothing(tmp_path, around, target):
    plain, schema = read_tables(*_write(tmp_path), target=target, split_column="part", seed=1)
    files = _write(tmp_path, _spaced(NODES, around), _spaced(EDGES, around))
    spaced, same = read_tables(*files, target=target, split_column="part", seed=1)
    assert same == schema
    assert (spaced.kind, spaced.class_names) == (plain.kind, plain.class_names)
    for key in ("x", "y", "edge_weight", "edge_attr"):
        assert torch.equal(spaced.data[key], plain.data[key])
    note = "nodes.csv: spaces around the numbers are taken away in: age, price, count, label."
    assert note.replace("nodes", str(tmp_path / "nodes")) in spaced.notes
    assert not [note for note in plain.notes if "spaces around" in note]
    new = TableSchema.from_json(schema.to_json()).apply(*files)
    assert torch.equal(new.graphs[0].x, plain.data.x)
    assert torch.equal(new.graphs[0].y, plain.data.y)
    assert [note for note in new.notes if "edges.csv: spaces around the numbers are taken away in" in note]


def test_spaces_around_numbers_of_parquet_are_taken_away_too(tmp_path):
    plain, _ = read_tables(*_write(tmp_path), target="price", ignore="part")
    nodes, edges = _write(tmp_path, _spaced(NODES), EDGES)
    texts = pl.read_csv(nodes, infer_schema=False)
    texts.write_parquet(tmp_path / "nodes.parquet")
    for source in (tmp_path / "nodes.parquet", texts):
        read, _ = read_tables(source, edges, target="price", ignore="part")
        assert torch.equal(read.data.x, plain.data.x)
        assert torch.equal(read.data.y, plain.data.y)


def test_spaces_around_numbers_with_a_decimal_comma_are_taken_away(tmp_path):
    german = {"delimiter": ";", "decimal": ",", "target": "price", "ignore": "part"}
    plain, _ = read_tables(*_write(tmp_path), target="price", ignore="part")
    comma = [_spaced(text).replace(",", ";").replace(".", ",") for text in (NODES, EDGES)]
    read, _ = read_tables(*_write(tmp_path, *comma), **german)
    assert torch.equal(read.data.x, plain.data.x)
    assert torch.equal(read.data.y, plain.data.y)
    files = _write(tmp_path, comma[0].replace(" 7,5", " 7.5"), comma[1])
    with pytest.raises(InputError, match="nodes.csv, row 9, column 'price': ' 7.5'. With --decimal , a fraction"):
        read_tables(*files, **german)


def test_what_is_no_number_among_numbers_with_spaces_is_refused_with_its_row(tmp_path):
    files = _write(tmp_path, _spaced(NODES).replace("7, 7,", "7, n/a,"))
    with pytest.raises(InputError, match="nodes.csv, row 9, column 'age': ' n/a'. Most cells of this column are num"):
        read_tables(*files, target="label", ignore="part")
    files = _write(tmp_path, NODES, _spaced(EDGES).replace(", 7.5,", ", heavy,"))
    with pytest.raises(InputError, match="edges.csv, row 9, column 'weight': ' heavy'. A weight must be a number"):
        read_tables(*files, target="label", ignore="part")


def test_codes_with_leading_zeros_stay_as_they_are_written_but_for_spaces(tmp_path):
    codes = "id,f,label\n" + "".join(f"{i},{i},00{i % 3}\n" for i in range(60))
    dataset, schema = read_tables(*_write(tmp_path, _spaced(codes)), target="label")
    assert dataset.class_names == ("000", "001", "002")
    assert schema.apply(*_write(tmp_path, _spaced(codes))).graphs[0].y.tolist() == dataset.data.y.tolist()


def test_ids_and_what_the_user_calls_categories_keep_their_spaces(tmp_path):
    spaced = "id,f,version,label\n" + "".join(f"{i} ,{i}, {i % 3}, {i % 2}\n" for i in range(60))
    edges = "source,target\n" + "".join(f"{i} ,{i + 1} \n" for i in range(59))
    files = _write(tmp_path, spaced, edges)
    chosen = {"target": "label", "kind": "classification", "categorical": "version"}
    dataset, schema = read_tables(*files, **chosen)
    assert dataset.class_names == (" 0", " 1")
    assert schema.columns[1].categories == (" 0", " 1", " 2")
    read = schema.apply(*files)
    assert torch.equal(read.graphs[0].x, dataset.data.x)
    assert torch.equal(read.graphs[0].y, dataset.data.y)
    assert read.ids.to_list()[:2] == ["0 ", "1 "]
