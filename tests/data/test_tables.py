"""Own tables: what is read is what is in the file, and what is learned is learned on the training part."""

import json
import math
from pathlib import Path

import numpy as np
import polars as pl
import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from graphcon.data import TableSchema, read_tables, statistics
from graphcon.data.tables.connect import _look_up
from graphcon.errors import InputError

NODES = """id,age,colour,member,notes,label,split
a,10,red,true,likes graphs deeply,yes,train
b,20,blue,false,likes trees a lot,no,train
c,30,red,true,graphs and trees grow,yes,val
d,50,green,false,nothing at all here,no,test
"""
EDGES = """source,destination,weight,kind
a,b,1.0,x
b,c,0.5,y
c,a,2.0,x
"""


@pytest.fixture
def write(tmp_path):
    def write(**files):
        paths = []
        for name, text in files.items():
            path = tmp_path / f"{name}.csv"
            path.write_text(text)
            paths.append(path)
        return paths

    return write


def test_every_role_is_found_and_encoded(write):
    nodes, edges = write(nodes=NODES, edges=EDGES)
    dataset, schema = read_tables(nodes, edges, target="label", words="notes")
    data = dataset.data
    roles = {column.name: column.role for column in schema.columns}
    assert roles == {"age": "number", "colour": "category", "member": "boolean", "notes": "words"}
    # Mean and standard deviation of the training part (10, 20), not of all rows.
    assert data.x[:, 0].tolist() == pytest.approx([-1.0, 1.0, 3.0, 7.0])
    # Training saw blue and red; green is unknown: a row of zeros.
    assert data.x[:, 1:3].tolist() == [[0, 1], [1, 0], [0, 1], [0, 0]]
    assert data.x[:, 3].tolist() == [1, 0, 1, 0]
    assert dataset.feature_names[4:] == (
        "notes=a", "notes=deeply", "notes=graphs", "notes=likes", "notes=lot", "notes=trees",
    )  # fmt: skip
    assert data.x[2, 4:].tolist() == [0, 0, 1, 0, 0, 1]
    assert (dataset.class_names, data.y.tolist()) == (("no", "yes"), [1, 0, 1, 0])
    assert dataset.split.train.tolist() == [0, 1]
    assert any("'colour': 1 cell of categories that the training part never saw (green)" in n for n in dataset.notes)


def test_edges_without_direction_go_both_ways_with_their_weight_and_features(write):
    nodes, edges = write(nodes=NODES, edges=EDGES)
    dataset, _ = read_tables(nodes, edges, target="label")
    data = dataset.data
    assert data.edge_index.tolist() == [[0, 1, 2, 1, 2, 0], [1, 2, 0, 0, 1, 2]]
    assert data.edge_weight.tolist() == [1.0, 0.5, 2.0, 1.0, 0.5, 2.0]
    assert data.edge_attr.tolist() == [[1, 0], [0, 1], [1, 0], [1, 0], [0, 1], [1, 0]]
    assert "edges.csv: 3 edges, without direction: each is used both ways." in " ".join(dataset.notes)


def test_edges_with_direction_stay_as_listed(write):
    nodes, edges = write(nodes=NODES, edges=EDGES)
    dataset, _ = read_tables(nodes, edges, target="label", directed=True)
    assert dataset.data.edge_index.tolist() == [[0, 1, 2], [1, 2, 0]]
    assert dataset.directed


def test_loops_duplicates_and_isolated_nodes_are_kept_and_counted_once(write):
    edges = "source,destination\na,a\na,b\na,b\nb,a\n"
    nodes, edges = write(nodes=NODES, edges=edges)
    dataset, _ = read_tables(nodes, edges, target="label")
    assert dataset.data.num_edges == 1 + 3 * 2
    text = "\n".join(dataset.notes)
    for part in (
        "1 self-loop, kept",
        "1 duplicate edge, kept",
        "2 isolated nodes, kept",
        "listed in both directions",
    ):
        assert text.count(part) == 1


def test_a_table_without_an_edge_leaves_all_nodes_isolated(write):
    nodes, edges, none = write(nodes=NODES, edges=EDGES, none="source,destination,weight,kind\n")
    dataset, _ = read_tables(nodes, none, target="label", ignore="kind")
    assert dataset.data.edge_index.shape == (2, 0)
    assert "none.csv: 4 isolated nodes, kept." in " ".join(dataset.notes)
    assert statistics(dataset).isolated == 4
    _, schema = read_tables(nodes, edges, target="label")
    new = schema.apply(nodes, none).graphs[0]
    assert (new.edge_index.shape, new.edge_weight.shape, new.edge_attr.shape) == ((2, 0), (0,), (0, 2))


def test_classes_and_categories_written_with_leading_zeros_stay_as_they_are_written(write):
    rows = [f"{i},{'01' if i % 2 else '1'},{'007' if i % 3 else '010'},{i % 3}" for i in range(12)]
    nodes, edges = write(nodes="\n".join(["id,code,label,third", *rows]), edges="source,destination\n1,2\n")
    dataset, schema = read_tables(nodes, edges, target="label", categorical="code")
    assert dataset.class_names == ("007", "010")
    assert {column.name: column.categories for column in schema.columns}["code"] == ("01", "1")
    assert {column.name: column.role for column in schema.columns}["third"] == "number"
    numbers, schema = read_tables(nodes, edges, target="label")  # a feature that is a number is one all the same
    assert {column.name: column.role for column in schema.columns}["code"] == "boolean"
    assert numbers.data.x[:, 0].tolist() == [1.0] * 12


