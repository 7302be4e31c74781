"""What is done with a run: predict, measure, export, search, from Python and from the command line."""

import io
import json
import math
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
import scipy.sparse as sp
import torch

from folders import contents
from graphcon._console import make_console
from graphcon.cli import main
from graphcon.errors import InputError
from graphcon.report.evidence import Evidence
from graphcon.training import export, predict, recipes, run
from graphcon.training.config import DataConfig, ModelConfig, Recipe
from graphcon.training.folder import RunFolder
from graphcon.training.load_data import load_dataset
from graphcon.training.progress import reporting


def command(*arguments: object, cwd: Path) -> subprocess.CompletedProcess[str]:
    line = [sys.executable, "-m", "graphcon.cli", *map(str, arguments)]
    return subprocess.run(line, cwd=cwd, capture_output=True, text=True, check=False)


def strict_json(text: str) -> dict[str, Any]:
    return json.loads(text, parse_constant=lambda word: pytest.fail(f"{word} is no JSON"))


def test_own_tables_go_all_the_way_to_labels_for_new_ones(own: Path):
    metrics = json.loads((own / "run/metrics.json").read_text())
    assert metrics["test"]["accuracy"] > 0.7
    new = ("--nodes", "new_nodes.parquet", "--edges", "new_edges.csv")
    done = command("predict", "run", *new, "--out", "answers.csv", cwd=own)
    assert done.returncode == 0, done.stderr
    answers = pl.read_csv(own / "answers.csv")
    assert answers.columns == ["id", "predicted", "probability blue", "probability red"]
    assert answers["id"].to_list() == [f"n{i}" for i in range(20)]
    assert set(answers["predicted"]) <= {"red", "blue"}
    assert (answers["probability blue"] + answers["probability red"] - 1).abs().max() < 1e-5
    truth = ["blue" if i % 2 else "red" for i in range(20)]
    assert sum(a == b for a, b in zip(answers["predicted"], truth, strict=True)) >= 14


def test_the_training_graph_is_predicted_without_naming_it(own: Path, monkeypatch):
    monkeypatch.chdir(own)
    assert main(["predict", "run", "--out", "answers.parquet"]) == 0
    assert pl.read_parquet(own / "answers.parquet")["id"].to_list() == [f"n{i}" for i in range(60)]


def test_answers_for_nodes_of_many_graphs_name_the_graph_and_stand_in_the_order_of_the_rows(tmp_path, monkeypatch):
    """Ids start anew in every graph, and rows of graphs are mixed."""
    monkeypatch.chdir(tmp_path)
    rows = [f"0{g},{i},{g + i},{(g + i) / 4}\n" for i in range(3) for g in range(8)]
    Path("nodes.csv").write_text("molecule,id,f,value\n" + "".join(rows))
    edges = [f"0{g},{i},{i + 1}\n" for g in range(8) for i in range(2)]
    Path("edges.csv").write_text("molecule,source,target\n" + "".join(edges))
    data = "--nodes nodes.csv --edges edges.csv --target value --graph-id molecule"
    settings = "--model.channels 4 --model.steps 2 --trainer.epochs 2 --trainer.threads 1"
    assert main(["train", *data.split(), *settings.split(), "--out", "run"]) == 0
    assert main(["predict", "run", "--nodes", "nodes.csv", "--edges", "edges.csv", "--out", "answers.csv"]) == 0
    answers = pl.read_csv("answers.csv", infer_schema=False)
    assert answers.columns == ["molecule", "id", "predicted value"]
    assert answers.select("molecule", "id").rows() == [(f"0{g}", f"{i}") for i in range(3) for g in range(8)]
    run_on_tables = Evidence.gather(Path("run"))
    graphs = predict.answers(run.load("run"), run_on_tables.dataset.graphs).reshape(8, 3)
    assert answers["predicted value"].cast(float).to_list() == pytest.approx(graphs.T.flatten().tolist(), rel=1e-5)
    graph = int(run_on_tables.dataset.split.test[0])
    assert run_on_tables.ids[:2] == [f"node 0 of graph 0{graph}", f"node 1 of graph 0{graph}"]


def test_answers_are_written_as_the_tables_of_the_training_are(tmp_path: Path, monkeypatch):
    """A spreadsheet that writes semicolons and decimal commas reads nothing else as a table of numbers."""
    monkeypatch.chdir(tmp_path)
    rows = "".join(f"n{i};{i},5;{'uv'[i % 2]}\n" for i in range(12))
    Path("nodes.csv").write_text("id;f;label\n" + rows)
    Path("edges.csv").write_text("source;target\n" + "".join(f"n{i};n{i + 1}\n" for i in range(11)))
    data = ["--nodes", "nodes.csv", "--edges", "edges.csv", "--target", "label", "--delimiter", ";", "--decimal", ","]
    assert main(["train", *data, *SMALL, "--out", "run"]) == 0
    assert main(["predict", "run", "--out", "answers.csv"]) == 0
    assert Path("answers.csv").read_text().startswith("id;predicted;probability u;probability v\nn0;")
    answers = pl.read_csv("answers.csv", separator=";", decimal_comma=True)
    assert (answers["probability u"] + answers["probability v"] - 1).abs().max() < 1e-5


