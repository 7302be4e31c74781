"""What is done with a run: predict, measure, export, search, from Python and from the command line."""

import io
import json
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest
import torch
from torch_geometric.data import Data
from torch_geometric.nn import GCNConv

import graphcon
from graphcon import GraphCON
from graphcon._files import write_json
from graphcon.cli import main
from graphcon.errors import InputError
from graphcon.models import GraphCONNet
from graphcon.report.evidence import Evidence
from graphcon.training import export, predict, recipes, run, tune
from graphcon.training.config import DataConfig, ModelConfig, Recipe
from graphcon.training.load_data import load_dataset


def command(*arguments: object, cwd: Path) -> subprocess.CompletedProcess[str]:
    line = [sys.executable, "-m", "graphcon.cli", *map(str, arguments)]
    return subprocess.run(line, cwd=cwd, capture_output=True, text=True, check=False)


@pytest.fixture(scope="module")
def own(tables: Path) -> Path:
    """A run on own tables, by the command line."""
    data = "--nodes nodes.csv --edges edges.csv --target label"
    settings = "--model.channels 8 --model.steps 2 --trainer.epochs 30 --trainer.threads 1"
    with pytest.MonkeyPatch.context() as here:
        here.chdir(tables)
        assert main(["train", *data.split(), *settings.split(), "--out", "run"]) == 0
    return tables


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


def test_answers_for_nodes_of_many_graphs_name_the_graph(tmp_path: Path, monkeypatch):
    """Ids start anew in every graph, and rows of graphs are mixed: with the graph's id, answers can be joined."""
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
    assert answers.rows()[3][:2] == ("01", "0")
    assert answers.select("molecule", "id").n_unique() == 24
    run_on_tables = Evidence.gather(Path("run"))
    graph = int(run_on_tables.dataset.split.test[0])
    assert run_on_tables.ids[:2] == [f"node 0 of graph 0{graph}", f"node 1 of graph 0{graph}"]


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
    assert json.loads(capsys.readouterr().out)["given"]["accuracy"] > 0.7
    assert main(["evaluate", "run", "--nodes", "new_nodes.parquet", "--edges", "new_edges.csv"]) == 2
    assert "has no column 'label' to compare with" in capsys.readouterr().err


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
        (("train", "cora-gcn", "--split", "some"), "must be a number, several"),
        (("train", "--resume", "none"), "there is no run in it"),
        (("tune", "--trials", "1"), "no data: name a recipe"),
        (("tune", "cora-gcn", "--out", "t", "--trials", "0"), "--trials 0: must be at least 1"),
        (("tune", "cora-gcn", "--out", "t", "--finalists", "0"), "--finalists 0: must be at least 1"),
        (("tune", "cora-gcn", "--out", "t", "--seeds", "0"), "--seeds 0: at least one is needed"),
        (("train", "cora-gcn", "--out", "t", "--seeds", "0"), "--seeds 0: at least one is needed"),
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
    before = _contents(own)
    out = out.format(here=own.name)
    assert main(["predict", "run", *given.split(), "--out", out]) == 2
    told = capsys.readouterr().err
    assert f"--out {out}: is the table" in told
    assert "Name another file" in told
    assert _contents(own) == before
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
    assert (told in said) if told else ("does not use" not in said)
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


def test_a_search_finds_the_better_setting_goes_on_and_never_sees_the_test_part(
    tiny: Recipe, tmp_path: Path, monkeypatch
):
    seen = []
    real = tune.fit_loop

    def watching(model, dataset, *rest):
        seen.append((len(dataset.split.test), int((dataset.data.y == -1).sum())))
        return real(model, dataset, *rest)

    monkeypatch.setattr(tune, "fit_loop", watching)
    recipe = replace(
        tiny,
        trainer=replace(tiny.trainer, epochs=15),
        search={"optimizer.lr": [1e-9, 0.02], "model.steps": {"low": 1, "high": 3}},
    )
    first = tune.tune(recipe, tmp_path / "study", 3)
    second = tune.tune(recipe, tmp_path / "study", 6)
    assert (first.trials, second.trials, len(seen)) == (3, 6, 6)
    assert second.recipe.optimizer.lr == 0.02
    assert set(second.importance) == {"optimizer.lr", "model.steps"}
    assert recipes.load(tmp_path / "study/best.toml") == second.recipe
    assert all(test == 0 and hidden == 985 for test, hidden in seen)


