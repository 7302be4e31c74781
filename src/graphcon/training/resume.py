"""What may change when a run goes on: nothing that its weights were trained with. Needs no PyTorch."""

from collections.abc import Sequence
from pathlib import Path

from graphcon.errors import InputError
from graphcon.training import recipes
from graphcon.training.config import Recipe

#: How long, on what, and where the data lie.
MAY_CHANGE = (
    "trainer.epochs",
    "trainer.patience",
    "trainer.accelerator",
    "trainer.devices",
    "trainer.threads",
    "trainer.checkpoint_seconds",
    "trainer.tensorboard",
    "model.memory",
    "data.root",
    "data.workers",
)


def check_resumed(run: Path, recipe: Recipe, useless: Sequence[str] = ()) -> None:
    """Refuses to go on with a run under other settings than its own, before anything is written.

    Args:
        run: The run folder.
        recipe: What it is to go on with.
        useless: Options that were given and say nothing about a run that is there.

    Raises:
        InputError: There is no run, or it would become another one.
    """
    before = recipes.load(recipes.of_run(run, "--resume"))
    if useless:
        raise InputError(
            f"--resume {run}: {', '.join(useless)} cannot be given with it, the run goes on as it began. "
            "Leave it out, or start a new run without --resume"
        )
    if recipe.trainer.epochs < before.trainer.epochs:
        raise InputError(
            f"--resume {run}: trainer.epochs = {recipe.trainer.epochs}, but the run has {before.trainer.epochs}, and "
            "can only have more. Start a new run with --out"
        )
    changes = {name: both for name, both in recipes.changes(before, recipe).items() if name not in MAY_CHANGE}
    if changes:
        told = ", ".join(f"{name} = {new!r} (it has {old!r})" for name, (old, new) in changes.items())
        raise InputError(
            f"--resume {run}: the run was trained with other settings than {told}. Only {', '.join(MAY_CHANGE)} may "
            "change: leave the others out, or start a new run with --out"
        )
