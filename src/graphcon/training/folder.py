"""The run folder: every artefact is named once, here, and written so that a sudden stop leaves the old or the new."""

import io
import json
import os
import platform
import re
import shlex
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import safetensors.torch
import torch
from torch import Tensor

from graphcon._files import defined, held, naming, numbers, write_json, write_whole
from graphcon.errors import InputError
from graphcon.training import recipes
from graphcon.training.config import Recipe

#: What :func:`graphcon._files.write_whole` leaves behind where it is killed.
_HALF_WRITTEN = re.compile(r"\..+\.\d+")


class RunFolder:
    """A run and its files.

    Args:
        path: The folder.
    """

    def __init__(self, path: Path):
        self.path = path
        self.recipe_file = path / "recipe.toml"
        self.environment_file = path / "environment.json"
        self.log_file = path / "log.jsonl"
        self.last_file = path / "last.ckpt"
        self.best_file = path / "best.safetensors"
        self.model_file = path / "model.json"
        self.metrics_file = path / "metrics.json"
        self.named = shlex.quote(str(path))  # as one types it

    @classmethod
    def create(cls, path: Path, recipe: Recipe) -> "RunFolder":
        """A new folder with the resolved recipe and the environment in it.

        Raises:
            InputError: There is a run or several already, or the place is taken.
        """
        folder = cls(path)
        folder.check_free()
        if folder.metrics_file.exists():
            raise InputError(f"--out {path}: there are several runs in it. Name another folder, or delete it")
        path.mkdir(parents=True, exist_ok=True)
        write_json(folder.environment_file, environment())
        write_whole(folder.recipe_file, recipes.to_toml(recipe))
        return folder

    def check_free(self) -> None:
        """Refuses a place that is taken.

        Raises:
            InputError: There is a run already, or a file.
        """
        path = self.path
        for place in (path, *path.parents):
            if place.exists() and not place.is_dir():
                raise InputError(f"--out {path}: {place} is a file, but a folder is needed; name another one")
        if recipes.holds_search(path):
            raise InputError(f"--out {path}: there is a search in it. Name another folder, or delete it")
        if self.recipe_file.exists():
            raise InputError(
                f"--out {path}: there is a run in it already. Go on with: graphcon train --resume {self.named}, "
                "name another folder, or delete it"
            )

    @classmethod
    def open(cls, path: Path) -> "RunFolder":
        """The folder of a run that is there.

        Raises:
            InputError: There is no run.
        """
        recipes.of_run(path)
        return cls(path)

    @contextmanager
    def held(self, doing: str = "training this run") -> Iterator[None]:
        """Keeps the run to this process; one that dies lets go of it.

        Args:
            doing: What it is kept for, for the message.

        Raises:
            InputError: Another process has it.
        """
        with held(self.path, doing):
            for file in self.path.iterdir():
                if _HALF_WRITTEN.fullmatch(file.name):
                    file.unlink()
            yield

    def other_versions(self) -> list[str]:
        """A note where packages are not those that the run began with; nothing where that is not known."""
        try:
            before = dict(json.loads(self.environment_file.read_text(encoding="utf-8"))["packages"])
        except (OSError, KeyError, TypeError, ValueError):
            return []
        now = _versions()
        names = [name for name in before | now if before.get(name) != now.get(name)]
        changes = ", ".join(f"{name} {before.get(name, 'none')} -> {now.get(name, 'none')}" for name in names)
        return [f"it began with other versions, and may not come to the same bits: {changes}."] if names else []

    def recipe(self) -> Recipe:
        """The resolved recipe of the run."""
        return recipes.load(self.recipe_file)

    def read_json(self, file: Path) -> Any:
        """The table of values in a JSON file of the run.

        Raises:
            InputError: It is not there or damaged.
        """
        try:
            values = json.loads(file.read_text(encoding="utf-8"))
        except FileNotFoundError:
            raise InputError(f"{file}: is missing. Let the run finish: graphcon train --resume {self.named}") from None
        except (OSError, ValueError) as error:
            raise self.damaged(file, error) from None
        if not isinstance(values, dict):
            raise self.damaged(file, "it holds no table of values")
        if file == self.metrics_file:
            values |= {part: numbers(found) for part, found in values.items() if isinstance(found, dict)}
        return values

    def damaged(self, file: Path, why: object) -> InputError:
        """The error about a file that the last checkpoint can replace."""
        first = (str(why).splitlines() or ["it is empty"])[0]
        return InputError(
            f"{file}: cannot be read ({first}). Delete it, and let the last checkpoint write it anew: "
            f"graphcon train --resume {self.named}"
        )

    def finished(self) -> dict[str, Any] | None:
        """The metrics of a run that has ended; None where it has not.

        Raises:
            InputError: They are damaged.
        """
        if not self.metrics_file.exists():
            return None
        values = self.read_json(self.metrics_file)
        if "metric" not in values:
            raise self.damaged(self.metrics_file, "it has no metric")
        return values

    def save_metrics(self, metrics: dict[str, Any]) -> None:
        """Keeps what a run that has ended came to."""
        write_json(self.metrics_file, metrics)

    def save_checkpoint(self, state: dict[str, Any]) -> None:
        """Keeps everything that going on needs; metrics of older weights go."""
        if self.log_file.exists():  # where the power fails, the log must not lack epochs that are not done again
            with naming(self.log_file), self.log_file.open("ab") as file:
                os.fsync(file.fileno())
        self.metrics_file.unlink(missing_ok=True)
        content = io.BytesIO()
        torch.save(state, content)
        write_whole(self.last_file, content.getvalue())

    def load_checkpoint(self) -> dict[str, Any] | None:
        """What :meth:`save_checkpoint` kept; None where nothing was."""
        if not self.last_file.exists():
            return None
        try:
            return torch.load(self.last_file, weights_only=True)
        except Exception as error:  # torch raises many kinds for a damaged file
            raise self.unusable(error) from None

    def unusable(self, why: object) -> InputError:
        """The error about a checkpoint that is damaged or of another run."""
        first = (str(why).splitlines() or ["it is empty"])[0].partition(". ")[0]
        return InputError(f"{self.last_file}: cannot be read ({first}). Delete it to start the run anew")

    def save_weights(self, weights: dict[str, Tensor]) -> None:
        """Keeps the best weights so far."""
        # Tensors that share memory or are views are written as what they are on their own.
        separate = {name: value.detach().cpu().clone().contiguous() for name, value in weights.items()}
        write_whole(self.best_file, safetensors.torch.save(separate))

    def load_weights(self) -> dict[str, Tensor]:
        """The best weights.

        Raises:
            InputError: They are not there or damaged.
        """
        try:
            return safetensors.torch.load_file(self.best_file)
        except FileNotFoundError:
            raise InputError(
                f"{self.best_file}: is missing. Let the run write it: graphcon train --resume {self.named}"
            ) from None
        except (OSError, safetensors.SafetensorError) as error:
            raise self.damaged(self.best_file, error) from None

    def log(self, record: dict[str, Any]) -> None:
        """Adds a line to the log."""
        with naming(self.log_file), self.log_file.open("a") as file:
            file.write(json.dumps(defined(record)) + "\n")

    def records(self) -> list[dict[str, Any]]:
        """The lines of the log.

        Raises:
            InputError: One is damaged.
        """
        lines = self.log_file.read_bytes().splitlines() if self.log_file.exists() else []
        found = []
        for number, line in enumerate(lines, start=1):
            try:
                record = json.loads(line)
            except ValueError:
                record = None
            if not isinstance(record, dict) or not {"epoch", "loss", "seconds"} <= record.keys():
                raise InputError(
                    f"{self.log_file}, line {number}: is not what was written there. Delete the line, the other files "
                    "do not need it"
                )
            found.append(record | {"val": numbers(record["val"])} if "val" in record else record)
        return found

    def seconds(self) -> float:
        """How long the training took, by the log.

        Raises:
            InputError: It is not there or damaged.
        """
        records = self.records()
        if not records:
            raise InputError(f"{self.log_file}: is missing or empty. Delete {self.path} to train it again")
        return records[-1]["seconds"]

    def cut_log(self, epochs: int) -> None:
        """Drops the lines of epochs that a sudden stop has lost: they are about to be done again."""
        if not self.log_file.exists():
            return
        kept = []
        for line in self.log_file.read_bytes().splitlines():
            try:
                if json.loads(line)["epoch"] <= epochs:
                    kept.append(line + b"\n")
            except (KeyError, TypeError, ValueError):  # half a line, written when the machine died
                continue
        write_whole(self.log_file, b"".join(kept))


def environment() -> dict[str, Any]:
    """What a result may depend on beside the recipe: versions, the machine, the commit."""
    return {
        "python": platform.python_version(),
        "machine": f"{platform.system()} {platform.machine()}",
        "processors": os.cpu_count(),
        "threads": torch.get_num_threads(),
        "packages": _versions(),
        "commit": _commit(),
    }


def _versions() -> dict[str, str]:
    packages = ("graphcon", "torch", "torch-geometric", "numpy", "numba", "torchmetrics", "lightning-fabric")
    return {name: found for name in packages if (found := _version(name)) is not None}


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def _commit() -> str | None:
    """The commit of the package's own checkout, where it runs from one."""
    here = Path(__file__).parent
    command = ["git", "-C", str(here), "describe", "--always", "--dirty", "--abbrev=12"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=5, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout.strip() or None
