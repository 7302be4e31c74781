"""The search for settings."""

import json
import warnings
from dataclasses import replace
from functools import partial
from pathlib import Path

import optuna
import pytest
import torch

from folders import contents
from graphcon.cli import main
from graphcon.errors import InputError
from graphcon.training import recipes, run, search_space, team, trials, tune
from graphcon.training.config import ModelConfig, Recipe
from graphcon.training.folder import RunFolder


def test_a_search_finds_the_better_setting_goes_on_and_never_sees_the_test_part(
    tiny: Recipe, tmp_path: Path, monkeypatch
):
    seen = []
    real = trials.fit_loop

    def watching(model, dataset, *rest):
        seen.append((len(dataset.split.test), int((dataset.data.y == -1).sum())))
        return real(model, dataset, *rest)

    monkeypatch.setattr(trials, "fit_loop", watching)
    recipe = replace(
        tiny,
        trainer=replace(tiny.trainer, epochs=15),
        search={"optimizer.lr": [1e-9, 0.02], "model.steps": {"low": 1, "high": 3}},
    )
    first = tune.tune(recipe, tmp_path / "study", 3)
    second = tune.tune(recipe, tmp_path / "study", 6)
    assert (first.trials, second.trials, len(seen)) == (3, 6, 6)
    assert second.recipe.optimizer.lr == 0.02
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
    real = trials.fit_loop

    def watching(model, dataset, spec, one, *rest):
        if len(drawn) == die_at:
            raise KeyboardInterrupt
        drawn.append((one.optimizer.lr, one.model.alpha))
        return real(model, dataset, spec, one, *rest)

    monkeypatch.setattr(trials, "fit_loop", watching)
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
    real = trials.fit_loop

    def watching(model, dataset, spec, one, *rest):
        seeds.append(one.seed)
        return real(model, dataset, spec, one, *rest)

    monkeypatch.setattr(trials, "fit_loop", watching)
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


class Here:
    """Stands for the processes of a search: this one does their work, the last trial first, and may die on its way."""

    dies_at: tuple[int, ...] = ()

    def __init__(self, workers: int):
        pass

    def __enter__(self):
        return self

    def __exit__(self, *_):
        pass

    def each(self, function, jobs):
        for key, job in sorted(jobs.items(), reverse=True):  # who is faster makes no difference
            if key in self.dies_at:
                raise KeyboardInterrupt
            yield key, function(*job)


@pytest.fixture
def pair(tiny: Recipe) -> Recipe:
    """A search in which every trial is drawn anew."""
    search = {"optimizer.lr": {"low": 0.001, "high": 0.1, "log": True}, "model.alpha": {"low": 0.0, "high": 1.0}}
    return replace(tiny, trainer=replace(tiny.trainer, epochs=1), search=search)


def test_processes_that_search_together_find_what_this_one_finds_two_at_a_time(
    pair: Recipe, tmp_path: Path, monkeypatch
):
    def search(name: str, **others) -> tune.Tuned:
        return tune.tune(pair, tmp_path / name, 5, splits=(0, 1), finalists=2, workers=2, **others)

    told: list[str] = []
    together = search("together", tell=told.append)
    assert {f"trial {n}" for n in range(5)} < {line.split("  ")[0] for line in told}
    assert f"trial {together.finalists[0].trial} once more  val accuracy {together.value:.4f}" in told

    monkeypatch.setattr(team, "Processes", Here)
    monkeypatch.setattr(Here, "dies_at", (2,))
    with pytest.raises(KeyboardInterrupt):
        search("here")
    monkeypatch.setattr(Here, "dies_at", ())
    assert search("here") == together


def test_a_search_of_several_at_a_time_loses_none_that_has_ended_and_goes_on_as_if_nothing_had_been(
    pair: Recipe, tmp_path: Path, monkeypatch
):
    drawn: list[tuple[float, float]] = []

    def value(_, changes, *rest) -> float:
        drawn.append((changes["optimizer.lr"], changes["model.alpha"]))
        return changes["optimizer.lr"] - (changes["model.alpha"] - 0.3) ** 2

    # The sampler learns from what it knows only after ten trials: so that two know less than one, it learns at once.
    knowing = partial(optuna.samplers.TPESampler, n_startup_trials=1)
    monkeypatch.setattr(optuna.samplers, "TPESampler", knowing)
    monkeypatch.setattr(team, "Processes", Here)
    monkeypatch.setattr(trials.Trials, "_value", value)
    whole = tune.tune(pair, tmp_path / "whole", 6, workers=2)
    expected = sorted(drawn)
    for dies_at in ((0,), (2,), (5,), (4, 5)):
        drawn.clear()
        out = tmp_path / f"dies at {dies_at}"
        monkeypatch.setattr(Here, "dies_at", dies_at)
        with pytest.raises(KeyboardInterrupt):
            tune.tune(pair, out, 6, workers=2)
        monkeypatch.setattr(Here, "dies_at", ())
        assert tune.tune(pair, out, 6, workers=2) == whole
        assert sorted(drawn) == expected  # each once
    for lines in range(2, len((tmp_path / "whole/study.log").read_bytes().splitlines())):
        cut = tmp_path / f"{lines} lines"
        cut.mkdir()
        kept = (tmp_path / "whole/study.log").read_bytes().splitlines(keepends=True)[:lines]
        (cut / "study.log").write_bytes(b"".join(kept))  # as a machine leaves it that dies while results are written
        assert tune.tune(pair, cut, 6, workers=2) == whole
    assert tune.tune(pair, tmp_path / "longer", 3, workers=2).trials == 3
    assert tune.tune(pair, tmp_path / "longer", 6, workers=2) == whole


