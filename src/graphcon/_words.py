"""Words for what is told to users."""


def counted(number: int, what: str) -> str:
    """How many of something there are: ``1 edge``, ``2,000 edges``."""
    return f"{number:,} {what}" if number == 1 else f"{number:,} {what}s"


def shown(value: float, digits: int = 4) -> str:
    """A figure with so many digits after the point; one that would be all zeros with as many that count."""
    return f"{value:.{digits}g}" if 0 < abs(value) < 10.0 ** (1 - digits) else f"{value:.{digits}f}"
