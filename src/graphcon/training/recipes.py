"""Reads and writes recipes: packaged ones by name, others by path, with every slip named and the cure beside it."""

import dataclasses
import re
import tomllib
import types
from importlib.resources import files
from itertools import takewhile
from pathlib import Path
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

import tomli_w

from graphcon._ranges import check_ranges
from graphcon._words import counted, did_you_mean
from graphcon.errors import InputError
from graphcon.training.config import Recipe

_FOLDER = files("graphcon.experiments") / "recipes"
#: Where and how fast a training is done, and what is told of it: fields that do not change what it comes to.
INCIDENTAL = (
    "trainer.accelerator",
    "trainer.devices",
    "trainer.threads",
    "trainer.checkpoint_seconds",
    "trainer.tensorboard",
    "model.memory",
    "data.root",
    "data.workers",
)

#: What others call a value of ours.
_ELSEWHERE = {"gpu": "cuda"}


def packaged() -> dict[str, Path]:
    """The recipes that come with the package, by name."""
    found = (Path(str(entry)) for entry in _FOLDER.iterdir() if entry.name.endswith(".toml"))
    return {path.stem: path for path in sorted(found)}


def load(name: str | Path) -> Recipe:
    """The recipe of that name or path.

    Raises:
        InputError: There is none, it is no TOML, or a key or a value is wrong.
    """
    path = Path(name)
    if path.suffix != ".toml":
        known = packaged()
        if str(name) not in known:
            if set(path.suffixes) & {".csv", ".tsv", ".txt", ".parquet", ".pq"}:
                raise InputError(
                    f"{name}: is a table, and a recipe is wanted here. Name tables with: --nodes {name} --edges FILE "
                    "--target COLUMN"
                )
            hint = did_you_mean(name, known, likeness=0.5)
            raise InputError(f"no recipe is called {str(name)!r}.{hint} See: graphcon recipes, or name a .toml file")
        path = known[str(name)]
    try:
        return from_toml(path.read_text(encoding="utf-8"), str(path))
    except FileNotFoundError:
        raise InputError(
            f"{path}: there is no such file. Name a .toml file, or a recipe of: graphcon recipes"
        ) from None
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise InputError(f"{path}: cannot be read as TOML ({error}). Correct it") from None


def of_run(run: Path, option: str = "") -> Path:
    """The recipe in a run folder.

    Args:
        run: The folder.
        option: What the user named it by, for the message.

    Raises:
        InputError: There is none, so that this is no run.
    """
    file, named = run / "recipe.toml", f"{option} {run}".strip()
    if holds_search(run):
        raise InputError(
            f"{named}: is a search, not a run. Train what it found, and use that: graphcon train {run / 'best.toml'}"
        )
    if not file.is_file() and (inside := sorted(run.glob("*/recipe.toml"))):
        raise InputError(
            f"{named}: is no run, but holds {counted(len(inside), 'run')}. Name one, such as {inside[0].parent}"
        )
    if not file.is_file():
        raise InputError(f"{named}: there is no run in it (no recipe.toml). Name a folder made by: graphcon train")
    return file


def holds_search(folder: Path) -> bool:
    """Whether a folder is that of a search, and of no run."""
    return (folder / "study.log").exists() and not (folder / "model.json").exists()


def summary(path: Path) -> str:
    """The first sentence of the comment that a recipe begins with: what it is."""
    comment = takewhile(lambda line: line.startswith("#"), path.read_text(encoding="utf-8").splitlines())
    words = " ".join(line.removeprefix("#").strip() for line in comment)
    return re.split(r"(?<=\.) ", words, maxsplit=1)[0]


def from_dict(values: dict[str, Any], where: str = "recipe") -> Recipe:
    """The recipe that plain values describe; an unknown key, a wrong type or a number out of range is refused."""
    recipe = _build(Recipe, values, where, ())
    try:
        check_ranges(recipe)
    except InputError as error:
        raise InputError(f"{where}: {error}") from None
    return recipe


def from_toml(text: str, where: str = "recipe") -> Recipe:
    """The recipe that :func:`to_toml` wrote, or a user."""
    return from_dict(tomllib.loads(text), where)


def to_dict(recipe: Recipe) -> dict[str, Any]:
    """Plain values, without what is None: TOML has no word for it."""
    return _plain(dataclasses.asdict(recipe))


