"""Where commands run: without a home, without UTF-8, where nothing can be written."""

import io
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from graphcon._files import cache_folder
from graphcon.cli import main
from graphcon.errors import InputError


@pytest.fixture
def homeless(monkeypatch, tmp_path: Path) -> Path:
    """A user whom the system does not know, as containers have them."""

    def home() -> Path:
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.delenv("GRAPHCON_CACHE")
    monkeypatch.setattr(Path, "home", home)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


def test_without_a_home_things_are_kept_among_temporary_files(homeless: Path):
    assert cache_folder() == homeless / f"graphcon-{os.getuid()}"
    assert cache_folder().stat().st_mode & 0o777 == 0o700
    assert main(["data"]) == 0


def test_nothing_is_taken_from_a_temporary_folder_of_somebody_else(homeless: Path, monkeypatch):
    somebody = os.getuid() + 1
    (homeless / f"graphcon-{somebody}").mkdir()
    monkeypatch.setattr(os, "getuid", lambda: somebody)
    with pytest.raises(InputError, match="belongs to another user. Set GRAPHCON_CACHE"):
        cache_folder()


def test_a_cache_that_cannot_be_written_is_told_with_the_variable_that_moves_it(
    benchmark_root: Path, tmp_path: Path, monkeypatch, capsys
):
    (tmp_path / "file").touch()
    monkeypatch.setenv("GRAPHCON_CACHE", str(tmp_path / "file" / "cache"))
    assert main(["data", "texas", "--data-root", str(benchmark_root)]) == 2
    assert capsys.readouterr().err.endswith("Set GRAPHCON_CACHE to a folder that you may write to\n")


def test_signs_that_a_terminal_does_not_know_stop_no_command(monkeypatch):
    out = io.TextIOWrapper(io.BytesIO(), encoding="ascii")
    monkeypatch.setattr(sys, "stdout", out)
    assert main(["data", "cora"]) == 0
    assert b"\\u" in out.buffer.getvalue()


def test_files_are_read_in_utf_8_whatever_the_system_speaks(tmp_path: Path):
    (tmp_path / "r.toml").write_bytes('[data]\nnodes = "Zürich/nœuds.csv"\nedges = "e.csv"\n'.encode())
    program = "from graphcon.training import recipes; print(ascii(str(recipes.load('r.toml').data.nodes)))"
    latin = {"PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0", "LC_ALL": "C"}
    done = subprocess.run(
        [sys.executable, "-c", program],
        cwd=tmp_path,
        env=os.environ | latin,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.strip() == ascii("Zürich/nœuds.csv")
