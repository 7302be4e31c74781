"""Work in several processes ends with the one that started it, and as it was asked to."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from graphcon import cli
from graphcon._processes import in_processes, threads_each
from graphcon.errors import ProcessError
from graphcon.experiments import show_reproduction

HERE = Path(__file__).parent
PROGRAM = """
import sys
from pathlib import Path
from graphcon._processes import in_processes
from busy import work

if __name__ == "__main__":
    for _ in in_processes(work, {number: (Path(sys.argv[1]), number) for number in range(6)}, 2):
        pass
"""


def leave(number: int) -> int:
    """Ends its process as the system does that runs out of memory."""
    os.kill(os.getpid(), signal.SIGKILL)
    return number


def until(condition) -> None:
    for _ in range(6000):
        if condition():
            return
        time.sleep(0.01)
    raise AssertionError("it does not come to be")


def lives(process: int) -> bool:
    try:
        return Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except FileNotFoundError:
        return False


@pytest.fixture
def begun(tmp_path: Path):
    """A program with two processes at work, which have written their numbers and ids."""
    if not Path("/proc/self/stat").exists():
        pytest.skip("needs /proc to see whether a process lives")
    (tmp_path / "program.py").write_text(PROGRAM)
    (tmp_path / "begun").mkdir()
    command = [sys.executable, tmp_path / "program.py", tmp_path / "begun"]
    path = os.pathsep.join([str(HERE), os.environ.get("PYTHONPATH", "")])
    program = subprocess.Popen(
        command, env=os.environ | {"PYTHONPATH": path}, stderr=subprocess.PIPE, text=True, start_new_session=True
    )
    until(lambda: len(list((tmp_path / "begun").iterdir())) == 2)
    yield program, tmp_path / "begun"
    if program.poll() is None:
        os.killpg(program.pid, signal.SIGKILL)


def test_processes_die_with_the_one_that_started_them(begun):
    program, folder = begun
    processes = [int(file.suffix[1:]) for file in folder.iterdir()]
    program.kill()
    program.wait()
    until(lambda: not any(map(lives, processes)))


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="needs /proc to see whether a process lives")
def test_one_of_several_devices_leaves_when_the_first_has_died():
    waiting = (
        "import os, time; from graphcon._processes import leave_with_parent; leave_with_parent(); "
        "print(os.getpid(), flush=True); time.sleep(600)"
    )
    first = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {waiting!r}])"
    program = subprocess.Popen([sys.executable, "-c", first], stdout=subprocess.PIPE, text=True, start_new_session=True)
    assert program.stdout is not None
    other = int(program.stdout.readline())
    program.kill()
    program.wait()
    until(lambda: not lives(other))


def test_ctrl_c_lets_what_is_under_way_finish_and_says_so_once(begun):
    program, folder = begun
    os.killpg(program.pid, signal.SIGINT)
    told = program.communicate(timeout=60)[1]
    assert told.count("Finishing what is under way; Ctrl-C again stops at once.") == 1
    assert told.count("Traceback") == 1  # that of the program itself, which does not catch it
    assert program.returncode != 0
    assert len(list(folder.iterdir())) <= 5  # all that had been handed out, and ended at once


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="needs a system that binds processes to processors")
def test_processors_that_this_process_may_not_use_are_not_shared_out():
    before = os.sched_getaffinity(0)
    try:
        os.sched_setaffinity(0, {min(before)})
        assert threads_each(1) == 1
    finally:
        os.sched_setaffinity(0, before)


def test_a_process_that_is_ended_from_outside_is_told_with_the_cure():
    with pytest.raises(ProcessError, match="out of memory.*type the same command again.*fewer --workers"):
        list(in_processes(leave, {0: (0,)}, 2))


def test_the_command_tells_of_an_ended_process_without_a_traceback(tmp_path, monkeypatch, capsys):
    def broken(*_, **__):
        raise ProcessError("a process was ended from outside")

    monkeypatch.setattr(show_reproduction, "reproduce", broken)
    places = ["--out", str(tmp_path / "results"), "--runs", str(tmp_path / "runs")]
    assert cli.main(["reproduce", "heterophilic", "--workers", "2", *places]) == 1
    assert capsys.readouterr().err == "graphcon: a process was ended from outside\n"