def test_classes_and_categories_that_the_user_names_stay_as_they_are_written(write):
    versions = ["1.1", "1.10", "1.2", "10"]
    rows = [f"{i},{i},{versions[i % 4]},{versions[i % 4]}" for i in range(24)]
    nodes, edges = write(nodes="\n".join(["id,f,version,label", *rows]), edges="source,target\n0,1\n")
    dataset, schema = read_tables(nodes, edges, target="label", kind="classification", categorical="version")
    assert dataset.class_names == ("1.1", "1.10", "1.2", "10")  # in the order of numbers: 10 comes after 2
    assert {column.name: column.categories for column in schema.columns}["version"] == ("1.1", "1.10", "1.2", "10")
    assert torch.equal(schema.apply(nodes, edges).graphs[0].y, dataset.data.y)
    (new,) = write(new="id,f,version,label\n0,1,1.10,1.1\n1,2,10,1.10\n")
    read = schema.apply(new, edges)
    assert read.graphs[0].y.tolist() == [0, 1]
    assert read.graphs[0].x[:, 1:].tolist() == [[0, 1, 0, 0], [0, 0, 0, 1]]
    assert not any("never saw" in note for note in read.notes)


def test_new_tables_mean_by_a_text_what_training_meant(write):
    flags = ["TRUE", "FALSE", "MAYBE"]
    rows = [f"{i},{i},{flags[i % 3]},{flags[i % 3]}" for i in range(24)]
    nodes, edges = write(nodes="\n".join(["id,f,flag,label", *rows]), edges="source,target\n0,1\n")
    _, schema = read_tables(nodes, edges, target="label")
    (new,) = write(new="id,f,flag,label\n0,1,TRUE,FALSE\n1,2,FALSE,TRUE\n")  # without MAYBE, these are truth values
    read = schema.apply(new, edges)
    assert read.graphs[0].y.tolist() == [0, 2]
    assert read.graphs[0].x[:, 1:].tolist() == [[0, 0, 1], [1, 0, 0]]
    assert not any("never saw" in note for note in read.notes)


@pytest.mark.parametrize("spelling", [("false", "true"), ("False", "True"), ("FALSE", "TRUE")])
def test_classes_that_are_truth_values_may_be_spelled_as_any_program_does(write, spelling):
    rows = [f"{i},{i},{spelling[i % 2]}" for i in range(12)]
    nodes, edges = write(nodes="\n".join(["id,f,label", *rows]), edges="source,target\n0,1\n")
    dataset, schema = read_tables(nodes, edges, target="label")
    assert dataset.class_names == ("false", "true")
    (new,) = write(new="id,f,label\n0,1,True\n1,2,FALSE\n")
    assert schema.apply(new, edges).graphs[0].y.tolist() == [1, 0]


def test_numbers_may_have_a_decimal_comma(write):
    cells = [f"{i};{i},5;{i % 2};{i * i},25;1.{i};x" for i in range(12)]
    nodes, edges = write(
        nodes="\n".join(["id;f;g;value;version;note", *cells]), edges="source;target;weight\n0;1;0,5\n1;2;2\n"
    )
    german = {"delimiter": ";", "decimal": ",", "target": "value", "categorical": "version", "ignore": "note"}
    dataset, schema = read_tables(nodes, edges, scaling="none", **german)
    assert dataset.kind == "regression"
    assert dataset.data.x[:3, :2].tolist() == [[0.5, 0], [1.5, 1], [2.5, 0]]
    assert dataset.data.y[:3].tolist() == [0.25, 1.25, 4.25]
    assert dataset.data.edge_weight.tolist() == [0.5, 2.0, 0.5, 2.0]
    again = TableSchema.from_json(schema.to_json())
    assert torch.equal(again.apply(nodes, edges).graphs[0].x, dataset.data.x)
    for odd in ("1.500", "n/a", "1.234,5"):
        (nodes,) = write(nodes="\n".join(["id;f;g;value;version;note", *cells]).replace(";7,5;", f";{odd};"))
        message = f"nodes.csv, row 9, column 'f': '{odd}'. With --decimal , a fraction stands after a comma"
        with pytest.raises(InputError, match=message):
            read_tables(nodes, edges, **german)
        with pytest.raises(InputError, match=message):
            again.apply(nodes, edges)
        read_tables(nodes, edges, **german | {"ignore": ("note", "f")})  # what nobody reads may hold anything


def test_a_schema_of_before_decimal_commas_has_points(write):
    _, schema = read_tables(*write(nodes=NODES, edges=EDGES), target="label")
    values = schema.to_dict()
    del values["decimal"]
    assert TableSchema.from_dict(values) == schema


@pytest.mark.parametrize(
    ("cells", "hint"),
    [
        (["0,5", "1,75", "2"], "with a decimal point, not as 0,5, or say --decimal ,"),
        (["1.250,5", "0,5", "3,5"], "with a decimal point, not as 1.250,5"),
        (["956,000", "1,234,000", "12"], "with separators of thousands, write them without, not as 956,000"),
        (["95.6%", "4 %", "0.5%"], "without the percent sign, not as 95.6%"),
        (["95.60 €", "1,000 EUR", "-3 €"], "without the currency, not as 95.60 €"),
        (["$5", "$1,000.50", "$ 3"], "without the currency, not as $5"),
        (["5b", "1,2,3", "a%"], None),
    ],
)
def test_numbers_in_another_way_of_writing_are_noted(write, cells, hint):
    rows = [f'{i},{i},"{cells[i % 3]}","{cells[i % 3]}"' for i in range(12)]
    nodes, edges = write(nodes="\n".join(["id,f,price,label", *rows]), edges="source,target\n0,1\n")
    dataset, _ = read_tables(nodes, edges, target="label")
    notes = [note for note in dataset.notes if "If these are numbers" in note]
    if hint is None:
        assert notes == []
    else:
        assert ["column 'label': its texts are read as classes." in note for note in notes] == [True, False]
        assert "column 'price' is read as categories." in notes[1]
        assert all(hint in note for note in notes)


