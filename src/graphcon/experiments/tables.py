"""The paper's tables and figures: which data, which rows, at what budget.

A row is a packaged recipe. The recipes of a data set are named after it (``texas-gcn``, ``texas-plain-gcn``,
``texas-h2gcn``), so a new row is a new recipe and nothing else.
"""

import itertools
import tomllib
from dataclasses import dataclass, field, replace
from functools import cache
from importlib.resources import files
from typing import Any

from graphcon._words import counted, did_you_mean
from graphcon.errors import InputError
from graphcon.training import recipes
from graphcon.training.config import Recipe

BUDGETS = ("smoke", "small", "paper")
SENSITIVITY_ALPHA, SENSITIVITY_GAMMA = 1.0, 0.76  # what the paper holds fixed while the other varies


@dataclass(frozen=True)
class Budget:
    """What is spent on a row.

    Attributes:
        splits: Number of splits.
        seeds: Number of initialisations on every split.
        epochs: The most epochs; None for the recipe's own.
        limit: The most graphs in every part; None for all.
    """

    splits: int
    seeds: int
    epochs: int | None = None
    limit: int | None = None

    def __str__(self) -> str:
        epochs = "the recipe's epochs" if self.epochs is None else f"at most {counted(self.epochs, 'epoch')}"
        graphs = "" if self.limit is None else f", at most {self.limit:,} graphs in every part"
        runs = f"{counted(self.splits, 'split')} × {counted(self.seeds, 'initialisation')}"
        return f"{runs}, {epochs}{graphs}"


@dataclass(frozen=True)
class Point:
    """Where along a table's axis a row is measured: a depth, or values of alpha and gamma.

    Attributes:
        label: The name of the column.
        changes: What it changes in every recipe.
        of_oscillators: What it changes in recipes of GraphCON only.
    """

    label: str = ""
    changes: dict[str, Any] = field(default_factory=dict)
    of_oscillators: dict[str, Any] = field(default_factory=dict)

    def applied_to(self, recipe: Recipe) -> Recipe:
        """The recipe at this point."""
        own = self.of_oscillators if recipe.model.name.startswith("graphcon-") else {}
        return recipes.replace(recipe, self.changes | own)


@dataclass(frozen=True)
class Table:
    """A table of the paper, or one beyond it.

    Attributes:
        name: What users type.
        title: What it shows.
        datasets: The first parts of the names of its recipes.
        metric: What is measured.
        budgets: What is spent, by the budget's name.
        points: The columns beside the data sets.
        axis: What the points are: depth, epochs, or one or two coefficients.
    """

    name: str
    title: str
    datasets: tuple[str, ...]
    metric: str
    budgets: dict[str, Budget]
    points: tuple[Point, ...] = (Point(),)
    axis: str = ""

    @property
    def unit(self) -> float:
        """What a value is multiplied by: shares are shown in percent."""
        return 1.0 if self.metric == "mae" else 100.0

    @property
    def digits(self) -> int:
        """How many digits after the point a value is shown with."""
        return 3 if self.metric == "mae" else 1


@dataclass(frozen=True)
class Picture:
    """A figure of the paper that needs no training.

    Attributes:
        title: What it shows.
        file: What it is drawn to.
    """

    title: str
    file: str


@dataclass(frozen=True)
class Job:
    """One training of a table.

    Attributes:
        table: The table.
        dataset: Its data set.
        model: The model's name.
        variant: What tells this row from others of the model, and its point.
        name: The recipe's name.
        recipe: The recipe, with split and seed.
    """

    table: str
    dataset: str
    model: str
    variant: str
    name: str
    recipe: Recipe

    @property
    def key(self) -> tuple[str, ...]:
        """What a run is known by in a CSV file."""
        return (self.dataset, self.model, self.variant, str(self.recipe.data.split), str(self.recipe.seed))


def _depths(*depths: int, dt: float | None = None, time: float = 0.0) -> tuple[Point, ...]:
    """Depths; with `time`, steps are at most `dt` long and so many that they make up no more than that time."""
    return tuple(
        Point(
            f"{depth} layers",
            {"model.steps": depth},
            {} if dt is None else {"model.dt": round(min(dt, time / depth), 4)},
        )
        for depth in depths
    )


