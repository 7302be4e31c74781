"""The examples run as printed."""

import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parent.parent / "examples"


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("wrap_your_layer.py", "equal to the last bit"),
        ("own_tables.py", "test accuracy 0."),
        ("molecules.py", "mean absolute error on validation"),
    ],
)
def test_an_example_runs_as_printed(name: str, said: str, tmp_path: Path):
    done = subprocess.run(
        [sys.executable, str(EXAMPLES / name)], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert said in done.stdout
    assert list(tmp_path.iterdir()) == []


def test_there_are_no_other_examples():
    assert {path.name for path in EXAMPLES.glob("*.py")} == {"wrap_your_layer.py", "own_tables.py", "molecules.py"}