def test_an_ignored_column_has_no_role_by_its_name(write):
    nodes, edges = write(
        nodes="id,graph_id,split,f,label\na,0,train,1,u\nb,0,val,2,v\nc,1,train,3,v\nd,1,test,4,u\n",
        edges="source,target,weight\na,c,0.5\nb,d,2\n",
    )
    dataset, schema = read_tables(nodes, edges, target="label", ignore=("graph_id", "weight"))
    assert len(dataset.graphs) == 1
    assert dataset.graphs[0].edge_weight is None
    assert schema.graph is None
    assert set(schema.ignored) >= {"graph_id", "weight"}
    assert len(schema.apply(nodes, edges).graphs) == 1
    weighted, _ = read_tables(nodes, edges, target="label", ignore=("graph_id", "weight"), weight="weight")
    assert weighted.graphs[0].edge_weight is not None


def test_many_graphs_may_be_without_an_edge(write):
    graphs = "graph_id,value\n" + "".join(f"g{g},{g}.5\n" for g in range(10))
    nodes, edges, graphs = write(nodes=GRAPH_NODES, edges="graph_id,source,target\n", graphs=graphs)
    dataset, _ = read_tables(nodes, edges, graphs, target="value")
    assert [graph.num_nodes for graph in dataset.graphs] == [3] * 10
    assert sum(graph.num_edges for graph in dataset.graphs) == 0


def test_integer_ids_in_any_order_are_looked_up(write):
    nodes, edges = write(nodes="id,f,label\n30,1,u\n10,2,v\n20,3,u\n40,4,v\n", edges="src,dst\n10,30\n20,40\n30,20\n")
    dataset, _ = read_tables(nodes, edges, target="label", directed=True)
    assert dataset.data.edge_index.tolist() == [[1, 2, 0], [0, 3, 2]]


def test_ids_are_kept_as_they_are_written(write, tmp_path):
    nodes, edges = write(nodes="id,f,label\n007,1,u\n7,2,v\n00,3,u\n1e3,4,v\n", edges="source,target\n007,7\n00,1e3\n")
    dataset, schema = read_tables(nodes, edges, target="label", directed=True)
    assert dataset.data.edge_index.tolist() == [[0, 2], [1, 3]]
    assert schema.apply(nodes, edges).ids.to_list() == ["007", "7", "00", "1e3"]
    pl.read_csv(nodes, schema_overrides={"id": pl.String}).write_parquet(tmp_path / "n.parquet")
    again, _ = read_tables(tmp_path / "n.parquet", edges, target="label", directed=True)
    assert torch.equal(again.data.edge_index, dataset.data.edge_index)


def test_ids_of_graphs_are_kept_as_they_are_written(write):
    nodes, edges, graphs = write(
        nodes=GRAPH_NODES.replace("g1,", "007,").replace("g2,", "7,"),
        edges=GRAPH_EDGES.replace("g1,", "007,").replace("g2,", "7,"),
        graphs="graph_id,value\n"
        + "".join(f"{['g0', '007', '7'][g] if g < 3 else f'g{g}'},{g}.5\n" for g in range(10)),
    )
    _, schema = read_tables(nodes, edges, graphs, target="value")
    assert schema.apply(nodes, edges, graphs).ids.to_list()[:3] == ["g0", "007", "7"]
    assert schema.apply(nodes, edges).ids.to_list()[:3] == ["g0", "007", "7"]


def test_integers_of_parquet_are_the_ids_that_csv_writes_so(write, tmp_path):
    _, edges = write(nodes=NODES, edges="source,target\n16,8\n8,4\n")
    frame = pl.DataFrame({"id": [4, 8, 16, 32], "f": [1.0, 2, 3, 4], "label": ["u", "v"] * 2})
    frame.write_parquet(tmp_path / "n.parquet")
    dataset, schema = read_tables(tmp_path / "n.parquet", edges, target="label", directed=True)
    assert dataset.data.edge_index.tolist() == [[2, 1], [1, 0]]
    assert schema.apply(tmp_path / "n.parquet", edges).ids.to_list() == [4, 8, 16, 32]
    frame.with_columns(pl.col("id").cast(pl.Float64)).write_parquet(tmp_path / "n.parquet")
    with pytest.raises(InputError, match=r"the first is 4.0.*here are integers, there numbers with a point"):
        read_tables(tmp_path / "n.parquet", edges, target="label")
    frame.with_columns(pl.col("id").cast(pl.UInt64) + 100).write_parquet(tmp_path / "n.parquet")
    with pytest.raises(InputError, match=r"column 'id'\). Add the node, or delete the edge."):
        read_tables(tmp_path / "n.parquet", edges, target="label")


@given(ids=st.sets(st.integers(-(2**40), 2**40), min_size=4, max_size=12), data=st.data())
def test_ids_are_found_wherever_they_lie(ids, data):
    """Close together or far apart, in any order: two ways of looking up, one answer."""
    keys = data.draw(st.permutations(sorted(ids)))
    asked = data.draw(st.lists(st.sampled_from(keys), min_size=1))
    for shift in (0, 2**50):
        found = _look_up(pl.Series(keys) + shift, pl.Series([*asked, 2**41]) + shift)
        assert [keys[place] for place in found[:-1]] == asked
        assert found[-1] == -1
    dense = _look_up(pl.Series([5, 3, 4, 9]), pl.Series([4, 9, 5, 8, 2, 10]))
    assert dense.tolist() == [2, 3, 0, -1, -1, -1]


def test_quotes_may_hold_the_delimiter_and_a_newline(write):
    nodes, edges = write(
        nodes='id,f,label\n"a,1",1,u\n"b\n2",2,v\n"c ""3""",3,u\nd,4,v\n',
        edges='source,target\n"a,1","b\n2"\n',
    )
    dataset, schema = read_tables(nodes, edges, target="label")
    assert dataset.data.edge_index.tolist() == [[0, 1], [1, 0]]
    assert schema.apply(nodes, edges).ids.to_list() == ["a,1", "b\n2", 'c "3"', "d"]


