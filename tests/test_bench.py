"""The benchmark itself: that it measures what it says, not how fast."""

import io
import json
import math
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import torch
from rich.console import Console

from graphcon import cli
from graphcon.experiments import bench
from graphcon.experiments.bench import Row, Timing, Workload
from graphcon.experiments.bench_table import markdown, show

TINY = Workload("tiny", nodes=30, edges=60, channels=8, steps=2)


@pytest.mark.parametrize("coupling", bench.COUPLINGS)
def test_all_four_ways_are_measured_in_the_same_rounds(coupling: str):
    row = bench.measure(TINY, coupling, rounds=2)
    assert set(row.ways) >= {"graphcon", "loop", "floor"}
    for timing in row.ways.values():
        assert len(timing.seconds) == 2
        assert timing.best == min(timing.seconds) > 0
        assert timing.spread >= 0


@pytest.mark.parametrize("coupling", bench.COUPLINGS)
def test_the_loop_computes_what_graphcon_computes(coupling: str):
    """A race is fair if all runners go the same way."""
    torch.manual_seed(0)
    layer = bench.couplings.build(coupling, 8)
    x, edges = torch.randn(12, 8), torch.randint(12, (2, 30))
    torch.testing.assert_close(bench.GraphCON(layer, 3)(x, edges), bench._loop(layer, 3)(x, edges))


def test_the_summary_is_the_geometric_mean_the_least_and_the_distance_to_the_floor():
    def row(name: str, ours: float, loop: float, floor: float) -> Row:
        ways = {"graphcon": ours, "loop": loop, "floor": floor}
        return Row(Workload(name, 1, 1, 1, 1), "gcn", {way: Timing([t, 2 * t], 5) for way, t in ways.items()})

    measured = [row("zinc", 1.0, 2.0, 0.8), row("texas", 1.0, 8.0, 0.1)]
    found = bench.summary(measured)["gcn"]
    ceiling = math.sqrt(2.5 * 80.0)  # the loop over the floor
    assert found == pytest.approx({"geometric_mean": 4.0, "ceiling": ceiling, "least": 2.0, "most_over_floor": 1.25})
    assert measured[0].speedup("csr") is None
    written = json.loads(json.dumps(bench.as_json(measured)))
    assert written["rows"][1]["loop"] == {"seconds": [8.0, 16.0], "peak_bytes": 5, "best": 8.0, "spread": 0.5}
    assert written["summary"]["gcn"]["least"] == 2.0
    assert not math.isnan(written["summary"]["gcn"]["most_over_floor"])


def test_a_way_that_fails_is_left_out_for_pygs_csr_alone(monkeypatch):
    def fails(*_):
        raise RuntimeError("broken")

    monkeypatch.setattr(bench, "_csr_step", lambda *_: fails)
    assert set(bench.measure(TINY, "gcn", rounds=1).ways) == {"graphcon", "loop", "floor"}
    monkeypatch.setattr(bench.GraphCON, "forward", fails)
    with pytest.raises(RuntimeError, match="broken"):
        bench.measure(TINY, "gcn", rounds=1)


def test_the_table_is_written_as_markdown():
    ways = {way: Timing([seconds], 2_000_000) for way, seconds in (("graphcon", 0.5), ("loop", 1.0), ("floor", 0.25))}
    lines = markdown([Row(Workload("zinc", 1, 1, 1, 3), "gcn", ways)]).splitlines()
    assert lines[2] == "| zinc | 3 | gcn | 500.0 ±0% | 2.00× ±0% | - | 2.00× | 2 | 2 |"
    assert lines[4].startswith("- gcn: 2.00 × over the loop (geometric mean; the bare products would have 4.00 ×)")


def test_quick_is_less_of_the_same(monkeypatch):
    def measure(workload: Workload, coupling: str, rounds: int) -> Row:
        return Row(workload, coupling, {"loop": Timing([1.0] * rounds, None)})

    monkeypatch.setattr(bench, "measure", measure)
    all_of_it, quick = list(bench.rows()), list(bench.rows(quick=True))
    assert len(quick) == len(all_of_it) - len(bench.COUPLINGS)
    for less, more in zip(quick, all_of_it, strict=False):
        assert less.workload.steps <= more.workload.steps
        assert len(less.ways["loop"].seconds) < len(more.ways["loop"].seconds)


def test_what_takes_long_is_measured_in_fewer_rounds(monkeypatch):
    monkeypatch.setattr(bench, "_LONG", 0.0)
    assert len(bench.measure(TINY, "gcn", rounds=7).ways["loop"].seconds) == 2


def test_every_row_is_printed_when_it_is_known(monkeypatch, tmp_path: Path):
    printed = io.StringIO()
    ways = {way: Timing([1.0], None) for way in ("graphcon", "loop", "floor")}

    def rows(quick: bool) -> Iterator[Row]:
        for name in ("texas", "zinc"):
            yield Row(Workload(name, 1, 1, 1, 3), "gcn", ways)
            assert f"{name} gcn" in printed.getvalue()

    monkeypatch.setattr(bench, "rows", rows)
    show(tmp_path / "bench.json", True, None, Console(file=printed, width=100))
    assert (tmp_path / "bench.md").exists()


def test_a_folder_is_refused_before_anything_is_measured(tmp_path: Path, capsys):
    assert cli.main(["bench", "--out", str(tmp_path)]) == 2
    assert f"Name a file in it, {tmp_path / 'bench.json'}" in capsys.readouterr().err


def test_help_says_how_to_read_the_table(tmp_path: Path):
    command = [sys.executable, "-m", "graphcon.cli", "bench", "--help"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    for word in ("over loop", "of floor", "--quick"):
        assert word in done.stdout