def test_a_recipe_for_a_named_set_is_taken_for_own_tables(own: Path, tmp_path: Path, monkeypatch, capsys):
    monkeypatch.chdir(own)
    tables = ["--nodes", "nodes.csv", "--edges=edges.csv", "--target", "label", "--out", str(tmp_path / "run")]
    assert main(["train", "texas-plain-gcn", *tables, "--trainer.epochs", "2"]) == 0
    assert "Own tables take the place of texas; the rest is as the recipe has it" in capsys.readouterr().err
    used, packaged = recipes.load(tmp_path / "run" / "recipe.toml"), recipes.load("texas-plain-gcn")
    assert (used.model, used.optimizer) == (packaged.model, packaged.optimizer)
    assert (used.data.name, used.data.table.undirected) == (None, False)
    assert main(["train", "texas-plain-gcn", *tables, "--data", "cora"]) == 2
    assert "name a set or own tables, not both" in capsys.readouterr().err


def test_a_run_needs_nothing_but_its_folder(own: Path, tmp_path: Path):
    new = (own / "new_nodes.parquet", own / "new_edges.csv")
    shutil.copytree(own / "run", tmp_path / "moved")
    again, _ = predict.predict(run.load(own / "run"), *new)
    for file in ("nodes.csv", "edges.csv", "run"):
        (own / file).rename(own / f"hidden {file}")
    try:
        table, _ = predict.predict(run.load(tmp_path / "moved"), *new)
    finally:
        for file in ("nodes.csv", "edges.csv", "run"):
            (own / f"hidden {file}").rename(own / file)
    assert table.equals(again)