@pytest.mark.parametrize("end", ["\r\n", "\r"])
def test_lines_end_as_any_system_ends_them(tmp_path, end):
    for name, text in (("nodes", NODES), ("edges", EDGES)):
        (tmp_path / f"{name}.csv").write_text(text.replace("\n", end), newline="")
    dataset, _ = read_tables(tmp_path / "nodes.csv", tmp_path / "edges.csv", target="label")
    assert dataset.class_names == ("no", "yes")
    assert dataset.data.edge_index.tolist() == [[0, 1, 2, 1, 2, 0], [1, 2, 0, 0, 1, 2]]


def test_without_ids_rows_count_from_zero(write):
    nodes, edges = write(nodes="f,label\n1,u\n2,v\n3,u\n4,v\n", edges="a,b\n0,3\n1,2\n")
    dataset, _ = read_tables(nodes, edges, target="label", directed=True)
    assert dataset.data.edge_index.tolist() == [[0, 1], [3, 2]]
    assert "numbered from 0" in " ".join(dataset.notes)


def test_parquet_lists_are_vectors_and_words(tmp_path):
    pl.DataFrame(
        {
            "id": [1, 2, 3, 4],
            "embedding": [[1.0, 0.0], [0.0, 1.0], [2.0, 2.0], [3.0, 1.0]],
            "tags": [["a", "b"], ["b"], [], ["a"]],
            "value": [0.5, 1.5, 2.5, 3.5],
        }
    ).write_parquet(tmp_path / "n.parquet")
    pl.DataFrame({"source": [1, 2], "target": [2, 3]}).write_parquet(tmp_path / "e.parquet")
    dataset, schema = read_tables(tmp_path / "n.parquet", tmp_path / "e.parquet", target="value", scaling="none")
    assert dataset.kind == "regression"
    assert dataset.data.x[:, :2].tolist() == [[1, 0], [0, 1], [2, 2], [3, 1]]
    assert [column.role for column in schema.columns] == ["vector", "words"]


def test_zeros_and_ones_are_not_scaled(write):
    rows = [f"{i},{i % 3 == 0:d},{'uv'[i % 2]},{'train' if i < 9 else 'test'}\n" for i in range(12)]
    nodes, edges = write(nodes="id,word,label,split\n" + "".join(rows), edges="source,target\n0,1\n")
    dataset, schema = read_tables(nodes, edges, target="label")
    assert schema.columns[0].role == "boolean"
    assert dataset.data.x.flatten().tolist() == [1, 0, 0] * 4


def test_a_count_that_is_zero_or_one_in_training_is_a_number(write):
    rows = [f"{i},{i % 2 if i < 8 else 59},{'uv'[i % 2]},{'train' if i < 8 else 'test'}\n" for i in range(10)]
    nodes, edges = write(nodes="id,count,label,split\n" + "".join(rows), edges="source,target\n0,1\n")
    dataset, schema = read_tables(nodes, edges, target="label")
    assert schema.columns[0].role == "number"
    assert dataset.data.x.flatten().tolist() == [-1, 1] * 4 + [117, 117]


@pytest.mark.parametrize("cells", [("true", "false"), ("yes", "no"), ("1", "0")])
def test_new_truth_values_are_refused_unless_they_are_some(write, cells):
    rows = [f"{i},{cells[i % 2]},{'uv'[i % 2]}\n" for i in range(12)]
    nodes, edges = write(nodes="id,ok,label\n" + "".join(rows), edges="source,target\n0,1\n")
    _, schema = read_tables(nodes, edges, target="label")
    (new,) = write(new="id,ok\n0,1\n1,0\n")
    assert schema.apply(new, edges).graphs[0].x.flatten().tolist() == [1, 0]
    for odd in ("2", "0.5", "-1"):
        (new,) = write(new=f"id,ok\n0,1\n1,{odd}\n2,1\n")
        with pytest.raises(
            InputError, match=rf"new.csv, row 3, column 'ok': {odd}(\.0)?\. Must be 0 or 1.*train again"
        ):
            schema.apply(new, edges)


def test_many_categories_become_indices_with_zero_for_the_unknown(write):
    rows = "".join(f"{i},{i % 40},{i % 2},{'train' if i < 60 else 'test'}\n" for i in range(80))
    nodes, edges = write(nodes="id,city,label,split\n" + rows, edges="source,target\n0,1\n")
    dataset, _ = read_tables(nodes, edges, target="label", categorical="city", degree=True)
    assert dataset.num_categories == (41,)
    numbers, indices = dataset.inputs(dataset.data)
    assert numbers.shape == (80, 1)
    assert indices.min() == 1
    assert indices.max() == 40
    fewer, _ = read_tables(nodes, edges, target="label", categorical="city", one_hot_limit=40)
    assert fewer.num_categories == ()
    assert fewer.num_features == 40


@pytest.mark.parametrize(("rule", "expected"), [("mean", 3.0), ("median", 2.0), ("zero", 0.0)])
def test_missing_numbers_follow_the_rule_of_the_user(write, rule, expected):
    text = "id,f,label,split\n0,1,u,train\n1,2,v,train\n2,6,u,train\n3,,v,train\n4,9,u,test\n"
    nodes, edges = write(nodes=text, edges="source,target\n0,1\n")
    dataset, _ = read_tables(nodes, edges, target="label", missing=rule, scaling="none")
    assert dataset.data.x[3, 0] == expected
    assert f"column 'f': 1 empty cell, filled with {expected:g}" in " ".join(dataset.notes)


def test_a_missing_category_is_a_category_of_its_own(write):
    text = "id,c,label,split\n0,p,u,train\n1,q,v,train\n2,,u,train\n3,p,v,test\n"
    nodes, edges = write(nodes=text, edges="source,target\n0,1\n")
    dataset, _ = read_tables(nodes, edges, target="label", missing="zero")
    assert dataset.feature_names == ("c=p", "c=q", "c=(missing)")
    assert "1 empty cell, read as a category of their own" in " ".join(dataset.notes)
    assert dataset.data.x[2].tolist() == [0, 0, 1]