def _epochs(*epochs: int) -> tuple[Point, ...]:
    return tuple(Point(f"{number} epochs", {"trainer.epochs": number}) for number in epochs)


def _lines() -> tuple[Point, ...]:
    values = [round(0.2 * n, 1) for n in range(11)]
    alphas = [_coefficients(alpha, SENSITIVITY_GAMMA) for alpha in values]
    return (*alphas, *(_coefficients(SENSITIVITY_ALPHA, gamma) for gamma in values))


def _map() -> tuple[Point, ...]:
    values = (0.0, 0.25, 0.5, 1.0, 1.5, 2.0, 3.0)
    return tuple(_coefficients(alpha, gamma) for alpha, gamma in itertools.product(values, values))


def _coefficients(alpha: float, gamma: float) -> Point:
    return Point(f"alpha={alpha:g} gamma={gamma:g}", {"model.alpha": alpha, "model.gamma": gamma})


_NODES = {"smoke": Budget(1, 1, 5), "small": Budget(5, 1), "paper": Budget(5, 4)}
_FIXED = {"smoke": Budget(1, 1, 5), "small": Budget(10, 1), "paper": Budget(10, 1)}
_PUBLIC = {"smoke": Budget(1, 1, 5), "small": Budget(1, 3), "paper": Budget(1, 10)}
_ZINC = {"smoke": Budget(1, 1, 2, 200), "small": Budget(1, 3, 20), "paper": Budget(1, 4)}
_ZINC_MANY = _ZINC | {"small": Budget(1, 3, 8)}
_IMAGES = {"smoke": Budget(1, 1, 1, 200), "small": Budget(1, 1, 15), "paper": Budget(1, 1)}
_IMAGES_MANY = _IMAGES | {"small": Budget(1, 3, 4, 5_000)}

PICTURES = {
    "energy": Picture("Dirichlet energy over 100 layers with random weights", "dirichlet_energy.png"),
    "molecule": Picture("A molecule's atoms as coupled oscillators", "molecule.png"),
}

TABLES = {
    table.name: table
    for table in (
        Table(
            "homophilic",
            "Node classification on homophilic graphs",
            ("cora", "citeseer", "pubmed"),
            "accuracy",
            _NODES,
        ),
        Table(
            "heterophilic",
            "Node classification on heterophilic graphs",
            ("texas", "wisconsin", "cornell", "cornell-fixed"),
            "accuracy",
            _FIXED,
        ),
        Table(
            "ppi",
            "Protein-protein interactions",
            ("ppi",),
            "f1",
            _PUBLIC,
        ),
        Table(
            "zinc",
            "ZINC, 12k molecules, 100k parameters, no edge features",
            ("zinc",),
            "mae",
            _ZINC,
        ),
        Table(
            "superpixels",
            "MNIST superpixels",
            ("superpixels",),
            "accuracy",
            _IMAGES,
        ),
        Table("depth-zinc", "Depth on ZINC", ("depth-zinc",), "mae", _ZINC_MANY, _depths(5, 10, 15, 20), "depth"),
        Table(
            "epochs-zinc",
            "Beyond the paper: longer training on ZINC",
            ("epochs-zinc",),
            "mae",
            _ZINC | {"small": Budget(1, 1, 400), "paper": Budget(1, 4, 400)},
            _epochs(20, 50, 100, 200, 400),
            "epochs",
        ),
        Table(
            "depth-superpixels",
            "Depth on MNIST superpixels",
            ("depth-superpixels",),
            "accuracy",
            _IMAGES_MANY,
            _depths(4, 8, 16, 32, dt=0.5, time=4.0),
            "depth",
        ),
        Table(
            "depth-cora",
            "Depth on Cora, public split",
            ("depth-cora",),
            "accuracy",
            _PUBLIC,
            _depths(2, 4, 8, 16, 32, 64, dt=1.0, time=6.0),
            "depth",
        ),
        Table(
            "sensitivity",
            "Sensitivity to alpha and gamma on MNIST superpixels",
            ("sensitivity",),
            "accuracy",
            _IMAGES_MANY,
            _lines(),
            "line",
        ),
        Table(
            "map",
            "Beyond the paper: a map of alpha and gamma on Cora",
            ("map-cora",),
            "accuracy",
            _PUBLIC,
            _map(),
            "map",
        ),
        Table(
            "transfer",
            "Beyond the paper: carrying a label over 8, 16 and 32 hops",
            ("transfer-8", "transfer-16", "transfer-32"),
            "accuracy",
            {"smoke": Budget(1, 1, 2, 64), "small": Budget(1, 3), "paper": Budget(1, 10)},
        ),
        Table(
            "beyond-zinc",
            "Beyond the paper: learned coefficients, edge features and the second-order integrator on ZINC",
            ("beyond-zinc",),
            "mae",
            _ZINC_MANY,
        ),
    )
}


