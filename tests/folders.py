"""What is in a folder, for tests that nothing was written."""

from pathlib import Path


def contents(folder: Path) -> dict[str, bytes]:
    """All its files by name."""
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}