def test_a_search_that_was_killed_draws_what_it_would_have_drawn(tiny: Recipe, tmp_path: Path, monkeypatch):
    recipe = replace(
        tiny,
        trainer=replace(tiny.trainer, epochs=1),
        search={"optimizer.lr": {"low": 0.001, "high": 0.1, "log": True}, "model.alpha": {"low": 0.0, "high": 1.0}},
    )
    drawn: list[tuple[float, float]] = []
    die_at = -1
    real = tune.fit_loop

    def watching(model, dataset, spec, one, *rest):
        if len(drawn) == die_at:
            raise KeyboardInterrupt
        drawn.append((one.optimizer.lr, one.model.alpha))
        return real(model, dataset, spec, one, *rest)

    monkeypatch.setattr(tune, "fit_loop", watching)
    whole = tune.tune(recipe, tmp_path / "whole", 5)
    expected, drawn, die_at = drawn, [], 2
    with pytest.raises(KeyboardInterrupt):
        tune.tune(recipe, tmp_path / "killed", 5)
    assert recipes.load(tmp_path / "killed/best.toml").optimizer.lr in (lr for lr, _ in drawn)
    die_at = -1
    killed = tune.tune(recipe, tmp_path / "killed", 5)
    assert drawn == expected
    assert drawn[0] == (recipe.optimizer.lr, recipe.model.alpha)  # the recipe's own come first
    assert len(set(drawn)) == killed.trials == 5
    assert killed == whole


def test_finalists_are_trained_once_more_with_other_seeds_which_decide(tiny: Recipe, tmp_path: Path, monkeypatch):
    seeds: list[int] = []
    real = tune.fit_loop

    def watching(model, dataset, spec, one, *rest):
        seeds.append(one.seed)
        return real(model, dataset, spec, one, *rest)

    monkeypatch.setattr(tune, "fit_loop", watching)
    short = replace(tiny, seed=0, trainer=replace(tiny.trainer, epochs=5))
    recipe = replace(short, search={"optimizer.lr": [0.02, 1e-9], "model.alpha": {"low": 0.0, "high": 1.0}})
    tune.tune(recipe, tmp_path / "study", 4)
    found = tune.tune(recipe, tmp_path / "study", 4, finalists=2)
    assert seeds == [0] * 4 + [1, 2, 3] * 2
    assert tune.tune(recipe, tmp_path / "study", 4, finalists=2) == found
    assert len(seeds) == 10  # what is known is not trained again
    assert len({finalist.trial for finalist in found.finalists}) == 2
    assert found.value == found.finalists[0].value >= found.finalists[1].value

    alone = replace(found.recipe, search={"optimizer.lr": [found.recipe.optimizer.lr]})
    others = [tune.tune(replace(alone, seed=seed), tmp_path / str(seed), 1).value for seed in (1, 2, 3)]
    assert found.value == pytest.approx(sum(others) / 3)
    assert recipes.load(tmp_path / "study/best.toml") == found.recipe
    kept = json.loads((tmp_path / "study/study.json").read_text())
    assert [one["value"] for one in kept["finalists"]] == [one.value for one in found.finalists]


def test_own_tables_are_searched_without_a_recipe(own: Path, monkeypatch, capsys):
    monkeypatch.chdir(own)
    tables = ["--nodes", "nodes.csv", "--edges", "edges.csv", "--target", "label"]
    assert main(["tune", *tables, "--trials", "2", "--finalists", "2", "--trainer.epochs", "2"]) == 0
    told = capsys.readouterr().out
    for field in tune.usual_search(Recipe()):
        assert field in told
    assert "finalists, with 3 other seeds" in told
    assert "graphcon train runs/tune-own/best.toml" in told
    assert main(["train", "runs/tune-own/best.toml", "--out", "again"]) == 0


