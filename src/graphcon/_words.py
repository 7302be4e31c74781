"""Words for what is told to users."""


def counted(number: int, what: str) -> str:
    """How many of something there are: ``1 edge``, ``2,000 edges``."""
    return f"{number:,} {what}" if number == 1 else f"{number:,} {what}s"