def rows(table: Table) -> dict[str, str]:
    """The names of a table's recipes, with the data set each is for."""
    found = {}
    for name in recipes.packaged():
        # The longest data set that fits: cornell-fixed-gcn is no row of cornell.
        fits = [dataset for other in TABLES.values() for dataset in other.datasets if name.startswith(f"{dataset}-")]
        dataset = max(fits, key=len, default="")
        if dataset in table.datasets:
            found[name] = dataset
    order = {dataset: number for number, dataset in enumerate(table.datasets)}
    return dict(sorted(found.items(), key=lambda item: order[item[1]]))


def jobs(table: Table, budget: Budget, only: tuple[str, ...] = (), at: tuple[str, ...] = ()) -> list[Job]:
    """All trainings of a table.

    Args:
        table: The table.
        budget: What is spent.
        only: The recipes to take; all by default.
        at: The labels of the points to take; all by default.
    """
    known, points = rows(table), {point.label: point for point in table.points}
    for name in only:
        if name not in known:
            hint = did_you_mean(name, known, likeness=0.5)
            raise InputError(
                f"--only {name}: is no recipe of {table.name}.{hint} See: graphcon recipes {table.datasets[0]}"
            )
    for label in at:
        if label not in points:
            there = f"There are: {', '.join(points)}" if any(points) else "It has one column a data set: leave it out"
            raise InputError(f"--at {label!r}: is no column of {table.name}. {there}")
    found = []
    for name in only or known:
        recipe = recipes.load(name)
        for point in (points[label] for label in at or points):
            changed = _within(point.applied_to(recipe), budget)
            variant = ", ".join(filter(None, [variant_of(name, known[name], recipe.model.name), point.label]))
            for split, seed in itertools.product(range(budget.splits), range(budget.seeds)):
                one = replace(changed, data=replace(changed.data, split=split), seed=seed)
                found.append(Job(table.name, known[name], recipe.model.name, variant, name, one))
    return found


def variant_of(name: str, dataset: str, model: str) -> str:
    """What a recipe's name says beyond data and model: ``texas-gcn-as-printed`` is ``as printed``."""
    row = name.removeprefix(f"{dataset}-")
    plain = model.removeprefix("graphcon-")
    for start in (f"plain-{plain}", model, plain):
        if row == start or row.startswith(f"{start}-"):
            return row.removeprefix(start).replace("-", " ").strip()
    return row.replace("-", " ")


@cache
def printed() -> dict[str, Any]:
    """All figures of the paper, by table, data set and row."""
    return tomllib.loads((files("graphcon.experiments") / "paper.toml").read_text(encoding="utf-8"))


def paper_figure(table: str, dataset: str, model: str, point: str = "") -> tuple[float, float | None] | None:
    """The mean and the standard deviation that the paper prints, where it does.

    Args:
        table: The table.
        dataset: The data set.
        model: The model.
        point: The column's label.
    """
    depth = f"@{point.removesuffix(' layers')}" if point.endswith("layers") else ""
    found = printed().get(table, {}).get(dataset, {}).get(f"{model}{depth}")
    return None if found is None else (found[0], found[1] if len(found) > 1 else None)


def _within(recipe: Recipe, budget: Budget) -> Recipe:
    epochs = recipe.trainer.epochs if budget.epochs is None else min(budget.epochs, recipe.trainer.epochs)
    limit = recipe.data.limit if budget.limit is None else budget.limit
    return replace(
        recipe, data=replace(recipe.data, limit=limit), trainer=replace(recipe.trainer, epochs=epochs), search={}
    )