def test_a_new_target_is_checked_as_that_of_the_training(write):
    rows = [f"{i},{i},{i * i}.5\n" for i in range(12)]
    nodes, edges = write(nodes="id,f,value\n" + "".join(rows), edges="source,target\n0,1\n")
    dataset, schema = read_tables(nodes, edges, target="value")
    assert dataset.kind == "regression"
    (nodes,) = write(nodes="id,f,value\n0,1,nan\n" + "".join(rows[1:]))
    with pytest.raises(InputError, match=r"nodes.csv, row 2, column 'value': 'nan'. A target must be a finite number"):
        schema.apply(nodes, edges)


def test_several_targets_of_zeros_and_ones_are_labels(write):
    text = "id,f,l1,l2\n" + "".join(f"{i},{i},{i % 2},{i % 3 == 0:d}\n" for i in range(12))
    nodes, edges = write(nodes=text, edges="source,target\n0,1\n")
    dataset, _ = read_tables(nodes, edges, target=("l1", "l2"))
    assert (dataset.kind, dataset.num_outputs) == ("multilabel", 2)
    assert dataset.data.y.shape == (12, 2)


def test_labels_written_with_a_point_are_labels(write):
    labels = [("1.0", "0.0"), ("", "1.0"), ("0.0", "0.0"), ("1.0", "1.0")]  # what pandas writes where one is missing
    text = "id,f,l1,l2\n" + "".join(f"{i},{i},{','.join(labels[i % 4])}\n" for i in range(12))
    nodes, edges = write(nodes=text, edges="source,target\n0,1\n")
    dataset, _ = read_tables(nodes, edges, target=("l1", "l2"))
    assert (dataset.kind, dataset.num_outputs) == ("multilabel", 2)
    assert "3 of 12 rows have no target" in " ".join(dataset.notes)


def test_whole_numbers_with_a_point_are_values_and_noted(write):
    cells = ["1.0", "2.0", "", "3.0"]
    text = "id,f,label\n" + "".join(f"{i},{i},{cells[i % 4]}\n" for i in range(24))
    nodes, edges = write(nodes=text, edges="source,target\n0,1\n")
    dataset, _ = read_tables(nodes, edges, target="label")
    assert dataset.kind == "regression"
    (note,) = [note for note in dataset.notes if "column 'label'" in note]
    assert note.endswith("If they are classes, say --kind classification.")
    classes, _ = read_tables(nodes, edges, target="label", kind="classification")
    assert classes.class_names == ("1.0", "2.0", "3.0")
    assert not any("If they are classes" in note for note in classes.notes)


@pytest.mark.parametrize("kind", [None, "multilabel", "regression"])
def test_several_targets_of_texts_are_told_what_labels_are(write, kind):
    text = "id,f,l1,l2\n" + "".join(f"{i},{i},{('yes', 'no')[i % 2]},yes\n" for i in range(12))
    nodes, edges = write(nodes=text, edges="source,target\n0,1\n")
    with pytest.raises(InputError, match="'yes'.*labels: write these as 1 and 0, or true and false") as caught:
        read_tables(nodes, edges, target=("l1", "l2"), kind=kind)
    assert "--kind classification" not in str(caught.value)  # which takes one column


def test_rows_without_target_belong_to_the_graph_and_to_no_part(write):
    text = "id,f,label\n" + "".join(f"{i},{i},{'uv'[i % 2] if i < 10 else ''}\n" for i in range(12))
    nodes, edges = write(nodes=text, edges="source,target\n0,11\n")
    dataset, _ = read_tables(nodes, edges, target="label")
    assert dataset.data.num_nodes == 12
    assert sorted(torch.cat([index for _, index in dataset.split.parts()]).tolist()) == list(range(10))
    assert "2 of 12 rows have no target" in " ".join(dataset.notes)
    assert statistics(dataset).balance == (("u", 5), ("v", 5))


@pytest.mark.parametrize(
    ("shares", "left"), [({}, "validation and test"), ({"val": 0.0}, "test"), ({"train": 1.0, "val": 0.0}, "")]
)
def test_a_part_that_is_left_empty_is_noted_unless_it_was_asked_for(write, shares, left):
    text = "id,f,label\n" + "".join(f"{i},{i},{'uvwx'[i]}\n" for i in range(4))
    nodes, edges = write(nodes=text, edges="source,target\n0,1\n")
    dataset, _ = read_tables(nodes, edges, target="label", **shares)
    assert [index.numel() for _, index in dataset.split.parts()] == [4, 0, 0]
    notes = [note for note in dataset.notes if "is left for" in note]
    assert [f"no node is left for {left}: 4 with a target" in note for note in notes] == [True] * bool(left)


def test_three_graphs_that_leave_no_validation_part_are_noted(write):
    rows = "".join(f"g{g},{i},{i},{'uv'[i % 2]}\n" for g in range(3) for i in range(3))
    nodes, edges = write(nodes="graph_id,id,f,label\n" + rows, edges="graph_id,source,target\ng0,0,1\n")
    dataset, _ = read_tables(nodes, edges, target="label")
    assert any("no graph is left for validation: 3 with a target are too few" in note for note in dataset.notes)


@pytest.mark.parametrize(("known", "kind"), [("uv", "classification"), (("1.5", "2.5"), "regression")])
def test_an_empty_target_in_quotes_is_empty(write, known, kind):
    rows = "".join(f'"{i}","{i}","{known[i % 2] if i < 10 else ""}"\n' for i in range(12))
    nodes, edges = write(nodes="id,f,label\n" + rows, edges="source,target\n0,11\n")
    dataset, _ = read_tables(nodes, edges, target="label")
    assert dataset.kind == kind
    assert "2 of 12 rows have no target" in " ".join(dataset.notes)


