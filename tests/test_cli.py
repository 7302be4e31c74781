"""The commands as a user types them, in processes of their own."""

import csv
import os
import subprocess
import sys
from pathlib import Path

import pytest
from matplotlib.image import imread

from graphcon.cli import main
from graphcon.training import recipe_list


def graphcon(*arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "graphcon.cli", *arguments]
    return subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=False)


def refused_without_pytorch(*arguments: str, cwd: Path) -> str:
    """What a command says that is refused, having seen that PyTorch was not loaded for it."""
    program = "import sys; from graphcon.cli import main; print(main(sys.argv[1:]), 'torch' in sys.modules)"
    words = [sys.executable, "-c", program, *arguments]
    done = subprocess.run(words, cwd=cwd, capture_output=True, text=True, check=False)
    assert done.stdout.split() == ["2", "False"], done.stderr
    return done.stderr


def test_the_demo_draws_the_energy_figure_and_the_same_seed_gives_the_same_numbers(tmp_path: Path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main(["demo", "--seed", "3", "--energy-only"]) == 0
    assert "runs/demo/dirichlet_energy.png" in capsys.readouterr().out
    demo = tmp_path / "runs/demo"
    assert imread(demo / "dirichlet_energy.png").std() > 0.05
    assert "GraphCON-GCN, α = 0.5" in (demo / "report.html").read_text()
    with (demo / "dirichlet_energy.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert [int(row["layer"]) for row in rows] == 6 * list(range(1, 101))
    assert all(float(row["low"]) <= float(row["median"]) <= float(row["high"]) for row in rows)
    last = {row["network"]: float(row["median"]) for row in rows if row["layer"] == "100"}
    for coupling in ("GCN", "GAT"):
        assert 100 * last[coupling] < last[f"GraphCON-{coupling}, α = 0.5"]
        assert last[f"GraphCON-{coupling}, α = 0"] > 1
    assert main(["demo", "--seed", "3", "--energy-only", "--out", "again"]) == 0
    assert (tmp_path / "again/dirichlet_energy.csv").read_bytes() == (demo / "dirichlet_energy.csv").read_bytes()


@pytest.mark.parametrize(
    ("command", "arguments", "message"),
    [
        ("train", "--nodes gone.csv --edges edges.csv --target label", "gone.csv: there is no such file"),
        ("tune", "--nodes nodes.csv --target label", "--edges is missing"),
        ("compare", "--nodes nodes.csv --edges edges.csv --target lable", "there is no column 'lable' for --target"),
        ("data", "--nodes nodes.csv --edges edges.csv --target label", "edges.csv, row 3, column 'target': '9'"),
    ],
    ids=["no file", "no edges", "no column", "no node"],
)
def test_a_mistake_in_own_tables_is_told_before_pytorch_is_loaded(
    tmp_path: Path, command: str, arguments: str, message: str
):
    (tmp_path / "nodes.csv").write_text("id,size,label\n1,2,a\n2,3,b\n")
    (tmp_path / "edges.csv").write_text("source,target\n1,2\n2,9\n")
    assert message in refused_without_pytorch(command, *arguments.split(), cwd=tmp_path)
    assert {path.name for path in tmp_path.iterdir()} == {"nodes.csv", "edges.csv"}


@pytest.mark.parametrize("command", ["evaluate", "predict", "export", "report", "diagnose", "train --resume"])
def test_a_run_that_is_not_there_is_told_before_pytorch_is_loaded(tmp_path: Path, command: str):
    out = ("--out", "answers.csv") if command == "predict" else ()
    message = refused_without_pytorch(*command.split(), "gone", *out, cwd=tmp_path)
    assert "gone: there is no run in it (no recipe.toml). Name a folder made by: graphcon train" in message


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("dmo",), "demo"),
        (("demo", "--act", "rellu"), "relu"),
        (("train", "cora-gcn", "--model.stepz", "3"), "--model.steps"),
        (("train", "cora-gcn", "--model.steps", "many"), "--model.steps"),
        (("demo", "--seed", "x"), "--seed"),
        (("demo", "--out", "taken/demo"), "taken is a file, but a folder is needed"),
        (("demo", "--out", "x" * 300), "Name a shorter one"),
    ],
)
def test_bad_input_leaves_with_2_and_a_word_of_help(tmp_path: Path, arguments: tuple[str, ...], message: str):
    (tmp_path / "taken").write_text("mine")
    done = graphcon(*arguments, cwd=tmp_path)
    assert done.returncode == 2
    assert message in done.stdout + done.stderr
    assert "Traceback" not in done.stdout + done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["taken"]


