"""The folders of the package stand in one order: none imports from one that comes after it."""

import ast
from pathlib import Path

import graphcon

PACKAGE = Path(graphcon.__file__).parent
#: From the core, which knows nothing of data sets, files or commands, to the commands.
ORDER = (
    *("errors", "stability", "divergence", "integrators", "memory", "couplings", "kernels", "oscillator"),
    *("conformance", "diagnostics", "models", "data", "training", "report", "experiments", "cli"),
)


def imported(file: Path) -> set[str]:
    """The rooms that a file imports from, at its head or within a function."""
    found = set()
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module is not None:
            found |= {f"{node.module}.{alias.name}" for alias in node.names}
    return {name.split(".")[1] for name in found if name.startswith("graphcon.")} & set(ORDER)


def test_every_room_has_its_place():
    rooms = {path.stem for path in PACKAGE.iterdir() if path.suffix == ".py" or (path / "__init__.py").exists()}
    assert {room for room in rooms if not room.startswith("_")} == set(ORDER)


def test_no_room_imports_from_one_that_comes_after_it():
    backwards = []
    for room in ORDER:
        place = PACKAGE / room
        for file in sorted(place.rglob("*.py")) if place.is_dir() else [place.with_suffix(".py")]:
            later = {other for other in imported(file) if ORDER.index(other) > ORDER.index(room)}
            backwards += [f"{file.relative_to(PACKAGE)}: {other}" for other in later]
    assert backwards == []