def test_classes_that_look_alike_are_noted(write):
    text = "id,f,label\n" + "".join(f"{i},{i},{('a', 'b', 'b ', 'B')[i % 4]}\n" for i in range(40))
    nodes, edges = write(nodes=text, edges="source,target\n0,1\n")
    dataset, _ = read_tables(nodes, edges, target="label")
    assert dataset.class_names == ("B", "a", "b", "b ")
    (note,) = [note for note in dataset.notes if "column 'label'" in note]
    assert "the classes 'B' and 'b' and 'b ' differ in spaces or capitals only, and count as 3 classes" in note


@pytest.mark.parametrize(
    ("empty", "option"), [("NA", "NA"), ("N/A", "N/A"), ("null", "null"), (" ", "' '"), ("#N/A", "'#N/A'")]
)
def test_a_class_that_looks_like_an_empty_cell_is_noted(write, empty, option):
    text = "id,f,label\n" + "".join(f"{i},{i},{('a', 'b', empty)[i % 3]}\n" for i in range(30))
    nodes, edges = write(nodes=text, edges="source,target\n0,1\n")
    dataset, _ = read_tables(nodes, edges, target="label")
    (note,) = [note for note in dataset.notes if "column 'label'" in note]
    assert f"the class {empty!r} looks like an empty cell. If it is one, say --null-values {option}." in note
    cured, _ = read_tables(nodes, edges, target="label", null_values=(empty,))
    assert cured.class_names == ("a", "b")
    assert not any("looks like" in note for note in cured.notes)


GRAPH_NODES = "graph_id,id,f\n" + "".join(f"g{g},{i},{g + i}\n" for g in range(10) for i in range(3))
GRAPH_EDGES = "graph_id,source,target\n" + "".join(f"g{g},{i},{i + 1}\n" for g in range(10) for i in range(2))


def test_many_graphs_in_one_table_with_targets_of_their_own(write):
    graphs = "graph_id,value\n" + "".join(f"g{9 - g},{g}.5\n" for g in range(10))
    nodes, edges, graphs = write(nodes=GRAPH_NODES, edges=GRAPH_EDGES, graphs=graphs)
    dataset, _ = read_tables(nodes, edges, graphs, target="value", scaling="none")
    assert (dataset.task, dataset.kind, len(dataset.graphs)) == ("graph", "regression", 10)
    # In the order of the graph table.
    assert dataset.graphs[0].x.flatten().tolist() == [9, 10, 11]
    assert dataset.graphs[0].y.tolist() == [0.5]
    assert dataset.graphs[3].edge_index.tolist() == [[0, 1, 1, 2], [1, 2, 0, 1]]
    assert dataset.split.unit == "graph"
    assert len(dataset.part("train")) == 6


def test_columns_of_graphs_that_are_not_used_are_noted(write):
    graphs = "graph_id,temperature,value,comment,split\n"
    graphs += "".join(f"g{g},{g},{g}.5,x,{'train' if g < 8 else 'test'}\n" for g in range(10))
    nodes, edges, graphs = write(nodes=GRAPH_NODES, edges=GRAPH_EDGES, graphs=graphs)
    dataset, _ = read_tables(nodes, edges, graphs, target="value", ignore="comment")
    (note,) = [note for note in dataset.notes if "not used" in note]
    assert "graphs.csv: not used: temperature. Features" in note


def test_many_graphs_with_targets_per_node_are_split_by_graph(write):
    rows = "".join(f"g{g},{i},{g + i},{i % 2}\n" for g in range(10) for i in range(3))
    nodes, edges = write(nodes="graph_id,id,f,label\n" + rows, edges=GRAPH_EDGES)
    dataset, _ = read_tables(nodes, edges, target="label")
    assert (dataset.task, dataset.split.unit, dataset.split.size) == ("node", "graph", 10)


def test_many_graphs_are_told_when_training_sees_one_class_or_not_all(write):
    def read(label):
        rows = "".join(f"g{g},{i},{g + i},{label(g, i)}\n" for g in range(10) for i in range(3))
        return read_tables(*write(nodes="graph_id,id,f,label\n" + rows, edges=GRAPH_EDGES), target="label")

    dataset, _ = read(lambda _, i: "ab"[i % 2])
    outside = dataset.split.test.tolist()
    with pytest.raises(InputError, match=r"column 'label': the training part holds one class \(a\).*change the split"):
        read(lambda g, _: "b" if g in outside else "a")
    rarer, _ = read(lambda g, i: "c" if g in outside else "ab"[i % 2])
    assert any("1 class(es) are not in the training part: c." in note for note in rarer.notes)


def test_a_schema_survives_json_and_reads_the_same_tables_the_same_way(write):
    nodes, edges = write(nodes=NODES, edges=EDGES)
    dataset, schema = read_tables(nodes, edges, target="label", words="notes")
    again = TableSchema.from_json(json.dumps(json.loads(schema.to_json())))
    assert again == schema
    new = again.apply(nodes, edges)
    for key in ("x", "edge_index", "edge_weight", "edge_attr", "y"):
        assert torch.equal(new.graphs[0][key], dataset.data[key])
    assert new.ids.to_list() == ["a", "b", "c", "d"]
    assert new.has_target


def test_a_schema_of_an_earlier_run_still_reads(write):
    nodes, edges = write(nodes=NODES, edges=EDGES)
    _, schema = read_tables(nodes, edges, target="label", words="notes")
    values = schema.to_dict()
    values["target"] |= {"mean": [1.5], "std": [0.5]}
    assert TableSchema.from_dict(values) == schema