def test_given_tables_are_measured(own: Path, monkeypatch, capsys):
    monkeypatch.chdir(own)
    assert main(["evaluate", "run", "--nodes", "nodes.csv", "--edges", "edges.csv", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["given"]["accuracy"] > 0.7
    assert told["rows"] == 59  # of 60 one has no label
    assert main(["evaluate", "run", "--nodes", "new_nodes.parquet", "--edges", "new_edges.csv"]) == 2
    assert "has no column 'label' to compare with" in capsys.readouterr().err


def test_what_there_is_to_know_of_given_tables_is_told_where_they_are_measured(own: Path, tmp_path, capsys):
    nodes, edges = pl.read_csv(own / "nodes.csv"), ["--edges", str(own / "edges.csv")]
    nodes.with_columns(pl.lit("elsewhere").alias("town")).write_csv(tmp_path / "moved.csv")
    line = ["evaluate", str(own / "run"), "--nodes", str(tmp_path / "moved.csv"), *edges]
    assert main(line) == 0
    told = " ".join(capsys.readouterr().out.split())
    assert "elsewhere" in told
    assert "Rows with a target: 59" in told
    assert main([*line, "--json"]) == 0
    assert any("elsewhere" in note for note in json.loads(capsys.readouterr().out)["notes"])
    nodes.with_columns(pl.lit(None).alias("label")).write_csv(tmp_path / "blank.csv")
    assert main(["evaluate", str(own / "run"), "--nodes", str(tmp_path / "blank.csv"), *edges]) == 2
    assert "blank.csv: column 'label' is empty, so there is nothing to compare with" in capsys.readouterr().err


def test_graphs_are_measured_by_their_own_table(tmp_path: Path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    Path("nodes.csv").write_text("graph_id,id,f\n" + "".join(f"g{i // 2},{i},{i % 5}\n" for i in range(40)))
    Path("edges.csv").write_text("source,target\n" + "".join(f"{i},{i + 1}\n" for i in range(0, 40, 2)))
    Path("graphs.csv").write_text("graph_id,y\n" + "".join(f"g{i},{i / 4}\n" for i in range(20)))
    Path("bare.csv").write_text("graph_id\n" + "".join(f"g{i}\n" for i in range(20)))
    tables = ["--nodes", "nodes.csv", "--edges", "edges.csv"]
    assert main(["train", *tables, "--graphs", "graphs.csv", "--target", "y", *SMALL, "--out", "run"]) == 0
    assert main(["evaluate", "run", *tables, "--graphs", "graphs.csv"]) == 0
    assert "Rows with a target: 20" in capsys.readouterr().out
    assert main(["evaluate", "run", *tables]) == 2
    assert "--graphs is missing: graphs have the target 'y'" in capsys.readouterr().err
    assert main(["evaluate", "run", *tables, "--graphs", "bare.csv"]) == 2
    assert "bare.csv: has no column 'y' to compare with" in capsys.readouterr().err


def test_numbers_that_were_divided_in_training_are_divided_in_new_tables_too(tmp_path: Path, monkeypatch, capsys):
    """The same tables, named or not, are the same data: their answers and their metrics are the same."""
    monkeypatch.chdir(tmp_path)
    rows = [f"{i},{5 * i % 23},{7 * i % 11},{'ab'[i % 2]},{('train', 'test')[i % 3 == 0]}" for i in range(24)]
    Path("nodes.csv").write_text("\n".join(["id,f,g,label,split", *rows]))
    Path("tested.csv").write_text("\n".join(["id,f,g,label,split", *(row for row in rows if row.endswith("test"))]))
    Path("edges.csv").write_text("source,target\n")  # so that nodes that are held out can stand alone
    data = "--nodes nodes.csv --edges edges.csv --target label --scaling none --data.normalize"
    settings = "--model.channels 4 --model.steps 1 --trainer.epochs 20 --trainer.threads 1"
    assert main(["train", *data.split(), *settings.split(), "--out", "run"]) == 0
    trained = run.load("run")
    table, _ = predict.predict(trained, Path("nodes.csv"), Path("edges.csv"))
    seen = predict.answers(trained, trained.dataset().graphs).softmax(-1)
    torch.testing.assert_close(table["probability a"].to_torch(), seen[:, 0])
    held_out = json.loads(Path("run/metrics.json").read_text())["test"]
    measured = predict.score(trained, Path("tested.csv"), Path("edges.csv"), None)
    assert (measured.metrics, measured.rows) == (pytest.approx(held_out), 8)
    capsys.readouterr()
    assert main(["export", "run"]) == 0
    assert "x / x.sum(-1, keepdim=True).clamp(min=1)" in capsys.readouterr().out


def test_ids_in_a_column_that_is_called_as_the_answers_are_stay_beside_these(own: Path, tmp_path: Path):
    pl.read_csv(own / "nodes.csv").rename({"id": "predicted"}).write_csv(tmp_path / "nodes.csv")
    data = ["--nodes", str(tmp_path / "nodes.csv"), "--edges", str(own / "edges.csv"), "--target", "label"]
    settings = ["--model.channels", "4", "--model.steps", "1", "--trainer.epochs", "1", "--trainer.threads", "1"]
    assert main(["train", *data, "--id", "predicted", *settings, "--out", str(tmp_path / "run")]) == 0
    table, _ = predict.predict(run.load(tmp_path / "run"))
    assert table.columns[:2] == ["predicted (id)", "predicted"]
    assert table["predicted (id)"].to_list() == [f"n{i}" for i in range(60)]
    assert set(table["predicted"]) <= {"red", "blue"}


def test_of_several_runs_one_is_to_be_named(tmp_path: Path, capsys):
    for name in ("split-0-seed-0", "split-0-seed-1"):
        (tmp_path / "runs" / name).mkdir(parents=True)
        (tmp_path / "runs" / name / "recipe.toml").write_text("")
    assert main(["evaluate", str(tmp_path / "runs")]) == 2
    named = tmp_path / "runs" / "split-0-seed-0"
    assert f"{tmp_path / 'runs'}: is no run, but holds 2 runs. Name one, such as {named}" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("predict", "run", "--out", "a.txt"), "must end in .csv or .parquet"),
        (("predict", "none", "--out", "a.csv"), "there is no run in it"),
        (("predict", "run", "--nodes", "nodes.csv", "--out", "a.csv"), "--edges is missing"),
        (("predict", "run", "--nodes", "gone.csv", "--edges", "edges.csv", "--out", "a.csv"), "there is no such file"),
        (("export", "run", "--out", "a.onnx"), "must end in .pt2"),
        (("train", "--nodes", "nodes.csv"), "--edges is missing"),
        (("train",), "no data: name a recipe"),
        (("train", "--ignore", "a", "--ignore=b c"), "--ignore is given 2 times. Name all after one: --ignore a 'b c'"),
        (("data", "--null-values", "NA", "--null_values", "-"), "Name all after one: --null-values NA -"),
        (("tune", "--data.table.target", "a", "--target", "b"), "--target is given 2 times"),
        (("train", "cora-gcn", "--split", "some"), "must be a number, several"),
        (("train", "cora-gcn", "--split", "²"), "--split ²: must be a number"),
        (("diagnose", "--compare", "gcn", "--depths", "2,²"), "--depths 2,²: must be whole numbers"),
        (("diagnose", "--compare", ","), "--compare ,: name at least one"),
        (("diagnose", "--compare", "gcn", "--train", "--epochs", "0"), "trainer.epochs = 0, but must be at least 1"),
        (
            ("diagnose", "run", "--depths", "4", "--train", "--channels", "9", "--data", "nothing"),
            "graphcon diagnose run: --depths, --data, --channels, --train cannot be given with it",
        ),
        (
            ("reproduce", "page", "--only", "x", "--budget", "paper", "--workers", "5"),
            "graphcon reproduce page: --budget, --workers, --only cannot be given with it, it trains nothing",
        ),
        (("reproduce", "energy", "--at", "64 layers"), "graphcon reproduce energy: --at cannot be given with it"),
        (("reproduce", "zinc", "--only", ","), "--only ,: name at least one"),
        (
            ("data", "cora", "--limit", "5", "--adjacency", "regions", "--out", "t"),
            "graphcon data cora: --out, --adjacency, --limit cannot be given with it, it is for a build",
        ),
        (("data", "build", "mnist-superpixels", "--json"), "graphcon data build: --json cannot be given with it"),
        (("data", "cora", "--edges", "edges.csv"), "'cora' and --nodes or --edges: name a set or own tables"),
        (("bench", "--threads", "0"), "--threads 0: must be at least 1"),
        (("train", "cora-gcn", "--split", "0,1,0"), "names split 0 twice"),
        (("train", "cora-gcn", "--workers", "0", "--seeds", "2"), "--workers 0: must be at least 1"),
        (
            ("train", "cora-gcn", "--workers", "2"),
            "--workers 2: there is one training, which one process does. --split",
        ),
        (
            ("compare", "cora-gcn", "--models", "gcn", "--depths", "2", "--seeds", "1", "--workers", "2"),
            "More --models",
        ),
        (("tune", "cora-gcn", "--out", "t", "--workers", "0"), "--workers 0: must be at least 1"),
        (("demo", "--out", "run"), "holds a run"),
        (("compare", "--data", "cora", "--out", "run"), "holds a run"),
        (("train", "--resume", "none"), "there is no run in it"),
        (("tune", "--trials", "1"), "no data: name a recipe"),
        (("tune", "cora-gcn", "--out", "t", "--trials", "0"), "--trials 0: must be at least 1"),
        (("tune", "cora-gcn", "--out", "t", "--finalists", "0"), "--finalists 0: must be at least 1"),
        (("tune", "cora-gcn", "--out", "t", "--seeds", "0"), "--seeds 0: at least one is needed"),
        (("train", "cora-gcn", "--out", "t", "--seeds", "0"), "--seeds 0: at least one is needed"),
        (("train", "cora-gcn", "--devices", "2", "--seeds", "2"), "--devices 2: is for a single training"),
        (("compare", "--data", "cora", "--devices", "2"), "--devices 2: is for a single training"),
        # What else is wrong keeps a search that would take two devices from starting this program once more.
        (("tune", "cora-gcn", "--devices", "2", "--trials", "0"), "--devices 2: is for a single training"),
    ],
)
def test_bad_input_leaves_with_2_and_the_cure(own: Path, arguments: tuple[str, ...], message: str, monkeypatch, capsys):
    monkeypatch.chdir(own)
    before = sorted(path.name for path in own.iterdir())
    assert main(list(arguments)) == 2
    assert message in capsys.readouterr().err
    assert sorted(path.name for path in own.iterdir()) == before


