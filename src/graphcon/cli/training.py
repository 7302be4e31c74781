"""The commands that train: train, compare, tune."""

from pathlib import Path
from typing import Annotated

import tyro

from graphcon.cli._app import app, check_data, check_folder, check_heard, console, whole_numbers, words
from graphcon.training import arguments
from graphcon.training.config import Metric, Recipe


def register(default: Recipe) -> None:
    """Registers the commands whose options have the values of the recipe that is named."""

    @app.command
    def train(
        recipe: Annotated[str, tyro.conf.Positional, tyro.conf.arg(metavar="[RECIPE]")] = "",
        /,
        config: Annotated[Recipe, tyro.conf.arg(name="")] = default,
        out: Annotated[Path | None, tyro.conf.arg(metavar="FOLDER")] = None,
        resume: Annotated[Path | None, tyro.conf.arg(metavar="RUN")] = None,
        split: str | None = None,
        seeds: int = 1,
        workers: int = 1,
        print_recipe: bool = False,
    ) -> int:
        """Trains a recipe, or your own tables, and keeps everything in a run folder.

        Example: graphcon train texas-gcn --model.steps 8 --trainer.epochs 50

        Example: graphcon train my.toml --split all --seeds 5 --workers 4

        Example: graphcon train --nodes nodes.csv --edges edges.csv --target label

        Example: graphcon train --resume runs/texas-gcn --trainer.epochs 500

        Args:
            recipe: A packaged recipe (see: graphcon recipes) or a .toml file.
            config: The recipe, field by field.
            out: The run folder; by default runs/RECIPE.
            resume: A run to continue with its own settings; you may change epochs, devices, threads and the like.
            split: Which split; several as 0,1,2, or "all" for every fixed split.
            seeds: How many seeds, counting from --seed.
            workers: How many of several runs to train at a time, each in its own process.
            print_recipe: Print the resolved recipe and do nothing else.
        """
        from graphcon.training import recipes

        if print_recipe:
            from graphcon.training.equation import equation

            head = f"# Equation: {equation(config)}\n" if config.model.name.startswith("graphcon-") else ""
            print(head + recipes.to_toml(config), end="")
            return 0
        if resume is not None:
            from graphcon.training.resume import check_resumed

            of_new_runs = {"RECIPE": recipe, "--out": out, "--split": split, "--seeds": seeds, "--workers": workers}
            cure = "the run goes on as it began. Leave that out, or start a new run without --resume"
            check_heard(train, of_new_runs, f"--resume {resume}", cure)
            check_resumed(resume, config)
        check_data(config.data)
        from graphcon.training import commands

        name = Path(recipe or config.data.name or "run").stem  # the data may be a file anywhere
        return commands.train(config, name, out, resume, arguments.splits(split, config), seeds, workers, console)

    @app.command
    def compare(
        recipe: Annotated[str, tyro.conf.Positional, tyro.conf.arg(metavar="[RECIPE]")] = "",
        /,
        config: Annotated[Recipe, tyro.conf.arg(name="")] = default,
        models: Annotated[str, tyro.conf.arg(metavar="A,B,C")] = arguments.COMPARED,
        depths: Annotated[str, tyro.conf.arg(metavar="2,8,32")] = "2,8,32",
        seeds: int = 3,
        workers: int = 1,
        out: Annotated[Path | None, tyro.conf.arg(metavar="FOLDER")] = None,
    ) -> int:
        """Trains several models at several depths alike, and shows what depth does to each.

        All use the data, the optimiser and the epochs of the recipe; a model ignores settings that it does not have.
        Weights are selected on validation; test data are read once per training. The table shows the metric, the
        Dirichlet energy and effective rank of the last state, the seconds, and the memory of a training step. To
        continue a comparison that was stopped, type the same command again.

        Example: graphcon compare --data cora --models gcn,gcnii,graphcon-gcn --depths 2,8,32 --seeds 5

        Example: graphcon compare my.toml --models gat,graphcon-gat --trainer.epochs 100

        Example: graphcon compare --nodes nodes.csv --edges edges.csv --target label --models mlp,gcn,graphcon-gcn

        Args:
            recipe: A packaged recipe or a .toml file, for everything but the model and its depth.
            config: The recipe, field by field.
            models: The models, by name (see: graphcon models).
            depths: The depths, in layers.
            seeds: How many seeds, counting from --seed.
            workers: How many to train at a time; the seconds are then measured beside other trainings.
            out: Folder for the runs, compare.csv and compare.png; by default runs/compare-DATA.
        """
        name = Path(recipe or config.data.name or "own").stem
        place = out or Path("runs") / f"compare-{name}"
        check_folder(place, no_run=True)
        names, layers = words("--models", models), whole_numbers("--depths", depths)
        check_data(config.data)
        from graphcon.experiments import compare_table

        return compare_table.compare(config, names, layers, seeds, workers, place, console)

    @app.command
    def tune(
        recipe: Annotated[str, tyro.conf.Positional, tyro.conf.arg(metavar="[RECIPE]")] = "",
        /,
        config: Annotated[Recipe, tyro.conf.arg(name="")] = default,
        out: Annotated[Path | None, tyro.conf.arg(metavar="FOLDER")] = None,
        trials: int = 50,
        split: str | None = None,
        seeds: int = 1,
        metric: Metric | None = None,
        finalists: int = 1,
        workers: int = 1,
    ) -> None:
        """Searches the settings in a recipe's [search] table, on validation data only.

        Without such a table it searches depth, width, dropout, learning rate, decay and, for oscillators, dt, alpha
        and gamma. The first trial has the recipe's own settings, as far as the search includes them. To continue a
        search that was stopped, type the same command again: it makes the trials it would have made.

        Example: graphcon tune texas-gcn --trials 100 --split all --workers 4

        Example: graphcon tune citeseer-gcn --split 0,1,2 --finalists 3

        Example: graphcon tune --nodes nodes.csv --edges edges.csv --target label --trials 30

        Example: graphcon tune my.toml --out runs/search

        Args:
            recipe: A packaged recipe or a .toml file.
            config: The recipe, field by field.
            out: The folder of the study; by default runs/tune-RECIPE.
            trials: How many trials in all, those already made included.
            split: Which split; with several, as 0,1,2 or "all", the mean counts.
            seeds: How many seeds on every split, counting from --seed; with several, the mean counts.
            metric: The metric that ranks trials; by default --trainer.metric, which selects the epoch within each.
            finalists: How many of the best trials to train again, with three other seeds on every split; the best of
                these wins. The best of many trials was also lucky, and this corrects for it.
            workers: How many trials to train at a time; trials that run together cannot learn from each other.
        """
        name = Path(recipe or config.data.name or "own").stem
        place = out or Path("runs") / f"tune-{name}"
        check_folder(place)
        check_data(config.data)
        from graphcon.training import commands

        chosen = arguments.splits(split, config)
        commands.tune(config, place, trials, chosen, seeds, metric, finalists, workers, console)
