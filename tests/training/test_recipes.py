import json
import re
import warnings
from dataclasses import replace
from pathlib import Path

import pytest

from graphcon.cli import main
from graphcon.errors import InputError
from graphcon.stability import DegenerateDynamicsWarning
from graphcon.training import recipes
from graphcon.training.config import Recipe
from graphcon.training.model import build
from graphcon.training.spec import TaskSpec


def test_every_packaged_recipe_is_read_and_builds_its_network():
    found = recipes.packaged()
    assert len(found) > 0
    for name, path in found.items():
        recipe = recipes.load(name)
        said = recipes.summary(path)
        assert said.endswith("."), f"{name} does not say what it is: {said}"
        assert len(said) < 220, f"{name} says what it is in {len(said)} characters"
        assert len(path.read_text().splitlines()) <= 48
        task = "node" if recipe.data.name in ("cora", "citeseer", "pubmed", "ppi") else "graph"
        spec = TaskSpec(task, "regression", 3, 5, edge_dim=2)
        # The widest are built narrower: drawing a hundred million weights shows nothing.
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DegenerateDynamicsWarning)  # as the paper prints it
            build(replace(recipe.model, channels=min(recipe.model.channels, 256)), spec)


def test_a_recipe_survives_the_way_to_a_file_and_back(tmp_path: Path):
    recipe = recipes.from_dict(
        {
            "data": {"nodes": "n.csv", "edges": "e.csv", "table": {"target": ["y"]}},
            "model": {"heads": 3},
            "search": {"seed": [1, 2]},
        }
    )
    (tmp_path / "r.toml").write_text(recipes.to_toml(recipe))
    assert recipes.load(tmp_path / "r.toml") == recipe
    assert recipes.from_dict({}) == Recipe()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[model]\nstepz = 3", r"there is no 'model.stepz'. Did you mean 'steps'\?"),
        ("[modell]\nsteps = 3", r"there is no 'modell'. Did you mean 'model'\?"),
        ("[model]\nsteps = 3.5", r"model.steps = 3.5, but must be a whole number"),
        ("[model]\nsteps = true", r"model.steps = True, but must be a whole number"),
        ("[model]\ndt = 'half'", r"model.dt = 'half', but must be a number"),
        ("[model]\ntrainable = 1", r"model.trainable = 1, but must be true or false"),
        ("[optimizer]\nname = 'adan'", r"optimizer.name = 'adan', but must be one of .*Did you mean 'adam'\?"),
        ("model = 3", r"model = 3, but must be a table"),
        ("[data.table]\ntarget = 'y'", r"data.table.target = 'y', but must be a list"),
        ("[data\nname = 1", r"cannot be read as TOML"),
    ],
)
def test_a_slip_in_a_recipe_is_named_with_the_cure(tmp_path: Path, text: str, message: str):
    (tmp_path / "r.toml").write_text(text)
    with pytest.raises(InputError, match=message):
        recipes.load(tmp_path / "r.toml")


@pytest.mark.parametrize(
    ("field", "value", "rule"),
    [
        ("data.batch_size", 0, "at least 1"),
        ("data.workers", -1, "at least 0"),
        ("model.channels", -1, "at least 1"),
        ("model.dt", 0.0, "above 0"),
        ("model.alpha", float("inf"), "at least 0"),
        ("model.input_dropout", 1.0, "at least 0 and below 1"),
        ("optimizer.lr", float("nan"), r"above 0 and below 1e\+06"),
        ("optimizer.lr", 1e38, r"above 0 and below 1e\+06"),
        ("optimizer.weight_decay", -1e-9, "at least 0"),
        ("schedule.factor", 1.5, "above 0 and below 1"),
        ("trainer.validate_every", 0, "at least 1"),
    ],
)
def test_a_number_out_of_range_is_refused_with_its_rule(field: str, value: float, rule: str):
    with pytest.raises(InputError, match=f"{field} = {re.escape(repr(value))}, but must be {rule}$"):
        recipes.replace(Recipe(), {field: value})


def test_the_ends_of_ranges_are_allowed():
    ends = {"data.batch_size": 1, "data.workers": 0, "model.alpha": 0.0, "model.dropout": 0.0, "trainer.patience": 0}
    changed = recipes.replace(Recipe(), ends)
    assert (changed.data.batch_size, changed.model.alpha, changed.trainer.patience) == (1, 0.0, 0)


def test_a_recipe_that_is_not_there_is_said_so(tmp_path: Path):
    with pytest.raises(InputError, match=r"no recipe is called 'cora-gnc'. Did you mean 'cora-gcn'"):
        recipes.load("cora-gnc")
    with pytest.raises(InputError, match="there is no such file"):
        recipes.load(tmp_path / "none.toml")


def test_the_list_of_recipes_holds_those_with_the_part_in_their_names(capsys):
    assert main(["recipes", "Texas", "--json"]) == 0
    assert list(json.loads(capsys.readouterr().out)) == [name for name in recipes.packaged() if "texas" in name]
    assert main(["recipes", "texass"]) == 2
    assert "no recipe has 'texass' in its name. See: graphcon recipes" in capsys.readouterr().err


def test_the_essence_of_a_recipe_is_what_its_result_depends_on():
    recipe = Recipe()
    others = {
        "trainer.accelerator": "auto",
        "trainer.devices": 2,
        "trainer.threads": 3,
        "trainer.checkpoint_seconds": 1.0,
        "trainer.tensorboard": True,
        "model.memory": "store",
        "data.root": "elsewhere",
        "data.workers": 4,
    }
    assert set(others) == set(recipes.INCIDENTAL)
    assert recipes.essence(recipes.replace(recipe, others)) == recipe
    for field, value in {"trainer.epochs": 3, "model.steps": 3, "data.split": 3, "seed": 3}.items():
        changed = recipes.replace(recipe, {field: value})
        assert recipes.essence(changed) == changed


def test_fields_are_changed_by_their_dotted_names():
    changed = recipes.replace(Recipe(), {"model.steps": 3, "optimizer.lr": 1, "seed": 7})
    assert (changed.model.steps, changed.optimizer.lr, changed.seed) == (3, 1.0, 7)
    with pytest.raises(InputError, match="there is no 'model.step'"):
        recipes.replace(Recipe(), {"model.step": 3})