def test_own_tables_are_searched_without_a_recipe(own: Path, monkeypatch, capsys):
    monkeypatch.chdir(own)
    tables = ["--nodes", "nodes.csv", "--edges", "edges.csv", "--target", "label"]
    assert main(["tune", *tables, "--trials", "2", "--finalists", "2", "--trainer.epochs", "2"]) == 0
    told = capsys.readouterr().out
    for field in search_space.usual_search(Recipe()):
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
    real = trials.fit_loop

    def watching(model, dataset, spec, one, *rest):
        seen.add((one.data.normalize, float(dataset.data.x.sum(1).max()) <= 1.001))
        return real(model, dataset, spec, one, *rest)

    monkeypatch.setattr(trials, "fit_loop", watching)
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


def test_a_trial_whose_metric_is_not_defined_has_failed(tiny: Recipe, tmp_path: Path, monkeypatch):
    nothing = iter([float("nan"), 0.5, float("nan")])
    monkeypatch.setattr(trials.Trials, "_value", lambda *_: next(nothing))
    recipe = replace(tiny, search={"optimizer.lr": [0.02]})
    found = tune.tune(recipe, tmp_path, 3)
    assert (found.trials, found.failed, found.value) == (3, 2, 0.5)


def test_a_search_by_what_the_validation_part_does_not_define_says_so_in_the_end(tmp_path: Path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    parts = ["train"] * 10 + ["val"] * 4  # those for validation are of one class, which has no area under the curve
    rows = (f"{i},{i % 3},{'ab'[i % 2 if part == 'train' else 0]},{part}" for i, part in enumerate(parts))
    Path("nodes.csv").write_text("\n".join(["id,v,label,part", *rows]))
    Path("edges.csv").write_text("\n".join(["source,target", *(f"{i},{(i + 1) % 14}" for i in range(14))]))
    data = "--nodes nodes.csv --edges edges.csv --target label --split-column part --trainer.metric auroc"
    small = "--model.channels 4 --model.steps 1 --trainer.epochs 2 --trainer.threads 1 --trials 2"
    line = ["tune", *data.split(), *small.split()]
    assert main([*line, "--out", "study"]) == 2
    assert "all 2 failed, for the loss became infinite or the validation part does not define auroc" in (
        capsys.readouterr().err
    )
    assert main([*line, "--out", "other", "--metric", "log_loss"]) == 0


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
    elsewhere = replace(recipe, trainer=replace(recipe.trainer, threads=1, checkpoint_seconds=1.0))
    elsewhere = replace(elsewhere, data=replace(recipe.data, workers=1), model=replace(recipe.model, memory="store"))
    assert tune.tune(elsewhere, tmp_path, 2).trials == 2


@pytest.mark.parametrize(
    ("search", "message"),
    [
        ({"model.stepz": [1, 2]}, "there is no 'model.stepz'"),
        ({"model.steps": ["two"]}, "must be a whole number"),
        ({"optimizer.lr": {"low": 1.0, "high": 0.1}}, "with low < high"),
        ({"optimizer.lr": 0.1}, "must be a list of choices"),
        ({"model.dropout": [0.1, 1.5]}, "model.dropout = 1.5, but must be"),
        ({"optimizer.lr": {"low": 0.1, "high": 1e7}}, "optimizer.lr = 10000000.0, but must be"),
        ({"model.act": ["relu", "rulo"]}, 'search "model.act": model.name = .*rulo'),
        ({"model.options.width": [1, 2]}, 'search "model.options.width": .*there is no model.options.width'),
    ],
)
def test_a_search_that_makes_no_sense_is_refused(tiny: Recipe, tmp_path: Path, search: dict, message: str):
    with pytest.raises(InputError, match=message):
        tune.tune(replace(tiny, search=search), tmp_path / "study", 2)


@pytest.fixture
def short(tiny: Recipe) -> Recipe:
    return replace(tiny, trainer=replace(tiny.trainer, epochs=1), search={"optimizer.lr": {"low": 0.001, "high": 0.1}})


def _trials(out: Path) -> dict:
    return json.loads((out / "study.json").read_text())


def test_what_mattered_is_told_where_there_are_trials_enough_to_know(short: Recipe, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    Path("r.toml").write_text(recipes.to_toml(short))
    for many, known in ((tune.TELLING - 1, set()), (tune.TELLING, {"optimizer.lr"})):
        assert main(["tune", "r.toml", "--out", "study", "--trials", str(many)]) == 0
        assert ("importance" in capsys.readouterr().out) == bool(known)
        assert _trials(Path("study"))["importance"].keys() == known


@pytest.mark.parametrize("cut", [1, 40])
def test_a_search_goes_on_after_half_a_line(short: Recipe, tmp_path: Path, cut: int):
    tune.tune(short, tmp_path / "whole", 3)
    tune.tune(short, tmp_path / "cut", 2)
    log = tmp_path / "cut" / "study.log"
    log.write_bytes(log.read_bytes()[:-cut])  # what a full disk or a dead machine leaves
    tune.tune(short, tmp_path / "cut", 3)
    assert _trials(tmp_path / "cut") == _trials(tmp_path / "whole")


def test_a_damaged_line_of_a_study_is_told_with_a_cure_that_works(short: Recipe, tmp_path: Path):
    before = tune.tune(short, tmp_path / "study", 2)
    log = tmp_path / "study" / "study.log"
    lines = log.read_bytes().splitlines(keepends=True)
    log.write_bytes(b"".join([*lines[:-3], b"\0\0\0\n", *lines[-2:]]))
    with pytest.raises(InputError, match=rf"study.log, line {len(lines) - 2}: is not what was written there. Delete"):
        tune.tune(short, tmp_path / "study", 2)
    log.write_bytes(b"".join(lines[:-3]))
    assert tune.tune(short, tmp_path / "study", 2) == before


def test_a_lock_that_a_killed_search_left_does_not_hold_the_next(short: Recipe, tmp_path: Path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("study").mkdir()
    Path("study/study.log.lock").symlink_to("study/study.log")
    assert tune.tune(short, Path("study"), 1).trials == 1


def test_a_search_goes_on_whose_settings_are_kept_as_they_once_were(short: Recipe, tmp_path: Path):
    tune.tune(short, tmp_path, 1)
    log = tmp_path / "study.log"
    assert "checkpoint_seconds = 10.0" in log.read_text()
    log.write_text(log.read_text().replace("checkpoint_seconds = 10.0", "checkpoint_seconds = 3.0"))
    assert tune.tune(short, tmp_path, 2).trials == 2


@pytest.mark.parametrize("workers", [1, 2])
def test_a_search_takes_the_threads_of_its_recipe(short: Recipe, tmp_path: Path, workers: int, monkeypatch):
    monkeypatch.setattr(team, "Processes", Here)
    before = torch.get_num_threads()
    try:
        tune.tune(replace(short, trainer=replace(short.trainer, threads=3)), tmp_path, 2, workers=workers)
        assert torch.get_num_threads() == 3
    finally:
        torch.set_num_threads(before)


def test_processes_that_search_tell_a_warning_without_its_place_in_the_code(short: Recipe, tmp_path, monkeypatch):
    monkeypatch.setattr(team, "Processes", Here)
    for finalists in (1, 2):  # in the search, and once more
        monkeypatch.setattr(warnings, "formatwarning", lambda *_: "raw")
        with warnings.catch_warnings():
            tune.tune(short, tmp_path, 2, workers=2, finalists=finalists)
        assert warnings.formatwarning("unstable", UserWarning, "file.py", 1) == "unstable\n"


def test_a_search_is_made_by_one_process_at_a_time(short: Recipe, tmp_path: Path):
    tune.tune(short, tmp_path, 1)
    with RunFolder(tmp_path).held(), pytest.raises(InputError, match="another process is searching there"):
        tune.tune(short, tmp_path, 2)


def test_a_search_is_not_put_into_a_run_nor_a_run_into_a_search(short: Recipe, tmp_path: Path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    run.train(short, Path("run"))
    before = contents(Path("run"))
    words = ["cora-gcn", "--trainer.epochs", "1", "--model.channels", "4", "--trainer.threads", "1"]
    assert main(["tune", *words, "--trials", "1", "--out", "run"]) == 2
    assert "--out run: there is a run in it already" in capsys.readouterr().err
    assert contents(Path("run")) == before
    tune.tune(short, Path("study"), 1)
    before = contents(Path("study"))
    assert main(["train", *words, "--out", "study"]) == 2
    assert "--out study: there is a search in it" in capsys.readouterr().err
    for command in ("train --resume study", "evaluate study", "predict study --out a.csv", "report study"):
        assert main(command.split()) == 2
        assert "study: is a search, not a run. Train what it found" in capsys.readouterr().err
    assert contents(Path("study")) == before


def test_a_file_in_the_place_of_a_search_is_told(tmp_path: Path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    Path("file").touch()
    for out in ("file", "file/study"):
        assert main(["tune", "cora-gcn", "--trials", "1", "--out", out]) == 2
        assert "file is a file, but a folder is needed" in capsys.readouterr().err
