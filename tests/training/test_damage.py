"""What a sudden stop or a bad disk leaves of a run: told by its file, with a cure that works."""

import json
import shutil
from pathlib import Path

import pytest

from folders import contents
from graphcon.cli import main
from graphcon.errors import InputError
from graphcon.training import run
from graphcon.training.config import DataConfig, ModelConfig, Recipe, TrainerConfig
from graphcon.training.folder import RunFolder

TINY = Recipe(
    data=DataConfig(name="cora"), model=ModelConfig(channels=4, steps=1), trainer=TrainerConfig(epochs=4, threads=1)
)


@pytest.fixture(scope="module")
def whole(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("whole") / "run"
    run.train(TINY, folder)
    return folder


@pytest.fixture
def place(whole: Path, tmp_path: Path, monkeypatch) -> Path:
    shutil.copytree(whole, tmp_path / "run")
    monkeypatch.chdir(tmp_path)
    return tmp_path / "run"


@pytest.mark.parametrize("left", ["nothing", "older weights"])
def test_a_stop_between_the_checkpoint_and_the_weights_loses_nothing(place: Path, left: str):
    before = contents(place)
    weights = RunFolder(place).load_weights()
    (place / "best.safetensors").unlink()
    (place / "metrics.json").unlink()
    if left == "older weights":
        RunFolder(place).save_weights({name: value + 1 for name, value in weights.items()})
    assert main(["train", "--resume", str(place)]) == 0
    assert contents(place) == before


def damaged(file: Path, how: str) -> None:
    content = file.read_bytes()
    file.write_bytes({"half": content[: len(content) // 2], "empty": b"", "a list": b"[1]", "no keys": b"{}"}[how])


@pytest.mark.parametrize(
    ("name", "how", "command"),
    [
        ("best.safetensors", "half", "evaluate run"),
        ("best.safetensors", "empty", "predict run --out answers.csv"),
        ("model.json", "half", "report run"),
        ("model.json", "a list", "evaluate run"),
        ("model.json", "no keys", "predict run --out answers.csv"),
        ("metrics.json", "half", "evaluate run"),
        ("metrics.json", "a list", "evaluate run"),
        ("metrics.json", "no keys", "report run"),
    ],
)
def test_a_damaged_file_is_told_and_the_checkpoint_writes_it_anew(place: Path, name, how, command, capsys):
    before = contents(place)
    damaged(place / name, how)
    assert main(command.split()) == 2
    told = capsys.readouterr().err
    assert told.startswith(f"graphcon: run/{name}: cannot be read")
    assert told.endswith("Delete it, and let the last checkpoint write it anew: graphcon train --resume run\n")
    assert told.count("\n") == 1
    (place / name).unlink()
    assert main(["train", "--resume", "run"]) == 0
    assert contents(place) == before


@pytest.mark.parametrize("how", ["half", "empty", "a list", "no keys"])
def test_a_damaged_checkpoint_is_told_in_a_line(place: Path, how: str, capsys):
    damaged(place / "last.ckpt", how)
    assert main(["train", "--resume", "run"]) == 2
    told = capsys.readouterr().err
    assert told.startswith("graphcon: run/last.ckpt: cannot be read (")
    assert told.count("\n") == 1
    assert "()" not in told


def test_a_checkpoint_of_another_run_is_told(place: Path, tmp_path: Path, capsys):
    run.train(Recipe(data=TINY.data, model=ModelConfig(channels=5, steps=1), trainer=TINY.trainer), tmp_path / "other")
    shutil.copy(tmp_path / "other" / "last.ckpt", place)
    assert main(["train", "--resume", "run"]) == 2
    assert "run/last.ckpt: cannot be read (Error(s) in loading state_dict" in capsys.readouterr().err


@pytest.mark.parametrize("line", [b'{"epoch": 3, "lo', b"\0\0\0\0", b"[1]", b"{}", b"\xff\xfe"])
def test_a_damaged_line_of_the_log_is_told_and_going_on_drops_it(place: Path, line: bytes, capsys):
    log = place / "log.jsonl"
    lines = log.read_bytes().splitlines()
    log.write_bytes(b"\n".join([*lines, line]))
    assert main(["report", "run"]) == 2
    assert f"run/log.jsonl, line {len(lines) + 1}: is not what was written there" in capsys.readouterr().err
    assert main(["train", "--resume", "run"]) == 0
    assert log.read_bytes().splitlines() == lines


def test_a_damaged_line_amid_the_log_takes_no_other_line_with_it(place: Path):
    log = place / "log.jsonl"
    lines = log.read_bytes().splitlines()
    log.write_bytes(b"\n".join([lines[0], b"\0\0\0", *lines[2:]]))
    assert main(["train", "--resume", "run"]) == 0
    assert log.read_bytes().splitlines() == [lines[0], *lines[2:]]


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a disk that is always full")
def test_a_full_disk_is_told_with_the_file_there_was_no_room_for(tmp_path: Path):
    folder = RunFolder(tmp_path)
    folder.log_file = Path("/dev/full")
    with pytest.raises(OSError, match="No space left on device: '/dev/full'"):
        folder.log({"epoch": 1})


def test_a_run_that_goes_on_with_other_versions_says_so(place: Path, capsys):
    file = place / "environment.json"
    assert main(["train", "--resume", "run"]) == 0
    assert "other versions" not in capsys.readouterr().out
    told = json.loads(file.read_text())
    told["packages"] |= {"torch": "1.13.0", "left": "2.0"}
    file.write_text(json.dumps(told))
    assert main(["train", "--resume", "run"]) == 0
    out = " ".join(capsys.readouterr().out.split())
    assert "it began with other versions, and may not come to the same bits: torch 1.13.0 -> " in out
    assert "left 2.0 -> none" in out
    file.write_text("[]")
    assert main(["train", "--resume", "run"]) == 0


def test_of_two_that_begin_a_run_at_the_same_time_the_second_writes_nothing(tmp_path: Path):
    with RunFolder(tmp_path).held():
        before = contents(tmp_path)
        with pytest.raises(InputError, match="another process is training this run"):
            run.train(TINY, tmp_path)
        assert contents(tmp_path) == before


def test_several_runs_with_damaged_metrics_say_which(tmp_path: Path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    settings = "--trainer.epochs 1 --model.channels 4 --trainer.threads 1 --seeds 2"
    words = ["train", "cora-gcn", *settings.split(), "--out", "several"]
    assert main(words) == 0
    file = tmp_path / "several" / "split-0-seed-1" / "metrics.json"
    before = file.read_text()
    file.write_text(before[:30])
    assert main(words) == 2
    assert "several/split-0-seed-1/metrics.json: cannot be read" in capsys.readouterr().err
    file.unlink()
    assert main(words) == 0
    assert json.loads(file.read_text()) == json.loads(before)


@pytest.mark.parametrize("command", ["predict run --out file/a.csv", "report run --out file/a.html"])
def test_a_file_in_the_place_of_a_folder_is_told(place: Path, command: str, capsys):
    Path("file").touch()
    assert main(command.split()) == 2
    assert "A folder is needed there: name another place" in capsys.readouterr().err


def test_a_folder_in_the_place_of_a_file_is_told(place: Path, capsys):
    (place / "best.safetensors").unlink()
    (place / "best.safetensors").mkdir()
    assert main(["train", "--resume", "run"]) == 2
    assert "best.safetensors: Is a directory. A file is needed there" in capsys.readouterr().err


def test_what_was_half_written_when_a_run_was_killed_is_cleared_away(place: Path):
    before = contents(place)
    (place / ".last.ckpt.4711").write_bytes(b"half")
    assert main(["train", "--resume", "run"]) == 0
    assert contents(place) == before


def test_a_command_to_type_next_can_be_typed(place: Path, capsys):
    place.rename("my run")
    assert main(["train", "--resume", "my run"]) == 0
    assert "graphcon predict 'my run' --out predictions.csv" in capsys.readouterr().out
    Path("my run/metrics.json").unlink()
    assert main(["report", "my run"]) == 2
    assert "graphcon train --resume 'my run'" in capsys.readouterr().err
