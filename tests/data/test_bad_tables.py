"""Bad tables: exit code 2 and a message with file, row, column, rule and cure; never a traceback."""

import subprocess
import sys
import zipfile
from datetime import date, time, timedelta

import polars as pl
import pytest

from graphcon import cli
from graphcon.data import read_tables
from graphcon.errors import InputError

NODES = "id,f,label\n" + "".join(f"{i},{i}.5,{'uv'[i % 2]}\n" for i in range(10))
VALUES = "id,f,label\n" + "".join(f"{i},{i}.5,{i * i}.25\n" for i in range(10))
EDGES = "source,target\n" + "".join(f"{i},{(i + 1) % 10}\n" for i in range(10))


def with_row(text: str, row: int, line: str) -> str:
    """The text with a row of the file (the header is row 1) replaced."""
    lines = text.splitlines()
    lines[row - 1] = line
    return "\n".join(lines) + "\n"


CASES = {
    "an index without a name": (
        "\n".join(["," + NODES.splitlines()[0], *(f"{i}," + line for i, line in enumerate(NODES.splitlines()[1:]))]),
        EDGES,
        [],
        ["nodes.csv, row 1: column 1 has no name"],
    ),
    "a title above the names": (
        "Members of 2020\n" + NODES,
        EDGES,
        [],
        ["nodes.csv, row 1: 'Members of 2020' is one field", "delete what stands above the names"],
    ),
    "a title above the names, with empty cells": (
        "Members of 2020,,\n" + NODES,
        EDGES,
        [],
        ["nodes.csv, row 1: column 2 has no name", "delete a title that stands above the names"],
    ),
    "a word to Excel above the names": (
        "sep=;\n" + NODES.replace(",", ";"),
        EDGES,
        ["--delimiter", ";"],
        ["nodes.csv, row 1: 'sep=;' is a word to Excel", "Delete this row"],
    ),
    "semicolons and decimal commas": (
        NODES.replace(",", ";").replace(".5", ",5"),
        EDGES,
        [],
        ["nodes.csv, row 1", "but holds semicolons", "Say --delimiter ';'"],
    ),
    "rows that are empty": (
        NODES + ",,\n,,\n",
        EDGES,
        [],
        ["nodes.csv, row 12, column 'id': an empty cell (2 rows in all)", "fill it in, or delete the row"],
    ),
    "ids in a column of another name": (
        NODES.replace("id,", "name,"),
        with_row(EDGES, 2, "anna,1"),
        [],
        ["nodes.csv has no node of that id: it has no column called id", "with --id. It has: name, f, label"],
    ),
    "numbers of edges with a decimal comma": (
        NODES,
        "source,target,sum\n" + "".join(f'{i},{(i + 1) % 10},"{i}{j},5"\n' for i in range(10) for j in [*range(8), 0]),
        [],
        [
            "edges.csv, column 'sum': has",
            "write them with a decimal point, not as 00,5, or say --decimal ,",
            "--ignore sum",
        ],
    ),
    "dates of edges in another way of writing": (
        NODES,
        "source,target,on\n"
        + "".join(f"{i},{(i + 1) % 10},{j + 1}/{i + 1}/2020\n" for i in range(10) for j in [*range(8), 0]),
        [],
        ["edges.csv, column 'on': has", "write them as 2020-01-31, not as 1/1/2020"],
    ),
    "a share in percent": (
        NODES,
        EDGES,
        ["--train", "60"],
        ["--train 60, --val 0.2: a share is a number from 0 to 1"],
    ),
    "unknown id in edges": (
        NODES,
        with_row(EDGES, 4, "2,77"),
        [],
        ["edges.csv, row 4, column 'target': '77'", "no node of that id", "Add the node"],
    ),
    "an id with a point": (
        NODES,
        with_row(EDGES, 5, "3.0,4"),
        [],
        ["edges.csv, row 5, column 'source': '3.0'. nodes.csv has no node of that id"],
    ),
    "ids with a point in one table": (
        NODES,
        EDGES.replace(",", ".0,").replace("\n", ".0\n").replace("source.0,target.0", "source,target"),
        [],
        ["column 'source': '0.0' (10 rows in all)", "ids here are numbers with a point, there integers"],
    ),
    "an end of an edge with a space": (
        NODES,
        with_row(EDGES, 4, "2, 3"),
        [],
        ["edges.csv, row 4, column 'target': ' 3'.", "There is '3', which differs in spaces only: take them away."],
    ),
    "an id with a space": (
        with_row(NODES, 5, "3 ,3.5,v"),
        EDGES,
        [],
        ["edges.csv, row 5, column 'source': '3'.", "There is '3 ', which differs in spaces only: take them away."],
    ),
    "ids with zeros in one table": (
        NODES.replace("\n", "\n0").removesuffix("0"),
        EDGES,
        [],
        [
            "edges.csv, row 2, column 'source': '0' (10 rows in all)",
            "its column 'id', the first is '00'",
            "here are integers, there text",
            "the same way in both tables",
        ],
    ),
    "unknown text id": (
        NODES,
        with_row(EDGES, 4, "x,3"),
        [],
        ["edges.csv, row 4, column 'source': 'x'", "no node"],
    ),
    "duplicate ids": (
        with_row(NODES, 6, "1,9,u"),
        EDGES,
        [],
        ["nodes.csv, row 6, column 'id': '1'", "that of row 3 already"],
    ),
    "a row that is short and one that is long": (
        with_row(with_row(NODES, 5, "3,3.5"), 6, "4,4.5,u,9"),
        EDGES,
        [],
        ["nodes.csv, row 5: has 2 fields, the header has 3. Every row needs one field per column"],
    ),
    "empty id": (with_row(NODES, 6, ",9,u"), EDGES, [], ["nodes.csv, row 6, column 'id': an empty cell"]),
    "empty id in quotes": (
        with_row(NODES, 6, '"",9,u'),
        EDGES,
        [],
        ["nodes.csv, row 6, column 'id': an empty cell"],
    ),
    "empty feature in quotes": (
        with_row(NODES, 5, '3,"",v'),
        EDGES,
        [],
        ["nodes.csv, row 5, column 'f': an empty cell", "--missing"],
    ),
    "empty category in quotes": (
        with_row(NODES.replace(".5,", "x,").replace("8x", "1x").replace("9x", "2x"), 5, '3,"",v'),
        EDGES,
        [],
        ["nodes.csv, row 5, column 'f': an empty cell", "--missing"],
    ),
    "empty end of an edge": (
        NODES,
        with_row(EDGES, 3, "1,"),
        [],
        ["edges.csv, row 3, column 'target'", "two ends"],
    ),
    "no feature": (
        "id,label\n0,u\n1,v\n2,u\n3,v\n",
        "source,target\n0,1\n",
        [],
        ["nodes.csv: no column is a feature", "--degree"],
    ),
    "features that are left out": (
        "id,price,label\n" + "".join(f'{i},"{i},5",{"uv"[i % 2]}\n' for i in range(12)),
        EDGES,
        [],
        ["no column is a feature", "column 'price' is left out: it is text that differs in every row", "--decimal ,"],
    ),
    "a decimal comma among points": (
        with_row(NODES, 5, '3,"3,5",v'),
        EDGES,
        [],
        ["row 5, column 'f': '3,5'. Most cells of this column are numbers", "with a decimal point, not as 3,5"],
    ),
    "one class": (
        NODES.replace("v\n", "u\n"),
        EDGES,
        [],
        ["nodes.csv, column 'label': holds 1 class (u)", "two or more"],
    ),
    "one class in training": (
        "id,f,label,split\n0,1,u,train\n1,2,u,train\n2,3,v,val\n3,4,v,test\n",
        "source,target\n0,1\n",
        [],
        ["column 'label': the training part holds one class (u)", "change the split"],
    ),
    "missing target in training": (
        "id,f,label,split\n0,1,u,train\n1,2,,train\n2,3,v,train\n3,4,v,test\n",
        "source,target\n0,1\n",
        [],
        [
            "nodes.csv, row 3, column 'label': an empty cell",
            "in the train part",
            "leave its cell of 'split' empty",
        ],
    ),
    "NaN feature": (
        with_row(NODES, 5, "3,NaN,v"),
        EDGES,
        [],
        ["nodes.csv, row 5, column 'f'", "finite", "--missing"],
    ),
    "infinite feature": (
        with_row(NODES, 5, "3,inf,v"),
        EDGES,
        [],
        ["nodes.csv, row 5, column 'f': inf", "finite"],
    ),
    "too large a feature": (
        with_row(NODES, 5, "3,1e300,v"),
        EDGES,
        [],
        ["row 5, column 'f': 1e+300. A feature must lie between -3.4e38 and 3.4e38, the limits of float32"],
    ),
    "too large a target": (
        with_row(VALUES, 5, "3,1,-1e300"),
        EDGES,
        [],
        ["row 5, column 'label': -1e+300. A target must lie between -3.4e38 and 3.4e38"],
    ),
    "too large a weight": (
        NODES,
        "source,target,weight\n0,1,1\n1,2,1e300\n",
        [],
        ["edges.csv, row 3, column 'weight': 1e+300. A weight must lie between"],
    ),
    "empty feature": (
        with_row(NODES, 5, "3,,v"),
        EDGES,
        [],
        ["nodes.csv, row 5, column 'f': an empty cell", "--missing"],
    ),
    "text among numbers": (
        with_row(NODES, 5, "3,n/a,v"),
        EDGES,
        [],
        ["nodes.csv, row 5, column 'f': 'n/a'", "--null-values"],
    ),
    "overlapping split": (
        "id,f,label,tr,va,te\n0,1,u,1,0,0\n1,2,v,1,1,0\n2,3,v,0,1,0\n3,4,u,0,0,1\n",
        "source,target\n0,1\n",
        ["--split-column", "tr", "va", "te"],
        ["nodes.csv, row 3, column 'va'", "also marked in 'tr'", "must not overlap"],
    ),
    "unknown part": (
        "id,f,label,split\n0,1,u,train\n1,2,v,training\n2,3,v,tset\n3,4,u,val\n",
        "source,target\n0,1\n",
        [],
        ["nodes.csv, row 4, column 'split': 'tset'", "train, val or test"],
    ),
    "no training part": (
        "id,f,label,split\n0,1,u,test\n1,2,v,test\n2,3,v,val\n3,4,u,val\n",
        "source,target\n0,1\n",
        [],
        ["column 'split': no row is marked train"],
    ),
    "edge list of one column": (
        NODES,
        "source\n0\n1\n",
        [],
        ["edges.csv: has one column, 'source'", "needs two"],
    ),
    "empty file": ("", EDGES, [], ["nodes.csv: is empty", "header"]),
    "header only": ("id,f,label\n", EDGES, [], ["nodes.csv: has a header and no rows"]),
    "no edge to learn a feature of edges from": (
        NODES,
        "source,target,kind\n",
        [],
        ["edges.csv, column 'kind': every cell is empty", "--ignore kind"],
    ),
    "wrong delimiter": (
        NODES.replace(",", ";"),
        EDGES,
        [],
        ["nodes.csv, row 1", "semicolons", "--delimiter ';'"],
    ),
    "tabs": (NODES, EDGES.replace(",", "\t"), [], ["edges.csv, row 1", "tabs", "--delimiter"]),
    "no header": (
        NODES,
        EDGES.replace("source,target\n", ""),
        [],
        ["edges.csv, row 1", "numbers, not names", "header"],
    ),
    "too many fields": (
        with_row(NODES, 7, "5,1,u,9"),
        EDGES,
        [],
        ["nodes.csv, row 7: has 4 fields, the header has 3"],
    ),
    "too few fields": (with_row(NODES, 7, "5,1"), EDGES, [], ["nodes.csv, row 7: has 2 fields"]),
    "a quote left open before a number": (
        with_row(NODES, 7, '5,"0.3,v'),
        EDGES,
        [],
        ["nodes.csv, row 7: a quote opens in this row", "Close it"],
    ),
    "a quote left open before a text": (
        with_row(NODES, 7, '5,0.3,"v'),
        EDGES,
        [],
        ["nodes.csv, row 7: a quote opens in this row", "Close it"],
    ),
    "a quote left open before others": (
        with_row(with_row(with_row(NODES, 2, '0,0.5,"u"'), 7, '5,0.3,"v'), 9, '7,0.3,"v"'),
        EDGES,
        [],
        ["nodes.csv, row 7: a quote opens in this row"],
    ),
    "two quotes left open": (
        with_row(with_row(NODES, 7, '5,0.3,"v'), 9, '7,0.3,"v'),
        EDGES,
        [],
        ["nodes.csv, row 7: a quote opens in this row"],
    ),
    "a quote in a cell without quotes": (
        with_row(NODES, 7, '5,0.3,5" pipe'),
        EDGES,
        [],
        ["nodes.csv, row 7: a quote stands within a cell that is not in quotes. Put the cell in quotes"],
    ),
    "lines that end in two ways": (
        NODES.replace("\n", "\r", 3),
        EDGES,
        [],
        ["nodes.csv, row 1: lines end in two ways"],
    ),
    "two columns of a name": (
        NODES.replace("id,f,label", "id,f,f"),
        EDGES,
        ["--target", "f"],
        ["two columns are called 'f'"],
    ),
    "no such target": (
        NODES,
        EDGES,
        ["--target", "lable"],
        ["nodes.csv: there is no column 'lable'", "It has: id, f, label", "Did you mean 'label'?"],
    ),
    "a target in other letters": (NODES, EDGES, ["--target", "LABEL"], ["no column 'LABEL'", "Did you mean 'label'?"]),
    "a column to ignore in other letters": (
        NODES,
        EDGES,
        ["--ignore", "F"],
        ["--ignore F: no table has such a column", "Did you mean 'f'?"],
    ),
    "no such feature": (NODES, EDGES, ["--features", "g"], ["no column 'g' for --features"]),
    "a target twice": (NODES, EDGES, ["--target", "f", "f"], ["--target f: is named 2 times. Name it once."]),
    "a feature twice": (NODES, EDGES, ["--features", "f", "f"], ["--features f: is named 2 times", "once"]),
    "nothing to ignore": (
        NODES,
        EDGES,
        ["--ignore", "g"],
        ["--ignore g: no table has such a column", "They have: id, f, label, source, target"],
    ),
    "no such category": (NODES, EDGES, ["--categorical", "zip"], ["--categorical zip: no table has such a column"]),
    "no words kept": (NODES, EDGES, ["--words-limit", "0"], ["words_limit = 0, but must be at least 1"]),
    "target as feature": (
        NODES,
        EDGES,
        ["--features", "f", "label"],
        ["'label' is named as a feature", "take it out"],
    ),
    "ends not found": (
        NODES,
        EDGES.replace("source,target", "one,two").replace("\n", ",1\n").replace("two,1", "two,w"),
        [],
        ["no column is called 'source'", "--source"],
    ),
    "text as a weight": (
        NODES,
        "source,target,weight\n0,1,1\n1,2,high\n",
        [],
        ["edges.csv, row 3, column 'weight': 'high'. A weight must be a number", "--weight", "--ignore weight"],
    ),
    "negative weight": (
        NODES,
        "source,target,weight\n0,1,1\n1,2,-3\n",
        [],
        ["edges.csv, row 3, column 'weight': -3", "not below 0"],
    ),
    "regression on text": (
        NODES,
        EDGES,
        ["--kind", "regression"],
        ["nodes.csv, row 2, column 'label': 'u'", "Must be a number"],
    ),
    "infinite target": (
        NODES.replace("0,0.5,u", "0,0.5,inf").replace("u", "1.5").replace("v", "2.5"),
        EDGES,
        [],
        ["row 2, column 'label': inf", "finite"],
    ),
    "text among the values to predict": (
        with_row(VALUES, 5, "3,1,N/A"),
        EDGES,
        [],
        [
            "nodes.csv, row 5, column 'label': 'N/A'",
            "Most cells of this column are numbers",
            "--null-values",
            "--kind classification",
        ],
    ),
    "text among the classes that are numbers": (
        with_row(NODES.replace("u\n", "1\n").replace("v\n", "2\n"), 5, "3,1,unknown"),
        EDGES,
        [],
        ["nodes.csv, row 5, column 'label': 'unknown'", "--kind classification"],
    ),
    "nan as the target": (with_row(VALUES, 5, "3,1,nan"), EDGES, [], ["row 5, column 'label': 'nan'", "finite"]),
    "inf as the target": (with_row(VALUES, 5, "3,1,inf"), EDGES, [], ["row 5, column 'label': inf", "finite"]),
    "nan where values are said": (
        with_row(VALUES, 5, "3,1,nan"),
        EDGES,
        ["--kind", "regression"],
        ["row 5, column 'label': 'nan'", "finite"],
    ),
    "nan where classes are said": (
        with_row(VALUES, 5, "3,1,nan"),
        EDGES,
        ["--kind", "classification"],
        ["row 5, column 'label': 'nan'", "finite"],
    ),
    "text among several targets": (
        with_row(VALUES, 5, "3,N/A,1.5"),
        EDGES,
        ["--target", "f", "label"],
        ["row 5, column 'f': 'N/A'", "--null-values"],
    ),
    "negative seed": (NODES, EDGES, ["--seed", "-1"], ["--seed -1", "must not be negative"]),
    "shares above one": (
        NODES,
        EDGES,
        ["--train", "0.8", "--val", "0.4"],
        ["--train 0.8, --val 0.4", "both together at most 1"],
    ),
    "an ending that says nothing": (NODES, None, ["--edges", "edges.xlsx"], ["edges.xlsx"]),
    "empty column": (
        "id,f,label\n0,,u\n1,,v\n2,,u\n3,,v\n",
        "source,target\n0,1\n",
        [],
        ["column 'f'", "every cell is empty", "--ignore f"],
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_bad_tables_end_in_exit_code_2_and_a_message_that_teaches(case, tmp_path, monkeypatch, capsys):
    nodes, edges, options, expected = CASES[case]
    monkeypatch.chdir(tmp_path)
    (tmp_path / "nodes.csv").write_text(nodes, newline="")
    (tmp_path / "edges.csv").write_text(edges or "", newline="")
    arguments = ["data", "--nodes", "nodes.csv", "--edges", "edges.csv"]
    arguments += [] if "--target" in options else ["--target", "label"]
    if edges is None:
        arguments[4] = options[1]
        (tmp_path / options[1]).write_text("x")
        options = []
    assert cli.main(arguments + options) == 2
    message = capsys.readouterr().err
    assert message.startswith("graphcon: ")
    assert "Traceback" not in message
    for part in expected:
        assert part in message, message


def test_the_same_from_a_process_of_its_own(tmp_path):
    (tmp_path / "nodes.csv").write_text(NODES)
    (tmp_path / "edges.csv").write_text(with_row(EDGES, 4, "2,77"))
    command = [sys.executable, "-m", "graphcon.cli", "data", "--nodes", "nodes.csv", "--edges", "edges.csv"]
    done = subprocess.run([*command, "--target", "label"], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert done.stderr.startswith("graphcon: edges.csv, row 4, column 'target': '77'.")
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("name", ["nodes.xlsx", "nodes.csv"])
def test_a_workbook_is_called_one_and_its_cure_told(tmp_path, monkeypatch, capsys, name):
    monkeypatch.chdir(tmp_path)
    with zipfile.ZipFile(name, "w") as book:
        book.writestr("xl/workbook.xml", "<workbook/>")
    (tmp_path / "edges.csv").write_text(EDGES)
    assert cli.main(["data", "--nodes", name, "--edges", "edges.csv", "--target", "label"]) == 2
    told = capsys.readouterr().err
    assert f"{name}: is a workbook" in told
    assert "Save the sheet as CSV UTF-8" in told


def test_a_table_in_the_place_of_a_recipe_is_told_its_option(capsys):
    assert cli.main(["train", "nodes.csv", "--target", "label"]) == 2
    assert "nodes.csv: is a table" in (told := capsys.readouterr().err)
    assert "--nodes nodes.csv --edges FILE --target COLUMN" in told


def test_a_graph_that_is_torn_between_parts_is_told_by_the_row_that_lies_apart(tmp_path):
    """The nodes of graphs a and b are whole; of c the second row is in another part."""
    parts = ["train", "train", "val", "val", "train", "test", "test", "test"]
    rows = [f"{'aabbccdd'[i]},{i},{i},{i % 2},{part}\n" for i, part in enumerate(parts)]
    nodes, edges = tmp_path / "nodes.csv", tmp_path / "edges.csv"
    nodes.write_text("graph_id,id,f,label,split\n" + "".join(rows))
    edges.write_text("source,target\n0,1\n2,3\n")
    with pytest.raises(InputError, match="row 7, column 'split': 'test'. Other nodes of this graph are in the train"):
        read_tables(nodes, edges, target="label")


def test_what_is_not_utf_8_is_told_the_row(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "nodes.csv").write_bytes(NODES.replace("4.5,u", "4.5,gr\u00fcn").encode("latin-1"))
    (tmp_path / "edges.csv").write_text(EDGES)
    assert cli.main(["data", "--nodes", "nodes.csv", "--edges", "edges.csv", "--target", "label"]) == 2
    assert (
        "nodes.csv, row 6: is not UTF-8. Save the file with that encoding; in Excel as CSV UTF-8."
        in capsys.readouterr().err
    )


def test_a_parquet_file_that_is_none_is_refused(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "nodes.parquet").write_text(NODES)
    (tmp_path / "edges.csv").write_text(EDGES)
    assert cli.main(["data", "--nodes", "nodes.parquet", "--edges", "edges.csv", "--target", "label"]) == 2
    assert "nodes.parquet: is no Parquet file" in capsys.readouterr().err


def test_lists_of_different_lengths_and_times_of_day_are_refused(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "edges.csv").write_text(EDGES)
    arguments = ["data", "--nodes", "nodes.parquet", "--edges", "edges.csv", "--target", "label"]
    frame = pl.DataFrame({"id": range(10), "label": ["u", "v"] * 5, "v": [[1.0, 2.0]] * 9 + [[1.0]]})
    frame.write_parquet(tmp_path / "nodes.parquet")
    assert cli.main(arguments) == 2
    assert "nodes.parquet, row 10, column 'v'" in capsys.readouterr().err
    frame.with_columns(v=pl.Series([[1.0, 2.0]] * 9 + [[1.0, 1e300]])).write_parquet(tmp_path / "nodes.parquet")
    assert cli.main(arguments) == 2
    assert "nodes.parquet, row 10, column 'v'" in capsys.readouterr().err
    times = pl.time_range(pl.time(1), pl.time(10), interval="1h", eager=True)
    frame.with_columns(times.alias("v")).write_parquet(tmp_path / "nodes.parquet")
    assert cli.main(arguments) == 2
    assert "column 'v': holds Time" in capsys.readouterr().err


@pytest.mark.parametrize("column", ["id", "label", "split", "category", "graph_id"])
@pytest.mark.parametrize("cell", [["a", "b"], [1.0], timedelta(days=1), time(9), b"x", {"a": 1}])
def test_cells_of_parquet_that_hold_no_single_value_are_refused(column, cell, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "edges.csv").write_text(EDGES)
    frame = pl.DataFrame({"id": range(10), "f": [i / 2 for i in range(10)], "label": ["u", "v"] * 5})
    frame = frame.with_columns(pl.Series(column, [cell] * 10))
    frame.write_parquet(tmp_path / "nodes.parquet")
    arguments = ["data", "--nodes", "nodes.parquet", "--edges", "edges.csv", "--target", "label"]
    arguments += ["--categorical", "category"] if column == "category" else []
    assert cli.main(arguments) == 2
    message = capsys.readouterr().err
    assert f"nodes.parquet, column '{column}': holds {frame.schema[column]}." in message
    assert "must be a number, a text, a truth value or a date: convert it" in message


def test_cells_that_are_lists_or_dates_are_shown_plainly(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "edges.csv").write_text(EDGES)
    arguments = ["data", "--nodes", "nodes.parquet", "--edges", "edges.csv", "--target", "label"]
    frame = pl.DataFrame({"id": range(10), "label": ["u", "v"] * 5, "v": [[1.0, 2.0, 3.0, 4.0]] * 9 + [[1.0]]})
    frame[::-1].write_parquet(tmp_path / "nodes.parquet")
    assert cli.main(arguments) == 2
    assert "nodes.parquet, row 1, column 'v': [1.0]. All lists of a column" in capsys.readouterr().err
    frame.with_columns(v=pl.Series([[1.0] * 4] * 9 + [[1.0] * 5])).write_parquet(tmp_path / "nodes.parquet")
    assert cli.main(arguments) == 2
    assert "row 10, column 'v': [1.0, 1.0, 1.0, ...]. All lists of a column" in capsys.readouterr().err
    days = pl.date_range(date(2020, 1, 1), date(2020, 1, 10), eager=True)
    frame.with_columns(id=days, v=pl.lit(1.5)).write_parquet(tmp_path / "nodes.parquet")
    assert cli.main(arguments) == 2
    assert "the first is 2020-01-01)" in capsys.readouterr().err


def test_graphs_that_do_not_fit_are_refused(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "nodes.csv").write_text("id,graph_id,f\n0,a,1\n1,a,2\n2,b,3\n3,b,4\n")
    (tmp_path / "edges.csv").write_text("source,target\n0,2\n")
    (tmp_path / "graphs.csv").write_text("graph_id,y\na,1.5\nb,2.5\n")
    arguments = [
        "data",
        "--nodes",
        "nodes.csv",
        "--edges",
        "edges.csv",
        "--graphs",
        "graphs.csv",
        "--target",
        "y",
    ]
    assert cli.main(arguments) == 2
    assert "edges.csv, row 2, column 'target': '2'. The edge joins nodes of two graphs" in capsys.readouterr().err
    (tmp_path / "edges.csv").write_text("source,target\n0,1\n")
    (tmp_path / "graphs.csv").write_text("graph_id,y\na,1.5\n")
    assert cli.main(arguments) == 2
    assert "nodes.csv, row 4, column 'graph_id': 'b'" in capsys.readouterr().err
    (tmp_path / "graphs.csv").write_text("graph_id,y\na,1.5\nb,2.5\nc,3\n")
    assert cli.main(arguments) == 2
    assert "graphs.csv, row 4, column 'graph_id': 'c'" in capsys.readouterr().err


def test_an_edge_between_graphs_is_told_once_in_training_and_in_prediction(tmp_path):
    (tmp_path / "nodes.csv").write_text("graph_id,id,f,y\n" + "".join(f"g{i // 2},{i},{i},{i}\n" for i in range(12)))
    good, bad = tmp_path / "good.csv", tmp_path / "bad.csv"
    good.write_text("source,target\n0,1\n")
    bad.write_text("source,target\n0,1\n1,2\n")
    _, schema = read_tables(tmp_path / "nodes.csv", good, target="y")
    rule = r"bad.csv, row 3, column 'target': '2'\. The edge joins nodes of two graphs"
    with pytest.raises(InputError, match=rule):
        read_tables(tmp_path / "nodes.csv", bad, target="y")
    with pytest.raises(InputError, match=rule):
        schema.apply(tmp_path / "nodes.csv", bad)


@pytest.mark.parametrize(
    ("edges", "expected"),
    [
        (
            "graph_id,source,target\na,0,1\nc,0,1\n",
            "edges.csv, row 3, column 'graph_id': 'c'. nodes.csv has no graph of that id in its column 'graph_id'.",
        ),
        ("graph_id,source,target\na,0,1\n,0,1\n", "edges.csv, row 3, column 'graph_id': an empty cell."),
        (
            "graph_id,source,target\na,0,1\nb,0,2\n",
            "edges.csv, row 3, column 'target': '2'. nodes.csv has no node of that id in graph 'b' (ids are",
        ),
        (
            "source,target\n0,1\n0,1\n",
            "nodes.csv, row 5, column 'id': '0' (2 rows in all). The id is that of row 2 already, in another graph. "
            "Where ids start anew in every graph, the edge table must tell the graph of every edge too: add the column "
            "'graph_id' there.",
        ),
    ],
)
def test_edges_that_fit_no_graph_are_told_which(edges, expected, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "nodes.csv").write_text("graph_id,id,f,y\na,0,1,1\na,1,2,2\na,2,2,2\nb,0,3,3\nb,1,4,4\n")
    (tmp_path / "edges.csv").write_text(edges)
    assert cli.main(["data", "--nodes", "nodes.csv", "--edges", "edges.csv", "--target", "y"]) == 2
    message = capsys.readouterr().err
    assert expected in message
    assert "spaces" not in message  # that another graph has such an id is no help


def _targets(values) -> str:
    return "id,f,label\n" + "".join(f"{i},{i}.5,{value}\n" for i, value in enumerate(values))


@pytest.mark.parametrize("target", ["label", ["f", "label"]])
def test_values_that_single_precision_cannot_tell_apart_are_refused(tmp_path, target):
    nodes, edges = tmp_path / "nodes.csv", tmp_path / "edges.csv"
    edges.write_text(EDGES)
    nodes.write_text(_targets(f"{1_700_000_000 + i}.5" for i in range(10)))
    rule = r"nodes.csv, column 'label': its values lie around 1.7e\+09 and differ by some 2.87 only.*steps of 128 there"
    with pytest.raises(InputError, match=rule + ".*Subtract a constant from the column, or write it in another unit"):
        read_tables(nodes, edges, target=target)
    nodes.write_text(_targets(f"{-0.25 - i * 1e-8:.9f}" for i in range(10)))
    with pytest.raises(InputError, match="keeps too few digits"):
        read_tables(nodes, edges, target=target)


@pytest.mark.parametrize(
    "values",
    [
        [52.4 + i * 0.021 % 0.1 for i in range(10)],  # latitudes in a town
        [2000.5 + i for i in range(10)],
        [293.15 + i / 10 for i in range(10)],
        [16_000_000 + i for i in range(10)],  # whole numbers that float32 holds
        [0.1] * 10,  # a constant
        [1e-30 * i for i in range(10)],
        [1e30 * i for i in range(10)],
    ],
)
def test_values_that_single_precision_holds_are_read(tmp_path, values):
    nodes, edges = tmp_path / "nodes.csv", tmp_path / "edges.csv"
    edges.write_text(EDGES)
    nodes.write_text(_targets(values))
    dataset, _ = read_tables(nodes, edges, target="label", kind="regression")
    assert dataset.data.y.tolist() == pytest.approx(values, abs=0, rel=1e-7)