@pytest.mark.parametrize(
    ("given", "out"),
    [
        ("--nodes copy.csv --edges edges.csv", "copy.csv"),
        ("--nodes nodes.csv --edges copy.csv", "../{here}/copy.csv"),
        ("--nodes copy.csv --edges edges.csv", "nodes.csv"),  # of the training
        ("", "edges.csv"),
        ("", "link.csv"),
    ],
)
def test_answers_never_replace_a_table(own: Path, given: str, out: str, monkeypatch, capsys):
    monkeypatch.chdir(own)
    shutil.copy("nodes.csv", "copy.csv")
    (own / "link.csv").unlink(missing_ok=True)
    (own / "link.csv").symlink_to("nodes.csv")
    before = contents(own)
    out = out.format(here=own.name)
    assert main(["predict", "run", *given.split(), "--out", out]) == 2
    told = capsys.readouterr().err
    assert f"--out {out}: is the table" in told
    assert "Name another file" in told
    assert contents(own) == before
    for name in ("copy.csv", "link.csv"):
        (own / name).unlink()


def test_predict_recommends_what_it_can_follow(own: Path, tmp_path: Path, monkeypatch, capsys):
    monkeypatch.chdir(own)
    nodes = pl.read_csv("nodes.csv").with_columns(pl.lit("none").alias("score"))
    nodes.write_csv(tmp_path / "words.csv")
    line = ["run", "--nodes", str(tmp_path / "words.csv"), "--edges", "edges.csv"]
    for command in (["predict", *line, "--out", str(tmp_path / "a.csv")], ["evaluate", *line]):
        assert main(command) == 2
        told = capsys.readouterr().err
        assert "row 2, column 'score'" in told
        assert "(--null-values is said in training: change the table, or train anew with it.)" in told
    assert not (tmp_path / "a.csv").exists()