def test_new_tables_report_unknown_categories_and_new_columns(write):
    nodes, edges = write(nodes=NODES, edges=EDGES)
    _, schema = read_tables(nodes, edges, target="label", ignore="notes")
    new_nodes, new_edges = write(
        new_nodes="id,age,colour,member,height\nz,15,purple,true,3\ny,15,red,false,3\n",
        new_edges="source,destination,weight,kind,since\nz,y,1,x,2001\n",
    )
    new = schema.apply(new_nodes, new_edges)
    assert not new.has_target
    assert new.graphs[0].x.tolist() == [[0, 0, 0, 1], [0, 0, 1, 0]]
    text = "\n".join(new.notes)
    assert "purple" in text
    assert "new since training, and not used: height" in text
    assert "new since training, and not used: since" in text


def test_new_tables_without_a_column_of_the_training_are_refused(write):
    nodes, edges = write(nodes=NODES, edges=EDGES)
    _, schema = read_tables(nodes, edges, target="label", ignore="notes")
    (bare,) = write(bare="id,colour,member\nz,red,true\n")
    with pytest.raises(InputError, match=r"bare.csv: there is no column 'age'"):
        schema.apply(bare, edges)


def test_new_graphs_keep_their_ids(write):
    graphs = "graph_id,value\n" + "".join(f"g{g},{g}.5\n" for g in range(10))
    nodes, edges, graphs = write(nodes=GRAPH_NODES, edges=GRAPH_EDGES, graphs=graphs)
    _, schema = read_tables(nodes, edges, graphs, target="value")
    new = schema.apply(nodes, edges)
    assert new.ids.to_list() == [f"g{g}" for g in range(10)]
    assert not new.has_target
    assert schema.apply(nodes, edges, graphs).has_target


finite = st.floats(-1e6, 1e6, allow_nan=False, width=32)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=30, deadline=None)
@given(values=st.lists(finite, min_size=6, max_size=30), data=st.data())
def test_scaling_never_looks_at_rows_outside_the_training_part(tmp_path, values, data):
    """Whatever stands in the other rows, the training rows are encoded alike, where these tell that it is numbers."""
    values[0] = 0.5
    half = len(values) // 2
    others = data.draw(st.lists(finite, min_size=len(values) - half, max_size=len(values) - half))

    def encoded(numbers):
        parts = ["train"] * half + ["test"] * (len(numbers) - half)
        frame = {
            "id": range(len(numbers)),
            "f": numbers,
            "label": [i % 2 for i in range(len(numbers))],
            "split": parts,
        }
        pl.DataFrame(frame).write_parquet(tmp_path / "n.parquet")
        pl.DataFrame({"source": [0], "target": [1]}).write_parquet(tmp_path / "e.parquet")
        return read_tables(tmp_path / "n.parquet", tmp_path / "e.parquet", target="label")[0].data.x[:half]

    assert torch.equal(encoded(values), encoded(values[:half] + others))


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=30, deadline=None)
@given(order=st.permutations(range(8)))
def test_the_order_of_the_rows_does_not_change_the_graph(tmp_path, order):
    """Rows of the node table in another order give the same graph, its nodes in that order."""
    ids, edges = [f"n{i}" for i in range(8)], [(0, 1), (1, 2), (5, 7), (3, 3), (6, 0)]
    feature, label = np.arange(8.0) ** 2, ["u", "v"] * 4
    pl.DataFrame({"source": [ids[a] for a, _ in edges], "target": [ids[b] for _, b in edges]}).write_csv(
        tmp_path / "e.csv"
    )

    def read(rows):
        pl.DataFrame(
            {"id": [ids[i] for i in rows], "f": feature[list(rows)], "label": [label[i] for i in rows]}
        ).write_csv(tmp_path / "n.csv")
        return read_tables(tmp_path / "n.csv", tmp_path / "e.csv", target="label", scaling="none")[0].data

    plain, shuffled = read(range(8)), read(order)
    place = torch.tensor(order)
    assert torch.equal(shuffled.x, plain.x[place])
    assert torch.equal(place[shuffled.edge_index], plain.edge_index)
    assert math.isclose(float(shuffled.x.sum()), float(plain.x.sum()))


def test_new_tables_whose_ids_start_anew_are_told_what_the_edges_need(tmp_path: Path):
    edges = tmp_path / "edges.csv"
    edges.write_text("source,target\n0,1\n2,3\n4,5\n6,7\n8,9\n")
    nodes, new = tmp_path / "nodes.csv", tmp_path / "new.csv"
    nodes.write_text("graph_id,id,f,label\n" + "".join(f"g{i // 2},{i},{i},{'ab'[i % 2]}\n" for i in range(10)))
    new.write_text("graph_id,id,f\n" + "".join(f"g{i // 2},{i % 2},{i}\n" for i in range(10)))
    _, schema = read_tables(nodes, edges, target="label")
    with pytest.raises(InputError, match="already, in another graph.*add the column 'graph_id' there"):
        schema.apply(new, edges)


def test_more_words_than_fit_into_memory_are_refused_with_the_columns_and_the_cure(write, monkeypatch):
    nodes, edges = write(nodes=NODES, edges=EDGES)
    monkeypatch.setattr("graphcon.data.tables.schema.MOST_NUMBERS", 30)
    with pytest.raises(InputError, match="the words of 'notes' make 10 numbers of every row.*--words-limit"):
        read_tables(nodes, edges, target="label", words="notes")
    read_tables(nodes, edges, target="label", ignore="notes")


def test_the_ids_of_tables_are_read_without_the_rest_of_them(write):
    nodes, edges = write(nodes=NODES, edges=EDGES)
    _, schema = read_tables(nodes, edges, target="label", words="notes")
    ids, graph_ids = schema.read_ids(nodes)
    assert ids.to_list() == schema.apply(nodes, edges).ids.to_list()
    assert graph_ids is None


def test_a_large_table_is_announced_once(write, monkeypatch, caplog):
    nodes, edges = write(nodes=NODES, edges=EDGES)
    caplog.set_level("INFO", "graphcon")
    monkeypatch.setattr("graphcon.data.tables.files.LARGE", len(NODES) - 1)
    for _ in range(2):
        read_tables(nodes, edges, target="label")
    assert [record.getMessage() for record in caplog.records] == [f"reading {nodes} (0 MB) ..."]