@pytest.mark.parametrize(("name", "oscillates"), [("graphcon-gat", True), ("graphcon-SGConv", True), ("gcn", False)])
def test_only_oscillators_are_searched_for_alpha_and_gamma(tiny: Recipe, tmp_path: Path, name: str, oscillates: bool):
    recipe = replace(tiny, model=ModelConfig(name=name), trainer=replace(tiny.trainer, epochs=1))
    searched = tune.tune(recipe, tmp_path, 1).recipe.search
    assert ("model.alpha" in searched, "model.gamma" in searched) == (oscillates, oscillates)


def test_without_a_search_of_its_own_a_recipe_is_its_own_first_trial(tiny: Recipe, tmp_path: Path):
    changes = {"model.steps": 3, "model.channels": 24, "optimizer.lr": 0.05, "optimizer.weight_decay": 0.2}
    recipe = recipes.replace(replace(tiny, trainer=replace(tiny.trainer, epochs=1), search={}), changes)
    found = tune.tune(recipe, tmp_path, 1).recipe
    assert replace(found, search={}) == recipe
    assert found.search["model.steps"] == [3, 4, 8, 16]


def test_settings_outside_of_the_search_are_no_trial(tiny: Recipe, tmp_path: Path):
    space = {"optimizer.lr": [0.5, 0.6], "model.input_dropout": {"low": 0.1, "high": 0.2}}
    recipe = replace(tiny, trainer=replace(tiny.trainer, epochs=1), search=space)
    found = tune.tune(recipe, tmp_path, 1).recipe
    assert found.optimizer.lr in (0.5, 0.6)
    assert 0.1 <= (found.model.input_dropout or 0) <= 0.2


def test_trials_with_other_data_settings_are_trained_on_other_data(tiny: Recipe, tmp_path: Path, monkeypatch):
    seen = set()
    real = tune.fit_loop

    def watching(model, dataset, spec, one, *rest):
        seen.add((one.data.normalize, float(dataset.data.x.sum(1).max()) <= 1.001))
        return real(model, dataset, spec, one, *rest)

    monkeypatch.setattr(tune, "fit_loop", watching)
    recipe = replace(tiny, trainer=replace(tiny.trainer, epochs=1), search={"data.normalize": [False, True]})
    tune.tune(recipe, tmp_path, 6, finalists=2)
    assert seen == {(False, False), (True, True)}


def test_of_several_splits_the_mean_validation_counts(tiny: Recipe, tmp_path: Path):
    recipe = replace(tiny, trainer=replace(tiny.trainer, epochs=10), search={"optimizer.lr": [0.02]})
    single = [
        tune.tune(replace(recipe, data=replace(recipe.data, split=split)), tmp_path / str(split), 1).value
        for split in (0, 1)
    ]
    both = tune.tune(recipe, tmp_path / "both", 1, splits=(0, 1))
    assert both.value == pytest.approx(sum(single) / 2)


def test_of_several_seeds_the_mean_validation_counts(tiny: Recipe, tmp_path: Path):
    recipe = replace(tiny, trainer=replace(tiny.trainer, epochs=10), search={"optimizer.lr": [0.02]})
    single = [tune.tune(replace(recipe, seed=seed), tmp_path / str(seed), 1).value for seed in (0, 1)]
    assert single[0] != single[1]
    assert tune.tune(recipe, tmp_path / "both", 1, seeds=2).value == pytest.approx(sum(single) / 2)


