"""Kernels among threads and processes: the same bits everywhere, and no hanging."""

import multiprocessing
import os
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

import pytest
import torch
from torch import Tensor
from torch.utils.data import DataLoader, Dataset

import graphcon
from graphcon import GraphCON, kernels
from graphcon.kernels import _runtime

from graphs import random_graph
from kernel_cases import CASES, CHANNELS, build

NODES = 600
X, EDGES = torch.randn(NODES, CHANNELS, generator=torch.Generator().manual_seed(0)), random_graph(NODES, 20_000)


def results(name: str, x: Tensor = X, edge_index: Tensor = EDGES) -> list[Tensor]:
    layer = build(name)
    per_edge = CASES[name].per_edge(edge_index.size(1), x.dtype)
    network = GraphCON(layer, 3, dropout=0.2)
    x = x.clone().requires_grad_()
    torch.manual_seed(0)
    out = network(x, edge_index, **per_edge)
    out.square().sum().backward()
    return [out.detach(), x.grad, *(p.grad for p in network.parameters() if p.grad is not None)]


@pytest.mark.parametrize(
    "name", ["gcn", "gat", "gatv2", "transformer", "dot product", "gated gcn", "gmm", "sage max", "cheb", "gin"]
)
def test_the_same_bits_at_every_run_and_with_any_number_of_threads(name: str, monkeypatch):
    """The loops get other numbers of threads; torch keeps one, for its products of matrices do depend on it."""
    found = []
    for threads in (1, 2, 2, 3):
        monkeypatch.setattr(_runtime, "threads_of_torch", lambda threads=threads: threads)
        found.append(results(name))
    for other in found[1:]:
        assert all(torch.equal(a, b) for a, b in zip(found[0], other, strict=True))


def test_threads_follow_torch_and_leave_its_number_alone():
    import numba

    before = torch.get_num_threads()
    try:
        for number in (1, 2):
            torch.set_num_threads(number)
            with _runtime.threads(10**9):
                assert numba.get_num_threads() == min(number, numba.config.NUMBA_NUM_THREADS)
            results("gcn")
            assert torch.get_num_threads() == number
    finally:
        torch.set_num_threads(before)


def test_several_python_threads_at_once():
    names = ["gcn", "gat", "dot product", "gcn weighted"] * 3
    layers = [build(name) for name in names]
    networks = [GraphCON(layer, 4) for layer in layers]
    weight = torch.rand(EDGES.size(1))

    def run(n: int) -> Tensor:
        torch.set_num_threads(2)
        args = (EDGES, weight) if "weighted" in names[n] else (EDGES,)
        x = X.clone().requires_grad_()
        networks[n](x, *args).square().sum().backward()
        return x.grad

    expected = [run(n) for n in range(len(names))]
    torch.set_num_threads(1)
    with ThreadPoolExecutor(4) as pool:
        for a, b in zip(expected, pool.map(run, range(len(names))), strict=True):
            torch.testing.assert_close(a, b)


class Embedded(Dataset):
    """Runs a network where the data are made: in the workers of a loader."""

    def __init__(self, network: GraphCON):
        self.network = network

    def __len__(self) -> int:
        return 6

    def __getitem__(self, n: int) -> tuple[Tensor, bool]:
        with torch.no_grad():
            return self.network(X + n, EDGES), kernels.enabled()


def test_workers_of_a_loader_take_the_plain_path_and_do_not_hang():
    network = GraphCON(build("gcn"), 3)
    with torch.no_grad():
        expected = [network(X + n, EDGES) for n in range(6)]  # from here on this process has threads
    loader = DataLoader(Embedded(network), batch_size=None, num_workers=2, multiprocessing_context="fork", timeout=60)
    found = list(loader)
    assert not any(enabled for _, enabled in found)
    for (value, _), other in zip(found, expected, strict=True):
        torch.testing.assert_close(value, other)
    assert kernels.enabled()


def _train_in_a_process(queue) -> None:
    torch.set_num_threads(1)
    queue.put([value.numpy() for value in results("gat")])


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_other_processes_train_too(method: str):
    expected = results("gat")
    context = multiprocessing.get_context(method)
    queue = context.Queue()
    processes = [context.Process(target=_train_in_a_process, args=(queue,)) for _ in range(2)]
    for process in processes:
        process.start()
    found = [queue.get(timeout=120) for _ in processes]
    for process in processes:
        process.join(timeout=60)
        assert process.exitcode == 0
    if method == "spawn":  # a forked one draws the dropout of the plain path
        for one in found:
            torch.testing.assert_close([torch.from_numpy(value) for value in one], expected)


WITHOUT_NUMBA = """
import sys
sys.modules["numba"] = None
import torch
from torch_geometric.nn import GATConv
from graphcon import GraphCON, kernels
from graphcon.kernels import _runtime
assert not kernels.enabled()
torch.manual_seed(0)
network = GraphCON(GATConv(8, 2, heads=4), 3)
x, edge_index = torch.randn(6, 8), torch.tensor([[0, 1, 2, 3], [1, 2, 3, 4]])
network(x, edge_index).sum().backward()
print(network(x, edge_index).sum().item())
"""

FIRST_RUN = """
import torch
from graphcon.kernels.structure import known
known(torch.zeros(2, 3, dtype=torch.long))
"""


def python(code: str, **environment: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", code]
    return subprocess.run(command, env=os.environ | environment, capture_output=True, text=True, check=True)


def test_without_numba_everything_works_and_gives_the_same():
    without = float(python(WITHOUT_NUMBA).stdout)
    with_it = python(WITHOUT_NUMBA.replace('sys.modules["numba"] = None', "").replace("assert not", "assert"))
    assert without == pytest.approx(float(with_it.stdout), rel=1e-5)


def test_the_user_is_told_of_compilation_once_and_again_only_for_other_sources(tmp_path: Path):
    package = Path(graphcon.__file__).parent
    shutil.copytree(package, tmp_path / "graphcon", ignore=shutil.ignore_patterns("__pycache__"))
    run = partial(python, FIRST_RUN, PYTHONPATH=str(tmp_path))
    told = "graphcon: compiling kernels for this machine (once) ...\n"
    assert [run().stderr, run().stderr] == [told, ""]
    # What is compiled has functions of other files within, so that it is not enough to look at its own.
    with (tmp_path / "graphcon/kernels/loops/sums.py").open("a") as file:
        file.write("# changed\n")
    assert run().stderr == told


def test_kept_kernels_that_a_dead_machine_left_half_written_are_compiled_anew(tmp_path: Path):
    run = partial(python, FIRST_RUN, NUMBA_CACHE_DIR=str(tmp_path))
    told = "graphcon: compiling kernels for this machine (once) ...\n"
    assert run().stderr == told
    for ending, left in (("*.nbi", 0), ("*.nbc", 40)):
        for file in tmp_path.rglob(ending):
            file.write_bytes(file.read_bytes()[:left])
        assert run().stderr == told
    assert run().stderr == ""


def test_where_nothing_can_be_written_kernels_are_compiled_by_every_process_which_says_so(tmp_path: Path):
    (tmp_path / "file").touch()
    run = partial(python, FIRST_RUN, NUMBA_CACHE_DIR=str(tmp_path / "file" / "cache"))
    told = "at every start: set GRAPHCON_CACHE to a folder where they can be kept"
    assert told in run().stderr
    assert told in run().stderr


def test_importing_graphcon_compiles_nothing():
    python("import sys, graphcon; assert not any(name.startswith('graphcon.kernels.loops') for name in sys.modules)")
