"""A recipe from the words of a command line, before its options are read: these start from the recipe's values."""

import shlex
import sys
import tomllib
from dataclasses import fields, replace
from itertools import pairwise
from pathlib import Path
from typing import Any

from graphcon.data._options import TableOptions
from graphcon.errors import InputError
from graphcon.training.config import DataConfig, Recipe

_OPTIONS = "--model.options."
_WITH_RECIPE = (["train"], ["tune"], ["compare"])
#: The models that `graphcon compare` trains where none are named.
COMPARED = "gcn,graphcon-gcn"


def read_recipe(argv: list[str]) -> tuple[Recipe, list[str]]:
    """The recipe that the words name, and the words that are left, every option by its full name."""
    if argv[:1] == ["compare"]:
        _check_compared(argv)
    argv, options = _model_options(argv)
    recipe = _named_recipe(argv)
    if options:
        from graphcon.training import recipes

        recipe = recipes.replace(recipe, options)
    spelled = _spelled_out(argv)
    _check_lists(spelled)
    return recipe, spelled


def splits(split: str | None, config: Recipe) -> list[int]:
    """The splits that ``--split`` names."""
    if split is None:
        return [config.data.split]
    if split == "all":
        return list(range(10))
    numbers = split.split(",")
    if not all(number.isdecimal() for number in numbers):
        raise InputError(f"--split {split}: must be a number, several with commas between, or all")
    chosen = [int(number) for number in numbers]
    twice = [number for number in chosen if chosen.count(number) > 1]
    if twice:
        raise InputError(f"--split {split}: names split {twice[0]} twice. Name it once, or say --seeds 2")
    return chosen


def _spelled_out(argv: list[str]) -> list[str]:
    """Lets the options of own tables be given to commands with a recipe by their bare names: --target for all it is."""
    if argv[:1] not in _WITH_RECIPE:
        return argv
    short = {f"--{field.name.replace('_', '-')}" for field in fields(TableOptions)} - {"--seed"}
    spelled = []
    for word in argv:
        name, equals, value = word.partition("=")
        spelled.append(f"--data.table.{name[2:]}{equals}{value}" if name.replace("_", "-") in short else word)
    return spelled


def _check_lists(argv: list[str]) -> None:
    """Refuses an option of several values that is given twice: only the last would be heard."""
    lists = {
        f"--{start}{field.name}": field.name
        for field in fields(TableOptions)
        for start in ("", "data.table.")
        if "tuple" in str(field.type)
    }
    given: dict[str, list[str]] = {}
    for word, after in pairwise([*argv, ""]):
        name, equals, value = word.partition("=")
        if (field := lists.get(name.replace("-", "_").replace("__", "--", 1))) is not None:
            given.setdefault(field, []).append(value if equals else after)
    for field, values in given.items():
        option = f"--{field.replace('_', '-')}"
        if len(values) > 1:
            raise InputError(
                f"{option} is given {len(values)} times. Name all after one: {option} {shlex.join(values)}"
            )


def _model_options(argv: list[str]) -> tuple[list[str], dict[str, Any]]:
    """Takes out --model.options.KEY VALUE, whose keys depend on the model, with the values as TOML reads them."""
    rest, options = [], {}
    words = iter(argv)
    for word in words:
        name, equals, value = word.partition("=")
        if not name.startswith(_OPTIONS):
            rest.append(word)
            continue
        value = value if equals else next(words, None)
        if value is None:
            raise InputError(f"{name}: its value is missing")
        options[name.removeprefix("--")] = _as_toml(value)
    return rest, options


def _as_toml(text: str) -> Any:
    """A number or true or false where it reads as one, else the text."""
    try:
        return tomllib.loads(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError:
        return text


def _check_compared(argv: list[str]) -> None:
    """Refuses what a comparison would not hear: it has its own options for the models and their depths."""
    models = [COMPARED, *_given(argv, "--models")][-1]
    for name in _given(argv, "--model.name"):
        if name not in models.replace(" ", "").split(","):
            raise InputError(f"--model.name {name}: is not among --models {models}. Say --models {models},{name}")
    for steps in _given(argv, "--model.steps"):
        raise InputError(f"--model.steps {steps}: a comparison has --depths in its place. Say --depths {steps}")


def _named_recipe(argv: list[str]) -> Recipe:
    """The recipe that the command line names, before its options are read: they start from its values."""
    from graphcon.training import recipes

    if argv[:1] not in _WITH_RECIPE:
        return Recipe()
    resumed = _given(argv, "--resume")
    if resumed:
        return recipes.load(recipes.of_run(Path(resumed[-1]), "--resume"))
    if len(argv) > 1 and not argv[1].startswith("-"):
        return _for_named_model(_for_own_tables(recipes.load(argv[1]), argv), argv)
    return Recipe()


def _for_own_tables(recipe: Recipe, argv: list[str]) -> Recipe:
    """Leaves out which data the recipe is for, and how they are read, where the command line names tables."""
    tables = any(
        _given(argv, f"{start}{table}") for start in ("--", "--data.") for table in ("nodes", "edges", "graphs")
    )
    data, default = recipe.data, DataConfig()
    if data.name is None or not tables or _given(argv, "--data") or _given(argv, "--data.name"):
        return recipe
    print(f"Own tables take the place of {data.name}; the rest is as the recipe has it", file=sys.stderr)
    own = ("name", "protocol", "split", "root", "normalize", "limit", "table")
    return replace(recipe, data=replace(data, **{field: getattr(default, field) for field in own}))


def _for_named_model(recipe: Recipe, argv: list[str]) -> Recipe:
    """Leaves out what the recipe says for its own model alone, where the command line names another one."""
    named = _given(argv, "--model.name")
    if not named or named[-1] == recipe.model.name:
        return recipe
    from graphcon.training.model import for_model

    try:
        model = for_model(recipe.model, named[-1])
    except ValueError:
        return recipe  # an unknown name is told of where the model is built
    changed = [field.name for field in fields(model) if getattr(model, field.name) != getattr(recipe.model, field.name)]
    left_out = ", ".join(f"model.{name}" for name in changed if name != "name")
    if left_out:
        print(f"{named[-1]} has no use for this of the recipe, which is left out: {left_out}", file=sys.stderr)
    return replace(recipe, model=model)


def _given(argv: list[str], option: str) -> list[str]:
    """The values of an option, given as the next word or after an equals sign."""
    found = [word.partition("=")[2] or after for word, after in pairwise([*argv, ""]) if word.split("=")[0] == option]
    return [value for value in found if value]
