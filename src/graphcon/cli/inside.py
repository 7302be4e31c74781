"""The commands that look inside: report, diagnose."""

from pathlib import Path
from typing import Annotated

import tyro

from graphcon.cli._app import app, check_folder, check_heard, check_run, console, whole_numbers, words
from graphcon.errors import InputError


@app.command
def report(
    runs: Annotated[tuple[Path, ...], tyro.conf.Positional, tyro.conf.arg(metavar="RUN [RUN ...]")],
    /,
    out: Annotated[Path | None, tyro.conf.arg(metavar="FILE")] = None,
) -> None:
    """Writes one page about a run, or comparing several. It opens in any browser, without a network.

    Example: graphcon report runs/texas-gcn

    Example: graphcon report runs/gcn runs/graphcon-gcn --out compared.html

    Args:
        runs: Run folders; a folder of several runs stands for all of them.
        out: The page; by default report.html in the first folder.
    """
    for run in runs:
        if not any(run.glob("*/recipe.toml")):
            check_run(run)
    from graphcon.report import commands

    commands.write_report(runs, out, console)


@app.command
def diagnose(
    run: Annotated[Path | None, tyro.conf.Positional, tyro.conf.arg(metavar="[RUN]")] = None,
    /,
    compare: Annotated[str, tyro.conf.arg(metavar="MODELS")] = "",
    depths: str = "2,4,8,16,32,64,128",
    data: Annotated[str, tyro.conf.arg(metavar="NAME")] = "cora",
    data_root: Annotated[Path | None, tyro.conf.arg(metavar="FOLDER")] = None,
    channels: int = 32,
    train: bool = False,
    epochs: int = 60,
    seed: int = 0,
    out: Annotated[Path | None, tyro.conf.arg(metavar="FOLDER")] = None,
) -> None:
    """Measures energy, distance, rank and gradient at every step: of a run, or of models side by side.

    Example: graphcon diagnose runs/texas-gcn

    Example: graphcon diagnose --compare gcn,gat,graphcon-gcn --depths 2,8,32,128

    Example: graphcon diagnose --compare gcn,graphcon-gcn --depths 16 --data texas --train

    Args:
        run: A run folder.
        compare: Models to put side by side instead of a run, separated by commas.
        depths: Their depths, separated by commas.
        data: The named set they are measured on.
        data_root: Folder to look for it in first.
        channels: Their width.
        train: Train them; otherwise they keep their random weights.
        epochs: The most epochs to train for.
        seed: Seed of the split and of the weights.
        out: Folder for numbers and figures; by default the run folder or runs/diagnose.
    """
    if (run is None) == (not compare):
        raise InputError(
            "graphcon diagnose: name a run folder, or --compare and models separated by commas, as in gcn,graphcon-gcn"
        )
    if out is not None:
        check_folder(out)
    if run is not None:
        check_run(run)
        of_models = {"--depths": depths, "--data": data, "--data-root": data_root, "--channels": channels}
        of_models |= {"--train": train, "--epochs": epochs, "--seed": seed}
        cure = "a run is measured as it is. Leave that out, or name models with --compare in place of the run"
        check_heard(diagnose, of_models, f"graphcon diagnose {run}", cure)
        from graphcon.experiments import diagnose as diagnosing

        diagnosing.diagnose_run(run, out, console)
        return
    names, layers = words("--compare", compare), whole_numbers("--depths", depths)
    from graphcon.experiments import diagnose as diagnosing

    recipe = diagnosing.recipe_for(data, data_root, channels, epochs, seed)
    diagnosing.diagnose_models(recipe, names, layers, train, out or Path("runs/diagnose"), console)
