"""A run goes on as it began, on the data it was trained on."""

import json
import shutil
from pathlib import Path

import pytest
import torch

from folders import contents
from graphcon._files import write_json
from graphcon.cli import main
from graphcon.training import recipes, run
from graphcon.training.config import Recipe


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ("--model.channels 16", "model.channels = 16 (it has 8)"),
        ("--model.gamma 3", "model.gamma = 3.0 (it has 1.0)"),
        ("--seed 1 --optimizer.lr 0.5", "optimizer.lr = 0.5 (it has 0.01), seed = 1 (it has 0)"),
        ("--trainer.metric f1", "trainer.metric = 'f1' (it has None)"),
        ("--ignore town", "data.table.ignore = ['town'] (it has [])"),
        ("--trainer.epochs 20", "trainer.epochs = 20, but the run has 30, and can only have more"),
        ("--split 1 --seeds 2", "--split, --seeds cannot be given with it"),
        ("--workers 2", "--workers cannot be given with it"),
        ("--out elsewhere", "--out cannot be given with it"),
    ],
)
def test_a_run_goes_on_only_as_it_began(own: Path, options: str, told: str, monkeypatch, capsys):
    monkeypatch.chdir(own)
    before = contents(own / "run")
    for resume in (["--resume", "run"], ["--resume=run"]):
        assert main(["train", *resume, *options.split()]) == 2
        error = capsys.readouterr().err
        assert told in error
        assert "tart a new run with" in error
    assert contents(own / "run") == before
    assert not (own / "elsewhere").exists()


def test_a_recipe_beside_a_run_to_go_on_with_is_refused(own: Path, monkeypatch, capsys):
    monkeypatch.chdir(own)
    assert main(["train", "cora-gcn", "--resume", "run"]) == 2
    assert "--resume run: RECIPE cannot be given with it" in capsys.readouterr().err


def test_a_run_goes_on_with_more_epochs_and_on_other_threads(own: Path, tmp_path: Path, monkeypatch):
    monkeypatch.chdir(own)
    shutil.copytree(own / "run", tmp_path / "run")
    changes = "--trainer.epochs 33 --trainer.patience 0 --trainer.threads 2 --trainer.checkpoint-seconds 1"
    assert main(["train", "--resume", str(tmp_path / "run"), *changes.split()]) == 0
    torch.set_num_threads(1)
    assert json.loads((tmp_path / "run/metrics.json").read_text())["epochs"] == 33
    assert recipes.load(tmp_path / "run/recipe.toml").trainer.epochs == 33


@pytest.fixture
def elsewhere(own: Path, tmp_path: Path, monkeypatch) -> Path:
    """A run, and the user now in a folder that holds other tables of the same names."""
    (tmp_path / "trained").mkdir()
    monkeypatch.chdir(tmp_path / "trained")
    for name in ("nodes.csv", "edges.csv"):
        shutil.copy(own / name, name)
    data = "--nodes nodes.csv --edges edges.csv --target label --model.channels 4 --model.steps 1 --trainer.epochs 5"
    assert main(["train", *data.split(), "--trainer.threads", "1", "--out", "../run"]) == 0
    lines = (own / "nodes.csv").read_text().splitlines()
    (tmp_path / "nodes.csv").write_text("\n".join([lines[0], *(line.replace(",t", ",u") for line in lines[1:])]))
    shutil.copy(own / "edges.csv", tmp_path / "edges.csv")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_run_is_measured_on_its_own_tables_from_any_folder(elsewhere: Path, capsys):
    before = contents(elsewhere / "run")
    told = json.loads(before["metrics.json"])
    capsys.readouterr()
    assert main(["evaluate", "run", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == {part: told[part] for part in ("val", "test")}
    assert main(["train", "--resume", "run"]) == 0
    assert contents(elsewhere / "run") == before
    assert main(["report", "run"]) == 0


@pytest.mark.parametrize("words", ["evaluate run", "report .", "diagnose run", "predict run --out a.csv"])
def test_tables_that_changed_since_training_are_told(elsewhere: Path, words: str, capsys):
    table = elsewhere / "trained" / "edges.csv"
    table.write_text(table.read_text() + "n1,n3,1.0\n")
    before = contents(elsewhere / "run")
    for line in (words.split(), ["train", "--resume", "run"]):
        assert main(line) == 2
        told = capsys.readouterr().err
        assert f"{table}: is not the table of edges that the run run was trained on, its content differs" in told
    assert contents(elsewhere / "run") == before
    assert not (elsewhere / "a.csv").exists()


def test_tables_that_moved_are_told_and_found_again_where_the_user_says(elsewhere: Path, capsys):
    (elsewhere / "trained").rename(elsewhere / "moved")
    before = contents(elsewhere / "run")
    assert main(["evaluate", "run"]) == 2
    told = capsys.readouterr().err
    assert f"{elsewhere / 'trained' / 'nodes.csv'}: is not there, the table of nodes that the run run" in told
    assert "graphcon train --resume run --nodes FILE" in told
    tables = ["--nodes", "nodes.csv", "--edges", "edges.csv"]
    assert main(["train", "--resume", "run", *tables]) == 2
    assert "nodes.csv: is not the table of nodes that the run run was trained on" in capsys.readouterr().err
    assert contents(elsewhere / "run") == before
    assert main(["train", "--resume", "run", "--nodes", "moved/nodes.csv", "--edges", "moved/edges.csv"]) == 0
    assert main(["evaluate", "run"]) == 0


def test_an_old_run_folder_without_fingerprints_is_used_as_it_was(elsewhere: Path):
    file = elsewhere / "run" / "model.json"
    old = json.loads(file.read_text())
    del old["files"]
    for name in ("nodes", "edges"):
        old["recipe"]["data"][name] = f"trained/{name}.csv"
    file.write_text(json.dumps(old))
    (elsewhere / "run" / "recipe.toml").write_text(recipes.to_toml(recipes.from_dict(old["recipe"])))
    for line in ("evaluate run", "report run", "predict run --out a.csv", "train --resume run", "evaluate run"):
        assert main(line.split()) == 0


def test_a_measure_is_kept_where_the_run_has_ended(tiny: Recipe, tmp_path: Path):
    run.train(tiny, tmp_path / "run")
    file = tmp_path / "run" / "metrics.json"
    told = json.loads(file.read_text())
    write_json(file, {**told, "test": {}})
    assert main(["evaluate", str(tmp_path / "run")]) == 0
    assert json.loads(file.read_text()) == told
    before = file.stat()
    assert main(["evaluate", str(tmp_path / "run")]) == 0
    assert file.stat() == before  # one may measure what one may not write to
    file.unlink()  # as a run that was stopped
    assert main(["evaluate", str(tmp_path / "run")]) == 0
    assert not file.exists()