def test_trials_are_compared_by_another_metric_than_epochs_are_selected_by(tiny: Recipe, tmp_path: Path):
    trainer = replace(tiny.trainer, epochs=12, metric="log_loss")
    recipe = replace(tiny, trainer=trainer, search={"optimizer.lr": [0.02]})
    found = tune.tune(recipe, tmp_path / "study", 1, metric="accuracy")
    trained = run.train(recipe, tmp_path / "run")
    assert trained is not None
    assert (found.metric, found.value) == ("accuracy", trained["val"]["accuracy"])
    with pytest.raises(InputError, match="holds a search with other metric"):
        tune.tune(recipe, tmp_path / "study", 2)
    with pytest.raises(InputError, match="--metric = 'mae', but the target is for classification"):
        tune.tune(recipe, tmp_path / "other", 1, metric="mae")


def test_a_search_is_not_gone_on_with_for_something_else(tiny: Recipe, tmp_path: Path):
    recipe = replace(tiny, trainer=replace(tiny.trainer, epochs=2), search={"optimizer.lr": [0.02]})
    tune.tune(recipe, tmp_path, 1)
    with pytest.raises(InputError, match="holds a search with other splits and seeds. Name another folder"):
        tune.tune(recipe, tmp_path, 2, splits=(0, 1), seeds=2)
    with pytest.raises(InputError, match="holds a search with other settings"):
        tune.tune(replace(recipe, trainer=replace(recipe.trainer, epochs=3)), tmp_path, 2)
    elsewhere = replace(recipe, trainer=replace(recipe.trainer, threads=1))
    assert tune.tune(elsewhere, tmp_path, 2).trials == 2


def test_a_limit_takes_so_many_graphs_of_every_part(molecules: Recipe):
    dataset, _ = load_dataset(replace(molecules.data, limit=20))
    assert [len(index) for _, index in dataset.split.parts()] == [20, 20, 20]


@pytest.mark.parametrize(
    ("limit", "name", "message"), [(0, "solubility", "part is empty"), (5, "cora", "is one graph")]
)
def test_a_limit_that_makes_no_sense_is_refused(limit: int, name: str, message: str):
    with pytest.raises(InputError, match=message):
        load_dataset(DataConfig(name=name, limit=limit))


@pytest.mark.parametrize(
    ("search", "message"),
    [
        ({"model.stepz": [1, 2]}, "there is no 'model.stepz'"),
        ({"model.steps": ["two"]}, "must be a whole number"),
        ({"optimizer.lr": {"low": 1.0, "high": 0.1}}, "with low < high"),
        ({"optimizer.lr": 0.1}, "must be a list of choices"),
    ],
)
def test_a_search_that_makes_no_sense_is_refused(tiny: Recipe, tmp_path: Path, search: dict, message: str):
    with pytest.raises(InputError, match=message):
        tune.tune(replace(tiny, search=search), tmp_path / "study", 2)


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
    before = _contents(tmp_path / "one")
    assert main([*line, "one", "--seeds", "2"]) == 2
    assert "--out one: there is a run in it already" in capsys.readouterr().err
    assert _contents(tmp_path / "one") == before
    assert [path for path in (tmp_path / "one").iterdir() if path.is_dir()] == []
    assert main([*line, "many", "--seeds", "2"]) == 0
    kept = _contents(tmp_path / "many")
    assert main([*line, "many"]) == 2
    assert "--out many: there are several runs in it" in capsys.readouterr().err
    for change in ("--model.channels 8", "--trainer.epochs 3"):
        assert main([*line, "many", "--seeds", "3", *change.split()]) == 2
        assert "--out many: split-0-seed-0 was trained there with other settings" in capsys.readouterr().err
    assert _contents(tmp_path / "many") == kept
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
    assert "test       auroc nan ± nan (0 of 2 runs)" in told
    summary = json.loads((tmp_path / "runs/metrics.json").read_text())
    assert summary["val"]["auroc"]["n"] == 2
    assert summary["test"]["auroc"]["n"] == 0
    assert summary["test"]["accuracy"]["n"] == 2
    assert main(["report", str(tmp_path / "runs")]) == 0
    for split in ("all", "3"):  # the column tells one
        assert main(["train", *data, "--split", split, "--out", str(tmp_path / "more")]) == 2
        assert "nodes.csv has one split, 'column part'. Leave it out" in capsys.readouterr().err
    assert not (tmp_path / "more").exists()
    results = [{"val": {"r2": value}} for value in (0.5, float("nan"), 0.7)]
    assert run.aggregate(results)["val"]["r2"] == pytest.approx({"mean": 0.6, "sd": 0.02**0.5, "n": 2})


