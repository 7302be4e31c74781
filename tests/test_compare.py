"""`graphcon compare` and `graphcon models`."""

import csv
import json
import shutil
import tomllib
from pathlib import Path

import pytest
import torch

from graphcon.cli import main
from graphcon.diagnostics import dirichlet_energy, effective_rank
from graphcon.experiments.compare import last_state, plan
from graphcon.models import MODELS, find
from graphcon.stability import UnstableDynamicsWarning
from graphcon.training import recipes, run
from graphcon.training.config import ModelConfig, Recipe
from graphcon.training.load_data import load_dataset
from graphcon.training.model import build
from graphcon.training.spec import TaskSpec

OPTIONS = ["--model.channels", "8", "--trainer.epochs", "3", "--trainer.threads", "1"]


@pytest.fixture(scope="module")
def compared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("compare")
    models = ["--models", "gcn,graphcon-gcn", "--depths", "2,1", "--seeds", "1"]
    assert main(["compare", "--data", "cora", *models, *OPTIONS, "--out", str(out)]) == 0
    return out


def _rows(out: Path) -> list[dict[str, str]]:
    with (out / "compare.csv").open() as file:
        return list(csv.DictReader(file))


def test_every_cell_has_a_row_and_there_is_a_picture(compared: Path):
    cells = {(row["model"], row["depth"], row["seed"]) for row in _rows(compared)}
    assert cells == {(model, depth, "0") for model in ("gcn", "graphcon-gcn") for depth in ("1", "2")}
    assert (compared / "compare.png").read_bytes().startswith(b"\x89PNG")


def test_a_row_tells_what_the_run_measured_and_what_its_last_state_is(compared: Path):
    row = next(row for row in _rows(compared) if (row["model"], row["depth"]) == ("graphcon-gcn", "2"))
    folder = compared / "runs" / "graphcon-gcn-2-seed-0"
    metrics = json.loads((folder / "metrics.json").read_text())
    assert float(row["test"]) == metrics["test"]["accuracy"]
    trained = run.load(folder)
    assert trained.recipe.model.steps == 2
    dataset, _ = load_dataset(trained.recipe.data)
    state = last_state(trained.model, dataset.data)
    torch.testing.assert_close(state, trained.model.net.embed(dataset.data.x, dataset.data.edge_index))
    assert float(row["energy"]) == pytest.approx(float(dirichlet_energy(state, dataset.data.edge_index)), rel=1e-4)
    assert float(row["effective_rank"]) == pytest.approx(float(effective_rank(state)), rel=1e-4)


def test_the_last_line_is_the_command_that_reports_on_the_runs(compared: Path, capsys):
    models = ["--models", "gcn,graphcon-gcn", "--depths", "1,2", "--seeds", "1"]
    assert main(["compare", "--data", "cora", *models, *OPTIONS, "--out", str(compared)]) == 0
    last = capsys.readouterr().out.splitlines()[-1]
    assert last.startswith("Next graphcon report ")
    assert main(["report", last.removeprefix("Next graphcon report ")]) == 0


def test_a_comparison_goes_on_where_it_stopped_and_trains_only_what_is_missing(compared: Path, capsys):
    before = _rows(compared)
    (compared / "runs" / "gcn-1-seed-0" / "compare.json").unlink()
    models = ["--models", "gcn,graphcon-gcn", "--depths", "1,2", "--seeds", "1"]
    assert main(["compare", "--data", "cora", *models, *OPTIONS, "--out", str(compared)]) == 0
    told = capsys.readouterr().out
    assert "1/4  gcn at depth 1, seed 0" in told
    assert "2/4" not in told
    unmoved = ("model", "depth", "seed", "val", "test", "energy", "seconds")
    assert [[row[key] for key in unmoved] for row in _rows(compared)] == [
        [row[key] for key in unmoved] for row in before
    ]


