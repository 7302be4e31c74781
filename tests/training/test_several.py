"""Several runs of one command: they go on, and one that fails does not take the others with it."""

import json
from dataclasses import replace
from pathlib import Path

import networkx as nx
import pytest
import torch

from folders import contents
from graphcon.cli import main
from graphcon.errors import LossError
from graphcon.training import run, several
from graphcon.training.config import Recipe

COMMAND = ["train", "cora-gcn", "--trainer.epochs", "1", "--model.channels", "4", "--trainer.threads", "1"]


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_the_same_command_goes_on_where_it_was_stopped(here: Path, monkeypatch, capsys):
    whole, train = here / "runs" / "cora-gcn", run.train
    with monkeypatch.context() as stopping:
        stopping.setattr(run, "train", lambda recipe, *a, **k: train(recipe, *a, **k) if recipe.seed == 0 else None)
        assert main([*COMMAND, "--seeds", "2"]) == 130
    assert "Saved. Type the same command again to go on" in capsys.readouterr().out
    before = contents(whole / "split-0-seed-0")
    assert main([*COMMAND, "--seeds", "2"]) == 0
    assert "Goes on in runs/cora-gcn\n" in capsys.readouterr().out
    assert contents(whole / "split-0-seed-0") == before
    assert json.loads((whole / "metrics.json").read_text())["runs"] == 2
    assert [path.name for path in (here / "runs").iterdir()] == ["cora-gcn"]


def test_a_new_folder_is_taken_after_the_end_and_for_other_settings(here: Path):
    assert main([*COMMAND, "--seeds", "2"]) == 0
    assert main([*COMMAND, "--seeds", "2"]) == 0
    (here / "runs" / "cora-gcn-2" / "metrics.json").unlink()  # as if it had been stopped
    assert main([*COMMAND, "--seeds", "2", "--model.steps", "1"]) == 0
    assert sorted(path.name for path in (here / "runs").iterdir()) == ["cora-gcn", "cora-gcn-2", "cora-gcn-3"]


def test_a_run_that_diverges_is_told_by_its_folder_and_the_others_count(here: Path, monkeypatch, capsys):
    train = run.train

    def sometimes(recipe, *others, **options):
        if recipe.seed == 1:
            raise LossError("the loss became nan in epoch 1")
        return train(recipe, *others, **options)

    monkeypatch.setattr(run, "train", sometimes)
    assert main([*COMMAND, "--seeds", "3", "--out", "several"]) == 1
    told = capsys.readouterr()
    assert "2 runs, mean ± sd; epochs selected on validation accuracy" in told.out
    assert told.err.splitlines()[-1] == "graphcon: several/split-0-seed-1: the loss became nan in epoch 1"
    assert json.loads((here / "several" / "metrics.json").read_text())["runs"] == 2


def test_several_processes_train_what_one_would_have(here: Path, capsys):
    assert main([*COMMAND, "--seeds", "3", "--out", "one"]) == 0
    alone = capsys.readouterr().out.splitlines()
    assert main([*COMMAND, "--seeds", "3", "--out", "two", "--workers", "2"]) == 0
    told = capsys.readouterr().out.splitlines()
    assert [line.split("  ")[0] for line in told[:3]] == ["1/3", "2/3", "3/3"]
    assert [line for line in told if "±" in line] == [line for line in alone if "±" in line]
    for seed in range(3):
        weights = Path(f"split-0-seed-{seed}/best.safetensors")
        assert (here / "one" / weights).read_bytes() == (here / "two" / weights).read_bytes()


@pytest.mark.parametrize(("said", "taken"), [(None, 2), (3, 3)])
def test_one_of_several_runs_takes_its_share_of_the_threads_unless_the_user_says_how_many(
    tiny: Recipe, here: Path, said: int | None, taken: int
):
    before = torch.get_num_threads()
    try:
        run.finish(replace(tiny, trainer=replace(tiny.trainer, epochs=1, threads=said)), here / "run", threads=2)
        assert torch.get_num_threads() == taken
    finally:
        torch.set_num_threads(before)


@pytest.mark.parametrize("seeds", ["1", "2"])
def test_runs_on_a_data_file_elsewhere_are_kept_here(here: Path, seeds: str, monkeypatch):
    for folder in ("data", "work"):
        (here / folder).mkdir()
    graph = nx.karate_club_graph()
    nx.set_node_attributes(graph, dict(graph.degree()), "degree")
    nx.write_graphml(graph, here / "data" / "g.graphml")
    monkeypatch.chdir(here / "work")
    file = str(here / "data" / "g.graphml")
    small = [*COMMAND[2:], "--target", "club", "--model.steps", "1"]
    assert main(["train", "--data", file, *small, "--seeds", seeds]) == 0
    assert [path.name for path in (here / "data").iterdir()] == ["g.graphml"]
    assert [path.name for path in (here / "work" / "runs").iterdir()] == ["g"]


def test_of_metrics_that_some_runs_do_not_have_the_mean_is_over_the_others():
    results = [{"val": {"r2": value}} for value in (0.5, float("nan"), 0.7)]
    assert several.aggregate(results)["val"]["r2"] == pytest.approx({"mean": 0.6, "sd": 0.02**0.5, "n": 2})