@pytest.mark.parametrize(
    ("shares", "measured"), [("--train 1 --val 0", None), ("--train 0.8 --val 0", "test"), ("--train 0.5", "both")]
)
def test_where_parts_are_missing_nothing_is_said_of_them(own: Path, tmp_path, monkeypatch, capsys, shares, measured):
    monkeypatch.chdir(own)
    data = "--nodes nodes.csv --edges edges.csv --target label --model.channels 4 --model.steps 1 --trainer.epochs 6"
    out = str(tmp_path / "run")
    assert main(["train", *data.split(), *shares.split(), "--trainer.threads", "1", "--out", out]) == 0
    told = capsys.readouterr().out
    assert ("the last epoch, 6, is kept: there is no validation part, stopped by epochs" in told) == (
        measured != "both"
    )
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
    assert json.loads((tmp_path / "run/metrics.json").read_text())["val"]["mae"] > 0


def test_a_model_of_ones_own_is_fitted_by_the_same_loop():
    from torch_geometric.nn.models import GCN

    torch.manual_seed(0)
    dataset = graphcon.data.load("cora")
    model = GCN(1433, 16, 2, 7, dropout=0.5)
    fitted = graphcon.fit(model, dataset, epochs=20, lr=0.01)
    assert fitted.metric == "accuracy"
    assert fitted.value > 0.5
    trained = graphcon.fit(GCN(1433, 16, 2, 7), dataset.data, split=dataset.split, epochs=3)
    assert trained.epochs == 3


def test_a_model_that_cannot_be_a_program_says_so(tiny: Recipe, tmp_path: Path):
    recipe = replace(tiny, model=replace(tiny.model, name="h2gcn"), trainer=replace(tiny.trainer, epochs=1))
    run.train(recipe, tmp_path / "run")
    with pytest.raises(InputError, match="h2gcn cannot be exported"):
        export.export(run.load(tmp_path / "run"), tmp_path / "model.pt2")
    assert not (tmp_path / "model.pt2").exists()


def _small_graph(shift: int = 0) -> Data:
    generator = torch.Generator().manual_seed(0)
    nodes = torch.arange(60)
    return Data(
        x=torch.randn(60, 5, generator=generator),
        edge_index=torch.randint(60, (2, 200), generator=generator),
        y=(torch.randint(3, (60,), generator=generator) + shift) % 3,
        train_mask=nodes < 20,
        val_mask=(nodes >= 20) & (nodes < 40),
        test_mask=nodes >= 40,
    )


def test_fitting_leaves_the_random_numbers_of_others_alone():
    model = GraphCONNet(5, 8, 2, 3, dropout=0.5)
    before = torch.get_rng_state()
    graphcon.fit(model, _small_graph(), epochs=2)
    assert torch.equal(before, torch.get_rng_state())


def test_a_folder_of_another_training_is_not_gone_on_with(tmp_path: Path):
    torch.manual_seed(0)
    first = graphcon.fit(GraphCONNet(5, 8, 2, 3), _small_graph(), epochs=2, out=tmp_path)
    assert (first.epochs, graphcon.fit(GraphCONNet(5, 8, 2, 3), _small_graph(), epochs=4, out=tmp_path).epochs) == (
        2,
        4,
    )
    for model, data, lr, what in (
        (GraphCONNet(5, 16, 2, 3), _small_graph(), 0.01, "model"),
        (GraphCONNet(5, 8, 2, 3), _small_graph(shift=1), 0.01, "data"),
        (GraphCONNet(5, 8, 2, 3), _small_graph(), 0.5, "settings"),
    ):
        with pytest.raises(InputError, match=f"holds a training with other {what}: name another folder"):
            graphcon.fit(model, data, epochs=4, lr=lr, out=tmp_path)


