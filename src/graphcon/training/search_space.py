"""What a search goes over: choices and ranges of a recipe's settings."""

from dataclasses import dataclass
from typing import Any

from graphcon.errors import InputError
from graphcon.training import recipes
from graphcon.training.config import Recipe
from graphcon.training.model import build, named
from graphcon.training.spec import TaskSpec


def space_of(recipe: Recipe) -> dict[str, "Range"]:
    """The ranges in a recipe's ``[search]`` table; a wrong name, type or range is refused."""
    space = {field: Range.of(field, told) for field, told in recipe.search.items()}
    for field, told in space.items():
        for value in told.ends:
            recipes.replace(recipe, {field: value})
    return space


def check_networks(recipe: Recipe, space: dict[str, "Range"], spec: TaskSpec) -> None:
    """Refuses a search that would come to settings which the network does not take, before any trial.

    Raises:
        InputError: With the field and why.
    """
    for field, told in space.items():
        for value in told.ends if field.startswith("model.") else ():
            try:
                build(recipes.replace(recipe, {field: value}).model, spec)
            except InputError as error:
                raise InputError(f'search "{field}": {error}') from None


def own_settings(recipe: Recipe, space: dict[str, "Range"]) -> dict[str, Any]:
    """Where the recipe itself stands, as far as that lies within the search."""
    own = {field: recipes.value(recipe, field) for field in space}
    return {field: value for field, value in own.items() if space[field].holds(value)}


def usual_search(recipe: Recipe) -> dict[str, Any]:
    """What is worth searching where a recipe says nothing: depth, width, dropout, rate, decay; dt, alpha and gamma.

    The recipe's own settings are among it, but for a decay of nothing: a search begins where the recipe stands.
    """
    search: dict[str, Any] = {
        "model.steps": [4, 8, 16],
        "model.channels": [32, 64, 128],
        "model.dropout": [0.0, 0.2, 0.5],
        "optimizer.lr": {"low": 0.001, "high": 0.03, "log": True},
        "optimizer.weight_decay": {"low": 1e-5, "high": 1e-2, "log": True},
    }
    if "alpha" in named(recipe.model.name).fields:
        search |= {"model.dt": [0.25, 0.5, 1.0]}
        search |= {"model.alpha": {"low": 0.0, "high": 1.0}, "model.gamma": {"low": 0.25, "high": 1.5}}
    return {field: _widened(told, recipes.value(recipe, field)) for field, told in search.items()}


def _widened(told: Any, own: float) -> Any:
    """Choices or a range with one more value in it; a logarithmic range goes without zero."""
    if isinstance(told, list):
        return sorted({*told, own})
    if own == 0 and told.get("log"):
        return told
    return told | {"low": min(told["low"], own), "high": max(told["high"], own)}


@dataclass(frozen=True)
class Range:
    """What one field is searched over: choices, or numbers between two ends."""

    choices: tuple[Any, ...] = ()
    low: float = 0.0
    high: float = 0.0
    log: bool = False
    whole: bool = False

    @classmethod
    def of(cls, field: str, told: Any) -> "Range":
        if isinstance(told, list) and told:
            return cls(choices=tuple(told))
        if isinstance(told, dict) and {"low", "high"} <= set(told) <= {"low", "high", "log"}:
            low, high = told["low"], told["high"]
            numbers = all(isinstance(end, int | float) and not isinstance(end, bool) for end in (low, high))
            log = bool(told.get("log", False))
            if numbers and low < high and (low > 0 or not log):
                return cls(low=low, high=high, log=log, whole=isinstance(low, int) and isinstance(high, int))
        raise InputError(
            f'search "{field}" = {told!r}, but must be a list of choices, or {{ low = 0.001, high = 0.1, log = true }} '
            "with low < high, above 0 where log is true"
        )

    @property
    def ends(self) -> tuple[Any, ...]:
        """The choices, or the smallest and the largest number."""
        return self.choices or (self.low, self.high)

    def holds(self, value: Any) -> bool:
        if self.choices:
            return value in self.choices
        return isinstance(value, int | float) and not isinstance(value, bool) and self.low <= value <= self.high

    def suggest(self, trial: Any, field: str) -> Any:
        if self.choices:
            return trial.suggest_categorical(field, self.choices)
        if self.whole:
            return trial.suggest_int(field, int(self.low), int(self.high), log=self.log)
        return trial.suggest_float(field, self.low, self.high, log=self.log)
