"""Words for what is told to users."""

from collections.abc import Callable, Iterable
from difflib import get_close_matches


def counted(number: int, what: str) -> str:
    """How many of something there are: ``1 edge``, ``2,000 edges``."""
    return f"{number:,} {what}" if number == 1 else f"{number:,} {what}s"


def did_you_mean(
    name: object, known: Iterable[str], *, likeness: float = 0.6, plain: Callable[[str], str] = str
) -> str:
    """The known name that may have been meant, as a question to stand behind a sentence; nothing where none is near.

    Args:
        name: What was said.
        known: The names that there are.
        likeness: From which on a name is near: 0 is any, 1 the same.
        plain: What takes from names what does not count.
    """
    names = {plain(one): one for one in known}
    near = get_close_matches(plain(str(name)), names, n=1, cutoff=likeness)
    return f" Did you mean {names[near[0]]!r}?" if near else ""


def shown(value: float, digits: int = 4) -> str:
    """A figure with so many digits after the point; one that would be all zeros with as many that count."""
    return f"{value:.{digits}g}" if 0 < abs(value) < 10.0 ** (1 - digits) else f"{value:.{digits}f}"