def to_toml(recipe: Recipe) -> str:
    """The recipe as text that :func:`load` reads back."""
    return tomli_w.dumps(to_dict(recipe))


def flat(recipe: Recipe) -> dict[str, Any]:
    """Plain values by their dotted names, without what is None."""
    return _flat(to_dict(recipe))


def changes(before: Recipe, after: Recipe) -> dict[str, tuple[Any, Any]]:
    """What differs: both values by the dotted name of the field, None where it is not set."""
    old, new = flat(before), flat(after)
    return {name: (old.get(name), new.get(name)) for name in old | new if old.get(name) != new.get(name)}


def essence(recipe: Recipe) -> Recipe:
    """What the result of a training depends on: the recipe with all :data:`INCIDENTAL` fields at their defaults."""
    values = to_dict(recipe)
    for field in INCIDENTAL:
        table, name = field.split(".")
        values[table].pop(name, None)
    return from_dict(values)


def value(recipe: Recipe, field: str) -> Any:
    """A field by its dotted name; None where it is not set."""
    found: Any = to_dict(recipe)
    for name in field.split("."):
        found = found.get(name, {})
    return None if found == {} else found


def replace(recipe: Recipe, changes: dict[str, Any]) -> Recipe:
    """The recipe with some fields changed, by their dotted names; values are checked as those of a file."""
    values = to_dict(recipe)
    for key, value in changes.items():
        *tables, last = key.split(".")
        table = values
        for name in tables:
            table = table.setdefault(name, {})
        table[last] = value
    return from_dict(values, "the changed recipe")


def _flat(values: dict[str, Any], prefix: str = "") -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, value in values.items():
        found |= _flat(value, f"{prefix}{key}.") if isinstance(value, dict) else {f"{prefix}{key}": value}
    return found


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items() if item is not None}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return str(value) if isinstance(value, Path) else value


def _build(cls: type, values: dict[str, Any], where: str, path: tuple[str, ...]) -> Any:
    hints = get_type_hints(cls)
    known = [field.name for field in dataclasses.fields(cls)]
    for key in values:
        if key not in known:
            raise InputError(
                f"{where}: there is no {'.'.join((*path, key))!r}.{did_you_mean(key, known)} "
                f"{'.'.join(path) or 'A recipe'} has: {', '.join(known)}"
            )
    return cls(**{key: convert(hints[key], value, where, (*path, key)) for key, value in values.items()})


def convert(kind: Any, value: Any, where: str, path: tuple[str, ...]) -> Any:
    """The value as the type wants it: no guessing, but a whole number is a number too.

    Args:
        kind: The type.
        value: The value, as TOML has it.
        where: The file, for the message.
        path: The names of the tables and of the field, for the message.
    """
    origin, arguments = get_origin(kind), get_args(kind)
    if kind is Any:
        return value
    if dataclasses.is_dataclass(kind) and isinstance(kind, type):
        if not isinstance(value, dict):
            raise _wrong(where, path, value, "a table")
        return _build(kind, value, where, path)
    if origin in (Union, types.UnionType):
        options = [option for option in arguments if option is not type(None)]
        for option in options[:-1]:
            try:
                return convert(option, value, where, path)
            except InputError:
                continue
        return convert(options[-1], value, where, path)
    if origin is Literal:
        if value not in arguments:
            hint = did_you_mean(_ELSEWHERE.get(str(value), value), map(str, arguments))
            raise _wrong(where, path, value, f"one of {', '.join(map(repr, arguments))}{hint and f'.{hint}'}")
        return value
    if origin is tuple:
        if not isinstance(value, list | tuple):
            raise _wrong(where, path, value, "a list")
        return tuple(convert(arguments[0], item, where, path) for item in value)
    if origin is dict or kind is dict:
        if not isinstance(value, dict):
            raise _wrong(where, path, value, "a table")
        return value
    if kind is Path and isinstance(value, str):
        return Path(value)
    if kind is float and isinstance(value, int) and not isinstance(value, bool):
        return float(value)
    if type(value) is not kind:
        names = {int: "a whole number", float: "a number", bool: "true or false", str: "text", Path: "a path"}
        raise _wrong(where, path, value, names.get(kind, str(kind)))
    return value


def _wrong(where: str, path: tuple[str, ...], value: Any, wanted: str) -> InputError:
    return InputError(f"{where}: {'.'.join(path)} = {value!r}, but must be {wanted}")