@pytest.mark.parametrize("unit", [1e-30, 1e-12, 1.0, 1e30])
def test_a_column_is_scaled_whatever_its_unit(write, unit):
    rows = [f"{i},{unit * i:.17g},{unit * 7:.17g},{'uv'[i % 2]},{'train' if i < 9 else 'test'}\n" for i in range(12)]
    nodes, edges = write(nodes="id,f,same,label,split\n" + "".join(rows), edges="source,target\n0,1\n")
    for scaling, scale in (("standard", np.arange(9).std()), ("minmax", 8)):
        dataset, schema = read_tables(nodes, edges, target="label", scaling=scaling)
        assert schema.columns[0].scale == pytest.approx((unit * scale,), abs=0)
        assert float(dataset.data.x[8, 0] - dataset.data.x[0, 0]) == pytest.approx(8 / scale)
        assert schema.columns[1].scale == (1.0,)  # a constant carries nothing to scale by


def test_a_category_that_is_written_as_missing_is_that_of_empty_cells(write):
    rows = [f"{i},{['(missing)', '', 'k'][i % 3]},{'uv'[i % 2]}\n" for i in range(12)]
    nodes, edges = write(nodes="id,c,label\n" + "".join(rows), edges="source,target\n0,1\n")
    dataset, schema = read_tables(nodes, edges, target="label", missing="mean")
    assert schema.columns[0].categories == ("(missing)", "k")
    assert dataset.data.x.tolist() == [[1, 0], [1, 0], [0, 1]] * 4


def test_answers_of_graphs_that_stand_in_the_node_table_too_are_no_features(write):
    parts = ["train"] * 6 + ["val"] * 2 + ["test"] * 2
    rows = "".join(f"g{g},{i},{g + i},{g}.5,{parts[g]}\n" for g in range(10) for i in range(3))
    graphs = "graph_id,value,split\n" + "".join(f"g{g},{g}.5,{parts[g]}\n" for g in range(10))
    nodes, edges, graphs = write(nodes="graph_id,id,f,value,split\n" + rows, edges=GRAPH_EDGES, graphs=graphs)
    dataset, schema = read_tables(nodes, edges, graphs, target="value")
    assert dataset.feature_names == ("f",)
    assert [note for note in dataset.notes if "nodes.csv: not used: value, split. Targets and splits" in note]
    assert set(schema.ignored) >= {"value", "split"}
    (new,) = write(new=GRAPH_NODES)
    assert schema.apply(new, edges).graphs[0].x.shape == (3, 1)
    for table in (nodes, new):
        assert not [note for note in schema.apply(table, edges).notes if "new since training" in note]
    chosen, _ = read_tables(nodes, edges, graphs, target="value", features="f")
    assert not [note for note in chosen.notes if "not used: value" in note]
    with pytest.raises(InputError, match="column 'value' is named as a feature and has another role"):
        read_tables(nodes, edges, graphs, target="value", features="value")
    with pytest.raises(InputError, match="column 'split' is named as a feature and has another role"):
        read_tables(nodes, edges, graphs, target="value", split_column="split", features=("f", "split"))


def test_columns_that_training_did_not_choose_are_not_new(write):
    nodes, edges = write(nodes=NODES, edges=EDGES)
    _, schema = read_tables(nodes, edges, target="label", features="age", edge_features=())
    assert not [note for note in schema.apply(nodes, edges).notes if "new since training" in note]
    # A name may have a role in one table and none in the other.
    nodes, edges = write(nodes=NODES.replace("colour", "kind"), edges=EDGES)
    _, schema = read_tables(nodes, edges, target="label", features="kind", edge_features=())
    assert schema.num_features == 2
    assert not [note for note in schema.apply(nodes, edges).notes if "new since training" in note]


def test_new_graphs_without_the_column_of_their_ids_are_refused(write):
    graphs = "graph_id,value\n" + "".join(f"g{g},{g}.5\n" for g in range(10))
    nodes, edges, graphs = write(nodes=GRAPH_NODES, edges=GRAPH_EDGES, graphs=graphs)
    _, schema = read_tables(nodes, edges, graphs, target="value")
    (bare,) = write(bare="value\n" + "".join(f"{g}.5\n" for g in range(10)))
    for with_target in (True, False):
        with pytest.raises(InputError, match=r"bare.csv: there is no column 'graph_id' for the ids of graphs"):
            schema.apply(nodes, edges, bare, with_target=with_target)


def test_what_nobody_reads_may_hold_any_decimals(write):
    cells = [f"{i};{i},5;{i}.500;{i * i},25" for i in range(12)]
    edges = [f"{i};{i + 1};{i}.500" for i in range(9)]
    nodes, edges = write(nodes="\n".join(["id;f;g;value", *cells]), edges="\n".join(["source;target;since", *edges]))
    german = {"delimiter": ";", "decimal": ",", "target": "value"}
    with pytest.raises(InputError, match="nodes.csv, row 2, column 'g': '0.500'.*With --decimal ,"):
        read_tables(nodes, edges, **german)
    with pytest.raises(InputError, match="edges.csv, row 2, column 'since': '0.500'.*With --decimal ,"):
        read_tables(nodes, edges, features="f", **german)
    dataset, schema = read_tables(nodes, edges, features="f", edge_features=(), **german)
    assert dataset.feature_names == ("f",)
    (new,) = write(new="\n".join(["id;f;more;value", *(cell.rsplit(";", 1)[0] + ";1.234" for cell in cells)]))
    assert schema.apply(new, edges, with_target=False).graphs[0].x.tolist() == dataset.data.x.tolist()
    with pytest.raises(InputError, match="new.csv, row 2, column 'value': '1.234'.*With --decimal ,"):
        schema.apply(new, edges)
    assert schema.read_ids(new)[0].to_list() == [str(i) for i in range(12)]