def test_several_processes_compare_as_one_does(compared: Path, tmp_path: Path, capsys):
    models = ["--models", "gcn,graphcon-gcn", "--depths", "2,1", "--seeds", "1", "--workers", "2"]
    assert main(["compare", "--data", "cora", *models, *OPTIONS, "--out", str(tmp_path)]) == 0
    assert "4/4  " in capsys.readouterr().out
    told = [(row["model"], row["depth"], row["val"], row["test"], row["energy"]) for row in _rows(tmp_path)]
    assert told == [(row["model"], row["depth"], row["val"], row["test"], row["energy"]) for row in _rows(compared)]


def test_a_training_that_diverges_is_told_and_does_not_stop_the_others(tmp_path: Path, capsys):
    chosen = ["--models", "graphcon-gcn,gcn", "--depths", "64", "--seeds", "1", "--model.dt", "10"]
    command = ["compare", "--data", "cora", *chosen, *OPTIONS, "--out", str(tmp_path)]
    with pytest.warns(UnstableDynamicsWarning):
        assert main(command) == 0
    assert main(command) == 0
    assert capsys.readouterr().out.count("Diverged, and not in the means: graphcon-gcn-64-seed-0\n") == 2
    oscillator, plain = _rows(tmp_path)
    assert (oscillator["test"], oscillator["energy"]) == ("nan", "nan")
    assert int(oscillator["parameters"]) > 0
    assert 0 <= float(plain["test"]) <= 1
    assert (tmp_path / "compare.png").exists()


@pytest.mark.parametrize("name", ["runs/gcn-1-seed-0/compare.json", "compare.csv"])
def test_a_damaged_file_of_a_comparison_is_told_with_the_cure(compared: Path, tmp_path: Path, name: str, capsys):
    shutil.copytree(compared, tmp_path / "damaged")
    file = tmp_path / "damaged" / name
    file.write_text("model,depth\ngcn")
    models = ["--models", "gcn", "--depths", "1", "--seeds", "1"]
    assert main(["compare", "--data", "cora", *models, *OPTIONS, "--out", str(tmp_path / "damaged")]) == 2
    told = capsys.readouterr().err
    assert str(file) in told
    assert "the same command" in told
    file.unlink()
    assert main(["compare", "--data", "cora", *models, *OPTIONS, "--out", str(tmp_path / "damaged")]) == 0


def test_a_folder_of_other_settings_is_not_mixed_in(compared: Path, capsys):
    assert main(["compare", "--data", "cora", "--models", "gcn", "--depths", "2", "--out", str(compared)]) == 2
    assert "gcn-2-seed-0 was trained there with other settings. Name another folder" in capsys.readouterr().err


def test_what_a_smaller_comparison_leaves_out_of_the_table_is_told(compared: Path, tmp_path: Path, capsys):
    shutil.copytree(compared, tmp_path / "copy")
    line = ["compare", "--data", "cora", "--depths", "1", "--seeds", "1", *OPTIONS, "--out", str(tmp_path / "copy")]
    assert main([*line, "--models", "gcn"]) == 0
    told = " ".join(capsys.readouterr().out.split())
    assert "No longer in them: graphcon-gcn-1-seed-0, gcn-2-seed-0, graphcon-gcn-2-seed-0. Their runs are kept" in told
    assert main([*line, "--models", "gcn,graphcon-gcn"]) == 0
    assert "No longer" not in capsys.readouterr().out


def test_a_run_that_was_trained_on_another_device_is_measured_here(compared: Path, tmp_path: Path):
    cell = tmp_path / "runs" / "gcn-1-seed-0"
    shutil.copytree(compared / "runs" / "gcn-1-seed-0", cell)
    file = cell / "model.json"
    file.write_text(file.read_text().replace('"accelerator": "cpu"', '"accelerator": "mps"'))  # of a Mac
    (cell / "compare.json").unlink()
    models = ["--models", "gcn,gcn", "--depths", "1,1", "--seeds", "1"]  # what is named twice is compared once
    assert main(["compare", "--data", "cora", *models, *OPTIONS, "--out", str(tmp_path)]) == 0
    before = next(row for row in _rows(compared) if (row["model"], row["depth"]) == ("gcn", "1"))
    assert [(row["test"], row["energy"]) for row in _rows(tmp_path)] == [(before["test"], before["energy"])]