@pytest.mark.parametrize(
    ("given", "spins"),
    [({}, "10000"), ({"GOMP_SPINCOUNT": "7"}, "7"), ({"OMP_WAIT_POLICY": "active"}, None)],
)
def test_waiting_threads_leave_their_cores_to_others_unless_told_how_to_wait(given, spins, monkeypatch):
    for name in ("GOMP_SPINCOUNT", "OMP_WAIT_POLICY"):
        monkeypatch.delenv(name, raising=False)
    for name, value in given.items():
        monkeypatch.setenv(name, value)
    assert main(["--version"]) == 0
    assert os.environ.get("GOMP_SPINCOUNT") == spins


def test_an_arithmetic_slip_of_ours_is_not_told_as_if_the_user_had_made_it(monkeypatch):
    monkeypatch.setattr(recipe_list, "list_recipes", lambda *_: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        main(["recipes"])


def test_help_and_version(tmp_path: Path):
    for arguments in ((), ("--help",)):
        done = graphcon(*arguments, cwd=tmp_path)
        assert done.returncode == 0
        assert "demo" in done.stdout
    assert "Example: graphcon demo" in graphcon("demo", "--help", cwd=tmp_path).stdout
    assert "by default. (default: None)" in " ".join(
        graphcon("bench", "--help", cwd=tmp_path).stdout.replace("│", " ").split()
    )
    assert graphcon("--version", cwd=tmp_path).stdout.startswith("graphcon 0.")


def test_bash_completes_the_commands(tmp_path):
    script = graphcon("completion", "bash", cwd=tmp_path)
    assert script.returncode == 0
    (tmp_path / "completion.sh").write_text(script.stdout)
    asked = "source completion.sh; COMP_WORDS=(graphcon tr); COMP_CWORD=1; _tyro_graphcon; echo ${COMPREPLY[@]}"
    answer = subprocess.run(["bash", "-c", asked], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert answer.stdout.split() == ["train"]


def test_the_overview_names_every_command(tmp_path):
    told = graphcon(cwd=tmp_path).stdout
    known = graphcon("no-such-command", cwd=tmp_path).stderr.replace("│", " ")
    commands = known.split("Available subcommands:")[1].split("─")[0].replace(",", " ").split()
    assert "train" in commands
    assert [name for name in commands if f"  {name} " not in told] == []


@pytest.mark.parametrize("arguments", ["recipes", "data", "models"])
def test_a_reader_who_has_left_is_told_by_the_exit_code(tmp_path, arguments: str):
    reader, writer = os.pipe()
    os.close(reader)
    command = [sys.executable, "-m", "graphcon.cli", *arguments.split()]
    done = subprocess.run(command, cwd=tmp_path, stdout=writer, stderr=subprocess.PIPE, text=True, check=False)
    os.close(writer)
    assert (done.returncode, done.stderr) == (141, "")


def test_a_reader_who_leaves_early_gets_no_traceback(tmp_path):
    command = [sys.executable, "-u", "-m", "graphcon.cli", "tune", "--help"]
    with subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as running:
        assert running.stdout is not None
        assert running.stderr is not None
        running.stdout.readline()
        running.stdout.close()
        assert running.stderr.read() == ""
        assert running.wait(60) in (0, 141)  # 0 where all had been written before