def test_what_cannot_be_fitted_is_refused_by_name():
    with pytest.raises(InputError, match="optimizer.name.*'Adam'"):
        graphcon.fit(GraphCONNet(5, 8, 2, 3), _small_graph(), optimizer="Adam")
    with pytest.raises(InputError, match="the model has 2 outputs, but the target has 3 classes"):
        graphcon.fit(GraphCONNet(5, 8, 2, 2), _small_graph(), epochs=1)


def test_a_column_of_classes_is_taken_as_ogb_has_it():
    data, column = _small_graph(), _small_graph()
    column.y = column.y.view(-1, 1)
    results = []
    for graph in (data, column):
        torch.manual_seed(0)
        results.append(graphcon.fit(GraphCONNet(5, 8, 2, 3), graph, epochs=2).value)
    assert results[0] == results[1]
    assert column.y.shape == (60, 1)


def test_a_bare_oscillator_is_fitted_too():
    data = _small_graph()
    data.y = torch.arange(60) % 5
    assert graphcon.fit(GraphCON(GCNConv(5, 5), 2), data, epochs=2).epochs == 2


def _contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}


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
        ("--out elsewhere", "--out cannot be given with it"),
    ],
)
def test_a_run_goes_on_only_as_it_began(own: Path, options: str, told: str, monkeypatch, capsys):
    monkeypatch.chdir(own)
    before = _contents(own / "run")
    for resume in (["--resume", "run"], ["--resume=run"]):
        assert main(["train", *resume, *options.split()]) == 2
        error = capsys.readouterr().err
        assert told in error
        assert "tart a new run with" in error
    assert _contents(own / "run") == before
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
    before = _contents(elsewhere / "run")
    told = json.loads(before["metrics.json"])
    capsys.readouterr()
    assert main(["evaluate", "run", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == {part: told[part] for part in ("val", "test")}
    assert main(["train", "--resume", "run"]) == 0
    assert _contents(elsewhere / "run") == before
    assert main(["report", "run"]) == 0


@pytest.mark.parametrize("words", ["evaluate run", "report .", "diagnose run", "predict run --out a.csv"])
def test_tables_that_changed_since_training_are_told(elsewhere: Path, words: str, capsys):
    table = elsewhere / "trained" / "edges.csv"
    table.write_text(table.read_text() + "n1,n3,1.0\n")
    before = _contents(elsewhere / "run")
    for line in (words.split(), ["train", "--resume", "run"]):
        assert main(line) == 2
        told = capsys.readouterr().err
        assert f"{table}: is not the table of edges that the run run was trained on, its content differs" in told
    assert _contents(elsewhere / "run") == before
    assert not (elsewhere / "a.csv").exists()


def test_tables_that_moved_are_told_and_found_again_where_the_user_says(elsewhere: Path, capsys):
    (elsewhere / "trained").rename(elsewhere / "moved")
    before = _contents(elsewhere / "run")
    assert main(["evaluate", "run"]) == 2
    told = capsys.readouterr().err
    assert f"{elsewhere / 'trained' / 'nodes.csv'}: is not there, the table of nodes that the run run" in told
    assert "graphcon train --resume run --nodes FILE" in told
    tables = ["--nodes", "nodes.csv", "--edges", "edges.csv"]
    assert main(["train", "--resume", "run", *tables]) == 2
    assert "nodes.csv: is not the table of nodes that the run run was trained on" in capsys.readouterr().err
    assert _contents(elsewhere / "run") == before
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
    file.unlink()  # as a run that was stopped
    assert main(["evaluate", str(tmp_path / "run")]) == 0
    assert not file.exists()
