"""The files of a user's own that a run is trained on: where they are, and whether they are still the same.

Needs no PyTorch.
"""

import hashlib
import json
import shlex
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from graphcon.errors import InputError
from graphcon.training.config import DataConfig, Recipe

#: The fields of a recipe that name such files: what each is, and the option for it.
_KINDS = {
    "nodes": ("table of nodes", "--nodes"),
    "edges": ("table of edges", "--edges"),
    "graphs": ("table of graphs", "--graphs"),
    "name": ("file", "--data"),
}


def own_files(config: DataConfig) -> dict[str, Path]:
    """The files by the fields that name them; none where the data are a named set."""
    named = {field: getattr(config, field) for field in _KINDS if getattr(config, field) is not None}
    if not is_file_name(config.name):
        named.pop("name", None)
    return {field: Path(path) for field, path in named.items()}


def is_file_name(name: str | None) -> bool:
    """Whether data are named as a file, and not as a set."""
    return name is not None and name.endswith((".npz", ".graphml"))


def placed(recipe: Recipe) -> Recipe:
    """The recipe with whole paths, so that it means the same from any folder."""
    paths: dict[str, Path | str] = {field: path.absolute() for field, path in own_files(recipe.data).items()}
    if "name" in paths:
        paths["name"] = str(paths["name"])
    if recipe.data.root is not None:
        paths["root"] = recipe.data.root.absolute()
    return replace(recipe, data=replace(recipe.data, **paths))


def fingerprints(config: DataConfig) -> dict[str, str]:
    """The SHA-256 of every file."""
    return {field: _sha256(path) for field, path in own_files(config).items()}


def kept(run: Path) -> dict[str, str]:
    """The fingerprints that a run folder keeps; none in an old one."""
    try:
        return json.loads((run / "model.json").read_text(encoding="utf-8")).get("files", {})
    except (FileNotFoundError, AttributeError, ValueError):
        return {}


def check_unchanged(run: Path, config: DataConfig, then: Mapping[str, str]) -> None:
    """Refuses files that are not those a run was trained on.

    Args:
        run: The run folder, for the message.
        config: Where the files are.
        then: What their fingerprints were; a file without one is taken as it is.

    Raises:
        InputError: A file has moved or changed.
    """
    for field, path in own_files(config).items():
        kind, option = _KINDS[field]
        if not path.is_file():
            raise InputError(
                f"{path}: is not there, the {kind} that the run {run} was trained on. Put it back, or say where it is "
                f"now: graphcon train --resume {shlex.quote(str(run))} {option} FILE"
            )
        if field in then and _sha256(path) != then[field]:
            raise InputError(
                f"{path}: is not the {kind} that the run {run} was trained on, its content differs. Put the old one "
                "back, name new tables with --nodes and --edges of graphcon evaluate or predict, or train anew"
            )


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
