"""Numbers with their ranges beside their types: ``epochs: Annotated[int, AT_LEAST_1]``. Needs no PyTorch."""

import math
from dataclasses import is_dataclass
from functools import cache
from typing import Any, NamedTuple, get_type_hints

from graphcon.errors import InputError


class Range(NamedTuple):
    """From `low` to below `high`; `low` itself is left out where the range is open."""

    low: float
    high: float = math.inf
    open: bool = False

    def holds(self, value: float) -> bool:
        """Whether the number is in the range; NaN and infinity are in none."""
        return (self.low < value if self.open else self.low <= value) and value < self.high

    def __str__(self) -> str:
        low = f"above {self.low:g}" if self.open else f"at least {self.low:g}"
        return low if self.high == math.inf else f"{low} and below {self.high:g}"


POSITIVE, NOT_NEGATIVE, AT_LEAST_1, BELOW_1 = Range(0, open=True), Range(0), Range(1), Range(0, 1)


def check_ranges(settings: Any, *path: str) -> None:
    """Refuses a number outside its range, anywhere in a tree of dataclasses.

    Args:
        settings: The dataclass.
        path: Where it stands, for the message.

    Raises:
        InputError: There is one.
    """
    for name, hint in _hints(type(settings)).items():
        value = getattr(settings, name)
        if is_dataclass(value):
            check_ranges(value, *path, name)
            continue
        for rule in getattr(hint, "__metadata__", ()):
            if isinstance(rule, Range) and value is not None and not rule.holds(value):
                raise InputError(f"{'.'.join((*path, name))} = {value!r}, but must be {rule}")


@cache
def _hints(cls: type) -> dict[str, Any]:
    return get_type_hints(cls, include_extras=True)
