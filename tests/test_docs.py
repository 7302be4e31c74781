"""What the README and the docs print runs as printed."""

import re
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest
import torch
from torch_geometric.nn import GCNConv

from graphcon import GraphCON, cli, data
from graphcon.stability import analyse
from graphcon.training import recipes, run

ROOT = Path(__file__).parent.parent
ROOMS = ("couplings", "data", "diagnostics", "integrators", "kernels", "models", "report")


def test_the_examples_of_the_readme_run_as_printed():
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(), flags=re.DOTALL)
    assert len(blocks) == 2
    names: dict = {}
    for block in blocks:
        exec(re.sub(r"^  ", "", block, flags=re.MULTILINE), names)
    assert names["out"].shape == names["x"].shape
    assert names["xs"].shape == (33, 100, 64)
    assert names["model"](torch.randn(100, 16), names["edge_index"]).shape == (100, 7)


def test_the_examples_of_the_page_on_diagnostics_run_as_printed(capsys):
    names: dict = {}
    for block in re.findall(r"```python\n(.*?)```", (ROOT / "docs/diagnostics.md").read_text(), flags=re.DOTALL):
        exec(block, names)
    assert len(names["table"]) == 33
    assert len(names["norms"].states) == 9


def test_the_examples_of_other_formats_run_as_printed(tmp_path: Path, monkeypatch):
    networkx = pytest.importorskip("networkx")
    monkeypatch.chdir(tmp_path)
    graph = networkx.karate_club_graph()
    networkx.write_graphml(graph, "graph.graphml")
    lines = [line for line in (ROOT / "docs/data.md").read_text().splitlines() if 'target="club"' in line]
    assert len(lines) == 2
    for line in lines:
        dataset, _ = eval(line, {"data": data, "graph": graph})
        assert dataset.data.num_nodes == 34


def test_the_example_of_training_from_python_runs_as_printed(tmp_path: Path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    run.train(recipes.replace(recipes.load("cora-gcn"), {"trainer.epochs": 1}), tmp_path / "runs/cora-gcn")
    page = (ROOT / "docs/training.md").read_text()
    block = re.search(r"```python\n(import graphcon\n.*?)```", page, flags=re.DOTALL)
    assert block is not None
    names: dict = {}
    exec(block[1], names)
    assert len(names["table"]) == 2485
    assert "accuracy" in capsys.readouterr().out


def test_the_walk_through_own_tables_runs_as_printed(tmp_path: Path, monkeypatch, capsys):
    pytest.importorskip("optuna")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    blocks = re.findall(r"```sh\n(.*?)```", (ROOT / "docs/tables.md").read_text(), flags=re.DOTALL)
    lines = [line.split()[1:] for block in blocks for line in block.splitlines() if line.startswith("graphcon ")]
    shorter = {"train": ["--trainer.epochs", "5"], "compare": ["--trainer.epochs", "2"], "tune": ["--trials", "2"]}
    assert [words[0] for words in lines] == ["data", "data", "train", "report", "predict", "compare", "tune", "train"]
    ended = [cli.main([*words, *shorter.get(words[0], [])]) for words in lines]
    assert ended == [2, *[0] * (len(lines) - 1)]
    assert "row 18, column 'age': an empty cell" in capsys.readouterr().err
    assert len((tmp_path / "answers.csv").read_text().splitlines()) == 241


def test_the_guide_quotes_the_stability_in_its_own_words():
    guide = (ROOT / "docs/guide.md").read_text()
    assert str(GraphCON(GCNConv(64, 64), steps=32).stability) in guide
    assert str(analyse(dt=1.0, alpha=1.0, gamma=1.0)) in guide


def test_every_link_to_a_file_leads_somewhere():
    for page in [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *ROOT.glob("docs/*.md")]:
        for target in re.findall(r"\]\((?!https?:)([^)#]+)", page.read_text()):
            assert (page.parent / target).exists(), f"{page.name} links to {target}"


def test_the_site_is_made_without_a_warning_and_has_every_public_name_and_command(tmp_path: Path):
    pytest.importorskip("sphinx")
    command = [sys.executable, "-m", "sphinx", "--fail-on-warning", "--quiet", ROOT / "docs", tmp_path]
    subprocess.run(command, check=True, timeout=300)
    pages = "".join(page.read_text() for page in tmp_path.glob("reference/*.html"))
    shown = set(re.findall(r'id="(?:module-)?(graphcon[^"]*)"', pages))
    for room in ("graphcon", *(f"graphcon.{room}" for room in ROOMS)):
        names = {f"{room}.{name}" for name in import_module(room).__all__ if name != "__version__"}
        assert names <= shown
    commands = [name for group in cli.WORKFLOW.values() for name in group]
    assert [name for name in commands if f'id="graphcon-{name}"' not in pages] == []