def test_own_tables_are_compared_too(tmp_path: Path):
    nodes = ["id,score,label", *(f"n{i},{i % 2 + 0.1 * (i % 7)},{'ab'[i % 2]}" for i in range(40))]
    edges = ["source,target", *(f"n{i},n{(i + 2) % 40}" for i in range(40))]
    (tmp_path / "nodes.csv").write_text("\n".join(nodes))
    (tmp_path / "edges.csv").write_text("\n".join(edges))
    tables = ["--nodes", str(tmp_path / "nodes.csv"), "--edges", str(tmp_path / "edges.csv"), "--target", "label"]
    models = ["--models", "mlp,kuramoto", "--depths", "2", "--seeds", "1"]
    assert main(["compare", *tables, *models, *OPTIONS, "--out", str(tmp_path / "out")]) == 0
    assert [row["model"] for row in _rows(tmp_path / "out")] == ["mlp", "kuramoto"]


def test_all_cells_have_the_budget_of_the_recipe_and_nothing_a_model_has_no_use_for():
    recipe = Recipe(model=ModelConfig(name="gcnii", dt=0.2, gamma=2.0, heads=2, options={"theta": 1.0}))
    cells = {cell.model: one for cell, one in plan(recipe, ["gcnii", "gat", "graphcon-gcn"], [4], 1).items()}
    assert all(one.trainer == recipe.trainer and one.optimizer == recipe.optimizer for one in cells.values())
    assert cells["gcnii"].model == ModelConfig(name="gcnii", steps=4, options={"theta": 1.0})
    assert cells["gat"].model == ModelConfig(name="gat", steps=4, heads=2)
    assert cells["graphcon-gcn"].model == ModelConfig(name="graphcon-gcn", steps=4, dt=0.2, gamma=2.0)


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (["--models", "gcn,gcnj"], "--models: model 'gcnj' is unknown. Did you mean 'gcn"),
        (["--models", ","], "--models ,: name at least one"),
        (["--model.name", "gat"], "--model.name gat: is not among --models gcn,graphcon-gcn"),
        (["--models", "mlp,gcn", "--model.name=gat"], "Say --models mlp,gcn,gat"),
        (["--model.steps", "3"], "--model.steps 3: a comparison has --depths in its place"),
        (["--depths", "2,0"], "--depths 2,0: must be whole numbers from 1 on"),
        (["--seeds", "0"], "--seeds 0: at least one is needed"),
        (["--models", "gcnii", "--model.options.theta", "1"], "say by --model.name whose options they are"),
    ],
)
def test_a_slip_is_named_before_anything_is_trained(options: list[str], told: str, tmp_path: Path, capsys):
    assert main(["compare", "--data", "cora", *options, "--out", str(tmp_path / "out")]) == 2
    assert told in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_the_list_of_models_is_complete_and_fits_the_page(capsys):
    assert main(["models"]) == 0
    told = capsys.readouterr().out
    assert all(f"\n {name} " in told for name in MODELS)
    assert max(len(line) for line in told.splitlines()) <= 120


def test_the_list_as_json_tells_what_each_model_uses(capsys):
    assert main(["models", "--json"]) == 0
    cards = {card["name"]: card for card in json.loads(capsys.readouterr().out)}
    assert list(cards) == list(MODELS)
    assert all(card["summary"] and card["parameters"] >= 0 and card["tasks"] for card in cards.values())
    assert (cards["gcn"]["edges"], cards["gat"]["edges"], cards["grand-l"]["edges"]) == ("weights", "features", "none")
    assert cards["gcn"]["parameters"] == 4 * (64 * 64 + 64)
    handed_on = {"aggr": "add", "flow": "source_to_target"}
    assert cards["graphcon-gin"]["options"] == {"norm": "none", "eps": 0.0, "train_eps": False} | handed_on
    cheb = {"norm": "none", "residual": False, "normalization": "sym", "bias": True, "K": 3} | handed_on
    assert cards["cheb"]["options"] == cheb
    assert cards["a-dgn"]["options"] == {"epsilon": 0.1, "gamma": 0.1, "method": "euler"}