@pytest.mark.parametrize(
    ("model", "told"),
    [
        ("graphcon-gcn", "does not use: kind; graphcon-gcn takes none, graphcon-gat does with --model.edge-features."),
        ("graphcon-gat", "does not use: kind; say --model.edge-features to use them."),
        ("graphcon-gat --model.edge-features", None),
    ],
)
def test_columns_of_edges_that_the_model_does_not_use_are_told_and_not_asked_for(
    own: Path, tmp_path: Path, model: str, told: str | None, capsys
):
    edges = pl.read_csv(own / "edges.csv")
    edges.with_columns(pl.Series("kind", ["a", "b"] * 75)).write_csv(tmp_path / "edges.csv")
    data = ["--nodes", str(own / "nodes.csv"), "--edges", str(tmp_path / "edges.csv"), "--target", "label"]
    settings = f"--model.name {model} --model.channels 4 --model.steps 1 --trainer.epochs 2 --trainer.threads 1"
    assert main(["train", *data, *settings.split(), "--out", str(tmp_path / "run")]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert (told in said) if told else ("does not use:" not in said)
    weights = "weights of the edges, in weight: graphcon-gat does not use them, gcn does."
    assert (weights in said) == ("gat" in model)
    trained = run.load(tmp_path / "run")
    if told is None:
        with pytest.raises(InputError, match="there is no column 'kind'"):
            predict.predict(trained, own / "nodes.csv", own / "edges.csv")
        return
    bare, _ = predict.predict(trained, own / "nodes.csv", own / "edges.csv")
    full, notes = predict.predict(trained, own / "nodes.csv", tmp_path / "edges.csv")
    assert bare.equals(full)
    assert not any("new since training" in note for note in notes)


def test_what_the_target_column_of_new_tables_holds_does_not_matter_to_predictions(own: Path, tmp_path: Path, capsys):
    nodes = pl.read_csv(own / "nodes.csv")
    nodes.with_columns(pl.lit("green").alias("label")).write_csv(tmp_path / "new.csv")
    trained, edges = run.load(own / "run"), own / "edges.csv"
    table, notes = predict.predict(trained, tmp_path / "new.csv", edges)
    assert table.equals(predict.predict(trained, own / "nodes.csv", edges)[0])
    assert not any("new since training" in note for note in notes)
    with pytest.raises(InputError, match="'green' .* none of the classes: blue, red"):
        predict.score(trained, tmp_path / "new.csv", edges, None)


def test_normalised_steps_come_back_from_a_run_folder(molecules: Recipe, tmp_path: Path):
    model = replace(molecules.model, options={"norm": "batch"})
    run.train(replace(molecules, model=model), tmp_path / "run")
    trained = run.load(tmp_path / "run")
    kept = json.loads((tmp_path / "run" / "metrics.json").read_text())
    dataset, _ = load_dataset(trained.recipe.data)
    held_out = [dataset.graphs[i] for i in dataset.split.test]
    errors = predict.answers(trained, held_out).flatten() - torch.cat([graph.y.flatten() for graph in held_out])
    assert errors.abs().mean().item() == pytest.approx(kept["test"]["mae"], rel=1e-5)


def test_values_come_in_their_own_units(molecules: Recipe, tmp_path: Path):
    run.train(
        replace(
            molecules, trainer=replace(molecules.trainer, epochs=1), optimizer=replace(molecules.optimizer, lr=1e-9)
        ),
        tmp_path / "run",
    )
    table, _ = predict.predict(run.load(tmp_path / "run"))
    dataset, _ = load_dataset(molecules.data)
    truth = torch.cat([graph.y.flatten() for graph in dataset.graphs])
    answers = table["predicted log10 of mol/l"]
    assert len(answers) == len(truth)
    assert abs(answers.mean() - truth.mean()) < 20 * truth.std()


EXPORTED = (*(f"graphcon-{coupling}" for coupling in ("gcn", "gat", "tran", "gin", "gatedgcn", "sage")), "gcn", "mlp")
WITHOUT_THIS_PACKAGE = """
import sys, torch
x, edges = torch.load('in.pt')
for name in sys.argv[1:]:
    program = torch.export.load(f'{name}.pt2').module()
    torch.save(program(x, None, edges, None, None).detach(), f'{name}.out')
assert not [module for module in sys.modules if module.startswith(('graphcon', 'torch_geometric'))]
"""


def test_exported_programs_run_without_this_package(tiny: Recipe, tmp_path: Path):
    x, edge_index = torch.rand(31, 1433), torch.randint(31, (2, 77))
    torch.save((x, edge_index), tmp_path / "in.pt")
    expected = {}
    for name in EXPORTED:
        model = ModelConfig(name=name, channels=8, steps=2)
        run.train(replace(tiny, model=model, trainer=replace(tiny.trainer, epochs=1)), tmp_path / name)
        trained = run.load(tmp_path / name)
        told = export.export(trained, tmp_path / f"{name}.pt2")
        assert told["arguments"]["x"]
        expected[name] = trained.model(x, edge_index).detach()
    line = [sys.executable, "-c", WITHOUT_THIS_PACKAGE, *EXPORTED]
    done = subprocess.run(line, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    for name, out in expected.items():
        torch.testing.assert_close(torch.load(tmp_path / f"{name}.out"), out, rtol=1e-4, atol=1e-5, msg=name)


def test_a_limit_takes_so_many_graphs_of_every_part(molecules: Recipe):
    dataset, _ = load_dataset(replace(molecules.data, limit=20))
    assert [len(index) for _, index in dataset.split.parts()] == [20, 20, 20]


@pytest.mark.parametrize(
    ("limit", "name", "message"), [(0, "solubility", "part is empty"), (5, "cora", "is one graph")]
)
def test_a_limit_that_makes_no_sense_is_refused(limit: int, name: str, message: str):
    with pytest.raises(InputError, match=message):
        load_dataset(DataConfig(name=name, limit=limit))


@pytest.fixture
def bracketed(tmp_path: Path, monkeypatch) -> list[str]:
    """The words that name tables whose classes, column and file look like the markup of a terminal library."""
    monkeypatch.chdir(tmp_path)
    rows = [f"{i},{i % 5},{('[red]a', '[/b]')[i % 2]}" for i in range(20)]
    Path("n[red].csv").write_text("\n".join(["id,[bold]f,:sun: y", *rows]))
    Path("edges.csv").write_text("\n".join(["source,target", *(f"{i},{(i + 2) % 20}" for i in range(20))]))
    return ["--nodes", "n[red].csv", "--edges", "edges.csv", "--target", ":sun: y"]


SMALL = ["--model.channels", "4", "--model.steps", "1", "--trainer.epochs", "2", "--trainer.threads", "1"]


def test_names_of_the_user_are_printed_as_they_are_written(bracketed: list[str], capsys):
    def told(*words: str) -> str:
        assert main(list(words)) == 0
        return capsys.readouterr().out

    for part in ("[red]a", "[/b]", "[bold]f", ":sun: y"):
        assert part in told("data", *bracketed)
    one = told("train", *bracketed, *SMALL, "--out", "r[/2]")
    assert "on n[red].csv" in one
    assert "Run  r[/2]\n" in one
    assert "20 rows  [red]a.csv" in told("predict", "r[/2]", "--out", "[red]a.csv")
    assert "accuracy" in told("evaluate", "r[/2]")
    assert "on n[red].csv" in told("diagnose", "r[/2]")
    assert "r[/2]/report.html" in told("report", "r[/2]")
    assert "r[/2]/model.pt2" in told("export", "r[/2]")
    assert "Runs  s[/3]\n" in told("train", *bracketed, *SMALL, "--out", "s[/3]", "--seeds", "2")
    assert "t[/4]/best.toml" in told("tune", *bracketed, *SMALL, "--out", "t[/4]", "--trials", "1")
    compared = ("--models", "mlp", "--depths", "1", "--seeds", "1")
    assert "c[/5]/compare.csv" in told("compare", *bracketed, *SMALL[4:], *compared, "--out", "c[/5]")


def test_paths_and_commands_to_copy_are_not_broken_where_lines_are_short(
    own: Path, tmp_path: Path, monkeypatch, capsys
):
    monkeypatch.chdir(own)
    out = str(tmp_path / ("x" * 80))
    tables = ["--nodes", "nodes.csv", "--edges", "edges.csv", "--target", "label"]
    for command, line in {
        ("train", *tables, *SMALL, "--out", out): f"     graphcon predict {out} --out predictions.csv",
        ("predict", out, "--out", f"{out}/answers.csv"): f"60 rows  {out}/answers.csv",
        ("report", out): f"Page  {out}/report.html",
        ("diagnose", out): f"Picture  {out}/diagnostics.png",
        ("export", out): f"Use: torch.export.load('{out}/model.pt2').module()(x, None, edge_index, edge_weight, None)",
        ("train", *tables, *SMALL, "--out", f"{out}-2", "--seeds", "2"): f"Runs  {out}-2",
    }.items():
        assert main(list(command)) == 0
        assert line in capsys.readouterr().out.splitlines()


def test_what_a_training_reached_stands_above_what_needs_no_model(own: Path, tmp_path: Path, monkeypatch, capsys):
    """With rare classes a high accuracy may be nothing."""
    monkeypatch.chdir(own)
    out = str(tmp_path / "run")
    tables = ["--nodes", "nodes.csv", "--edges", "edges.csv", "--target", "label"]
    assert main(["train", *tables, *SMALL, "--out", out]) == 0
    told = capsys.readouterr().out.splitlines()
    reached = Evidence.gather(Path(out)).baseline.metrics["test"]
    assert main(["evaluate", out]) == 0
    for lines in (told, capsys.readouterr().out.splitlines()):
        words, *numbers = next(line for line in lines if "most frequent" in line).rsplit(maxsplit=len(reached))
        assert words.strip() == "test, always the most frequent class"
        assert numbers == [f"{value:.4f}" for value in reached.values()]


def test_a_training_that_was_still_improving_says_how_to_go_on(own: Path, tmp_path: Path, monkeypatch, capsys):
    monkeypatch.chdir(own)
    line = "train --nodes nodes.csv --edges edges.csv --target label --trainer.metric log_loss --optimizer.lr 0.001"
    assert main([*line.split(), *SMALL, "--out", str(tmp_path / "run")]) == 0
    told = capsys.readouterr().out.splitlines()
    epochs = json.loads((tmp_path / "run/metrics.json").read_text())["epochs"]
    again = f"graphcon train --resume {tmp_path / 'run'} --trainer.epochs {2 * epochs}"
    assert f"It was still improving; train on with: {again}" in told
    assert main(again.split()[1:]) == 0
    capsys.readouterr()
    falling = ["--schedule.name", "one-cycle", "--out", str(tmp_path / "falling")]
    assert main([*line.split(), *SMALL, *falling]) == 0
    assert "still improving" not in capsys.readouterr().out


def test_a_bar_on_a_terminal_is_called_what_the_user_calls_the_run():
    screen = io.StringIO()
    with reporting(make_console(file=screen, force_terminal=True, width=100)) as make:
        make("r[/2]", 1).epoch({"epoch": 1, "loss": 0.5})
    assert "r[/2]" in screen.getvalue()


def test_the_seed_of_a_split_has_one_name_in_training(own: Path, tmp_path: Path, monkeypatch, capsys):
    monkeypatch.chdir(own)
    tables = ["--nodes", "nodes.csv", "--edges", "edges.csv", "--target", "label"]
    parts = {}
    for seed in (0, 3):
        assert main(["data", *tables, "--seed", str(seed), "--json"]) == 0
        parts[seed] = json.loads(capsys.readouterr().out)["split"]
        (tmp_path / f"{seed}.toml").write_text(f"[data.table]\nseed = {seed}\n")
    assert parts[3]["seed"] == 3
    line = [*tables, *SMALL, "--out", str(tmp_path / "run")]
    assert main(["train", str(tmp_path / "3.toml"), *line]) == 2
    assert "data.table.seed = 3: say data.split (--split) in its place" in capsys.readouterr().err
    assert not (tmp_path / "run").exists()
    assert main(["train", str(tmp_path / "0.toml"), *line, "--split", "3"]) == 0
    assert run.load(tmp_path / "run").dataset().split.seed == 3
    for command in ("train", "tune", "compare"):
        with pytest.raises(SystemExit):
            main([command, "--help"])
        assert "table.seed" not in capsys.readouterr().out
    with pytest.raises(SystemExit):
        main(["data", "--help"])
    assert "graphcon train calls it --split" in " ".join(capsys.readouterr().out.replace("│", " ").split())


def test_several_splits_and_seeds_are_trained_and_averaged(tmp_path: Path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    settings = "--model.steps 1 --model.channels 4 --trainer.epochs 2 --trainer.threads 1"
    assert main(["train", "cora-gcn", *settings.split(), "--seeds", "2", "--out", "runs"]) == 0
    summary = json.loads((tmp_path / "runs/metrics.json").read_text())
    values = [
        json.loads((tmp_path / f"runs/split-0-seed-{s}/metrics.json").read_text())["test"]["accuracy"] for s in (0, 1)
    ]
    assert summary["runs"] == 2
    assert summary["test"]["accuracy"]["mean"] == pytest.approx(sum(values) / 2)
    assert summary["test"]["accuracy"]["sd"] == pytest.approx(abs(values[0] - values[1]) / 2**0.5)


def test_several_runs_and_a_single_one_do_not_share_a_folder(tmp_path: Path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    settings = "--model.steps 1 --model.channels 4 --trainer.epochs 2 --trainer.threads 1"
    line = ["train", "cora-gcn", *settings.split(), "--out"]
    assert main([*line, "one"]) == 0
    before = contents(tmp_path / "one")
    assert main([*line, "one", "--seeds", "2"]) == 2
    assert "--out one: there is a run in it already" in capsys.readouterr().err
    assert contents(tmp_path / "one") == before
    assert [path for path in (tmp_path / "one").iterdir() if path.is_dir()] == []
    assert main([*line, "many", "--seeds", "2"]) == 0
    kept = contents(tmp_path / "many")
    assert main([*line, "many"]) == 2
    assert "--out many: there are several runs in it" in capsys.readouterr().err
    for change in ("--model.channels 8", "--trainer.epochs 3"):
        assert main([*line, "many", "--seeds", "3", *change.split()]) == 2
        assert "--out many: split-0-seed-0 was trained there with other settings" in capsys.readouterr().err
    assert contents(tmp_path / "many") == kept
    assert not (tmp_path / "many" / "split-0-seed-2").exists()
    assert main([*line, "many", "--seeds", "3"]) == 0
    assert json.loads((tmp_path / "many" / "metrics.json").read_text())["runs"] == 3


def test_a_metric_that_some_runs_do_not_have_is_averaged_over_the_others(tmp_path: Path, capsys):
    nodes = ["id,v,label,part", *(f"{i},{i % 5},{'ab'[i % 2]},{'train' if i < 30 else 'val'}" for i in range(40))]
    nodes += [f"4{i},{i},a,test" for i in range(3)]  # one class alone has no area under the curve
    (tmp_path / "nodes.csv").write_text("\n".join(nodes))
    (tmp_path / "edges.csv").write_text("\n".join(["source,target", *(f"{i},{(i + 2) % 43}" for i in range(43))]))
    data = ["--nodes", str(tmp_path / "nodes.csv"), "--edges", str(tmp_path / "edges.csv"), "--target", "label"]
    data += ["--split-column", "part", "--model.channels", "4", "--model.steps", "1", "--trainer.epochs", "2"]
    assert main(["train", *data, "--seeds", "2", "--trainer.metric", "auroc", "--out", str(tmp_path / "runs")]) == 0
    told = capsys.readouterr().out
    assert "nan ± nan (n = 0)" in told
    summary = json.loads((tmp_path / "runs/metrics.json").read_text())
    assert summary["val"]["auroc"]["n"] == 2
    assert summary["test"]["auroc"]["n"] == 0
    assert summary["test"]["accuracy"]["n"] == 2
    assert main(["report", str(tmp_path / "runs")]) == 0
    for split in ("all", "3"):  # the column tells one
        assert main(["train", *data, "--split", split, "--out", str(tmp_path / "more")]) == 2
        assert "nodes.csv has one split, 'column part'. Leave it out" in capsys.readouterr().err
    assert not (tmp_path / "more").exists()


def test_a_part_with_a_single_value_is_measured_and_its_r2_is_not_defined(tmp_path: Path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    parts = ["train"] * 8 + ["val", "test"]
    rows = (f"{i},{i % 3},{i / 2},{part}" for i, part in enumerate(parts))
    Path("nodes.csv").write_text("\n".join(["id,v,size,part", *rows]))
    Path("edges.csv").write_text("\n".join(["source,target", *(f"{i},{(i + 1) % 10}" for i in range(10))]))
    data = "--nodes nodes.csv --edges edges.csv --target size --split-column part"
    small = "--model.channels 4 --model.steps 1 --trainer.epochs 2 --trainer.threads 1"
    assert main(["train", *data.split(), *small.split(), "--out", "run"]) == 0
    assert capsys.readouterr().out.count("nan") == 3  # in two parts, and of the constant answer
    assert main(["evaluate", "run"]) == 0
    assert main(["report", "run"]) == 0
    Path("new.csv").write_text("id,v,size\na,1,2.0\n")
    Path("none.csv").write_text("source,target\n")
    capsys.readouterr()
    assert main(["evaluate", "run", "--nodes", "new.csv", "--edges", "none.csv", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["given"]["r2"] is None


@pytest.mark.parametrize(
    ("shares", "measured"), [("--train 1 --val 0", None), ("--train 0.8 --val 0", "test"), ("--train 0.5", "both")]
)
def test_where_parts_are_missing_nothing_is_said_of_them(own: Path, tmp_path, monkeypatch, capsys, shares, measured):
    monkeypatch.chdir(own)
    data = "--nodes nodes.csv --edges edges.csv --target label --model.channels 4 --model.steps 1 --trainer.epochs 6"
    out = str(tmp_path / "run")
    assert main(["train", *data.split(), *shares.split(), "--trainer.threads", "1", "--out", out]) == 0
    told = capsys.readouterr().out
    assert ("the last epoch, 6, is kept: there is no validation part" in told) == (measured != "both")
    assert ("no validation part, the weights of the last epoch are kept" in told) == (measured != "both")
    assert ("selected on validation" in told) == (measured == "both")
    assert ("Nothing is held out to measure on" in told) == (measured is None)
    last = (tmp_path / "run" / "last.ckpt").read_bytes()
    assert main(["evaluate", out]) == (2 if measured is None else 0)
    if measured is None:
        assert "without a validation and a test part, so there is nothing to measure it on" in capsys.readouterr().err
    if measured != "both":
        state = torch.load(io.BytesIO(last), weights_only=True)["model"]
        kept = run.load(out).model.state_dict()
        assert all(torch.equal(kept[name], value) for name, value in state.items())
    assert main(["report", out]) == 0
    page = (tmp_path / "run" / "report.html").read_text()
    assert ("no part was held out" in page) == (measured is None)
    assert ("since there is no validation part" in page) == (measured != "both")
    assert ("selected on validation" in page) == (measured == "both")


def test_flags_beat_files_and_the_resolved_recipe_can_be_seen(tmp_path: Path):
    done = command("train", "cora-gcn", "--model.steps", 7, "--print-recipe", cwd=tmp_path)
    assert done.returncode == 0
    (tmp_path / "r.toml").write_text(done.stdout)
    recipe = recipes.load(tmp_path / "r.toml")
    assert recipe.model.steps == 7
    assert recipe.optimizer == recipes.load("cora-gcn").optimizer
    assert not (tmp_path / "runs").exists()


def test_two_processes_train_on_graphs_together(molecules: Recipe, tmp_path: Path):
    (tmp_path / "r.toml").write_text(recipes.to_toml(molecules))
    done = command("train", "r.toml", "--devices", 2, "--out", "run", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "run/log.jsonl").read_text().count("\n") == 3
    assert done.stdout.count("best epoch") == 1
    found = json.loads((tmp_path / "run/metrics.json").read_text())
    assert found["val"]["mae"] > 0
    done = command("evaluate", "run", "--json", cwd=tmp_path)  # on one device, and told once
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["val"] == pytest.approx(found["val"], rel=1e-4)


def test_a_run_is_measured_where_its_accelerator_is_not(molecules: Recipe, tmp_path: Path, monkeypatch, capsys):
    run.train(replace(molecules, trainer=replace(molecules.trainer, epochs=1)), tmp_path / "run")
    file = tmp_path / "run/model.json"
    file.write_text(file.read_text().replace('"accelerator": "cpu"', '"accelerator": "cuda"'))
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    assert main(["evaluate", str(tmp_path / "run"), "--json"]) == 0
    assert set(json.loads(capsys.readouterr().out)) == {"val", "test"}


def test_a_model_that_cannot_be_a_program_says_so(tiny: Recipe, tmp_path: Path):
    recipe = replace(tiny, model=replace(tiny.model, name="h2gcn"), trainer=replace(tiny.trainer, epochs=1))
    run.train(recipe, tmp_path / "run")
    with pytest.raises(InputError, match="h2gcn cannot be exported"):
        export.export(run.load(tmp_path / "run"), tmp_path / "model.pt2")
    assert not (tmp_path / "model.pt2").exists()


def test_a_program_takes_the_weights_that_its_model_was_trained_with(tiny: Recipe, tmp_path: Path):
    generator = np.random.default_rng(0)
    adjacency = sp.random(20, 20, 0.3, "csr", rng=generator)
    arrays = {f"adj_{part}": np.array(getattr(adjacency, part)) for part in ("data", "indices", "indptr", "shape")}
    features, labels = generator.normal(size=(20, 3)), np.arange(20) % 2
    np.savez(tmp_path / "graph.npz", attr_matrix=features, labels=labels, **arrays)
    data, trainer = DataConfig(name=str(tmp_path / "graph.npz")), replace(tiny.trainer, epochs=1)
    run.train(replace(tiny, data=data, trainer=trainer), tmp_path / "run")
    trained = run.load(tmp_path / "run")
    assert export.export(trained, tmp_path / "model.pt2")["arguments"]["edge_weight"]
    graph = trained.dataset().data
    program = torch.export.load(tmp_path / "model.pt2").module()
    out = program(graph.x, None, graph.edge_index, graph.edge_weight, None)
    torch.testing.assert_close(out, predict.answers(trained, [graph]), rtol=1e-4, atol=1e-5)


def test_a_model_of_positions_is_not_exported_for_a_program_sees_none(molecules: Recipe, tmp_path: Path):
    run.train(replace(molecules, model=replace(molecules.model, name="graphcon-monet")), tmp_path / "run")
    with pytest.raises(InputError, match="positions of nodes, which an exported program does not take"):
        export.export(run.load(tmp_path / "run"), tmp_path / "model.pt2")
    assert not (tmp_path / "model.pt2").exists()


def test_a_metric_that_is_not_defined_is_null_in_json(own: Path, tmp_path: Path, capsys):
    (tmp_path / "nodes.csv").write_text("id,score,town,label\na,1.0,t1,blue\n")
    (tmp_path / "edges.csv").write_text("source,target,weight\n")
    tables = ["--nodes", str(tmp_path / "nodes.csv"), "--edges", str(tmp_path / "edges.csv")]
    capsys.readouterr()
    assert main(["evaluate", str(own / "run"), *tables, "--json"]) == 0
    told = strict_json(capsys.readouterr().out)
    assert told["given"]["auroc"] is None
    assert 0 <= told["given"]["accuracy"] <= 1


def test_what_a_run_keeps_of_a_metric_that_is_not_defined_is_null_in_its_files_and_nan_to_those_who_read_them(
    tmp_path: Path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    parts = ["train"] * 10 + ["val", "test"] * 2
    rows = (f"{i},{i % 3},{'ab'[i % 2 if part == 'train' else 0]},{part}" for i, part in enumerate(parts))
    Path("nodes.csv").write_text("\n".join(["id,v,label,part", *rows]))
    Path("edges.csv").write_text("\n".join(["source,target", *(f"{i},{(i + 1) % 14}" for i in range(14))]))
    data = "--nodes nodes.csv --edges edges.csv --target label --split-column part --trainer.metric auroc"
    small = "--model.channels 4 --model.steps 1 --trainer.epochs 2 --trainer.threads 1 --seeds 2 --out runs"
    for _ in range(2):  # the second time the runs are read
        assert main(["train", *data.split(), *small.split()]) == 0
        assert strict_json(Path("runs/metrics.json").read_text())["val"]["auroc"] == {"mean": None, "sd": None, "n": 0}
    folder = RunFolder(Path("runs/split-0-seed-0"))
    assert strict_json(folder.metrics_file.read_text())["val"]["auroc"] is None
    assert strict_json(folder.log_file.read_text().splitlines()[-1])["val"]["auroc"] is None
    ended = folder.finished()
    assert ended is not None
    assert math.isnan(ended["val"]["auroc"])
    assert math.isnan(folder.records()[-1]["val"]["auroc"])
    assert main(["report", str(folder.path)]) == 0