def test_one_model_tells_its_paper_and_its_options(capsys):
    assert main(["models", "pde-gcn-h"]) == 0
    told = capsys.readouterr().out
    assert "arXiv:2108.01938" in told
    assert "model.options.h = 0.5" in told
    assert main(["models", "GATv2Conv"]) == 0
    assert "model.options.share_weights = False" in capsys.readouterr().out
    assert main(["models", "RGCNConv"]) == 0
    assert "needs        model.options.num_relations" in capsys.readouterr().out
    assert main(["models", "pde-gcn"]) == 2
    assert "Did you mean 'pde-gcn-" in capsys.readouterr().err


def test_every_model_but_the_plain_linear_map_names_its_paper():
    assert [name for name in MODELS if not find(name).paper] == ["mlp"]


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (
            ["--model.options.thta", "1"],
            "there is no model.options.thta. Did you mean 'theta'? Its options, by default:",
        ),
        (["--model.options.theta", "much"], "model.options.theta = 'much', but must be a number"),
        (["--model.options.memory=store"], "model.options.memory: is given as model.memory"),
        (["--model.options.theta"], "--model.options.theta: its value is missing"),
        (["--model.name", "gin", "--model.options.epps", "1"], "there is no model.options.epps. Did you mean 'eps'?"),
        (["--model.name", "graphcon-gcn", "--model.options.values", "maybe"], "must be true or false"),
        (["--model.name", "graphcon-gcn", "--model.options.norm", "bach"], "must be one of 'none', 'batch', 'layer'"),
        (["--model.name", "RGCNConv"], "model.options.num_relations is missing, which has no default"),
        (["--model.alpha", "0.2"], "model.alpha = 0.2, but gcnii has no alpha: leave it out; its own option"),
        (["--model.integrator", "strang"], "model.integrator = 'strang', but gcnii has no integrator: leave it out"),
    ],
)
def test_an_option_that_a_model_does_not_have_is_refused(options: list[str], told: str, tmp_path: Path, capsys):
    command = ["train", "--data", "cora", "--model.name", "gcnii", "--out", str(tmp_path / "run")]
    assert main([*command, *options]) == 2
    assert told in capsys.readouterr().err


def test_own_options_reach_the_model_and_its_folder(tmp_path: Path):
    command = ["train", "--data", "cora", "--model.name", "grand-l", "--model.options.time", "3", "--model.heads", "2"]
    assert (
        main([*command, "--model.options.method=rk4", "--model.steps", "2", *OPTIONS, "--out", str(tmp_path / "r")])
        == 0
    )
    core = run.load(tmp_path / "r").model.net.core
    assert (core.dt, core.scheme.name, core.layers[0].conv.heads) == (1.5, "rk4", 2)


def test_another_model_in_a_recipe_leaves_out_what_was_for_the_first_and_says_so(capsys):
    assert main(["train", "texas-gcn", "--model.name", "gcnii", "--model.options.theta", "0.7", "--print-recipe"]) == 0
    told = capsys.readouterr()
    left_out = told.err.partition("gcnii has no use for this of the recipe, which is left out: ")[2]
    assert {"model.alpha", "model.gamma", "model.residual"} <= set(left_out.strip().split(", "))
    recipe = recipes.from_dict(tomllib.loads(told.out))
    assert recipe.model.options == {"theta": 0.7}
    assert (recipe.model.alpha, recipe.model.residual) == (0.5, False)
    assert recipe.model.steps == recipes.load("texas-gcn").model.steps
    build(recipe.model, TaskSpec("node", "classification", 5, 8))
