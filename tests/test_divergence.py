import pickle

import pytest
import torch
from torch import Tensor
from torch.nn import Module
from torch_geometric.nn import GCNConv

from graphcon import DivergenceError, GraphCON, detect_divergence

from graphs import ring


class BreaksAt(Module):
    def __init__(self, call: int):
        super().__init__()
        self.call, self.calls = call, 0

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        self.calls += 1
        return x / 0 if self.calls == self.call else x


@pytest.mark.parametrize("memory", ["store", "checkpoint"])
def test_the_step_at_which_it_began_is_named(memory: str):
    layer = GraphCON(BreaksAt(5), 8, memory=memory)
    x = torch.ones(6, 2, requires_grad=True)
    with (
        detect_divergence(),
        pytest.raises(DivergenceError, match=r"the state X became infinite at step 5 of 8") as caught,
    ):
        layer(x, ring())
    assert caught.value.step == 5
    assert "node 0, channel 0" in str(caught.value)
    assert "oscillating" in str(caught.value)


def test_a_bad_input_is_told_from_a_bad_step():
    x = torch.ones(6, 2)
    x[3, 1] = float("nan")
    with detect_divergence(), pytest.raises(DivergenceError, match=r"NaN before the first step .*node 3, channel 1"):
        GraphCON(GCNConv(2, 2), 3)(x, ring())


def test_the_trajectory_is_watched_too():
    with detect_divergence(), pytest.raises(DivergenceError, match="step 2 of 4"):
        GraphCON(BreaksAt(2), 4).trajectory(torch.ones(6, 2), ring())


def test_nobody_looks_unless_asked():
    GraphCON(BreaksAt(2), 4)(torch.ones(6, 2), ring())
    with detect_divergence():
        pass
    assert not GraphCON(BreaksAt(2), 4)(torch.ones(6, 2), ring()).isfinite().all()


def test_a_healthy_network_passes():
    with detect_divergence():
        GraphCON(GCNConv(2, 2), 4)(torch.ones(6, 2), ring()).sum().backward()


def test_the_error_comes_whole_out_of_another_process():
    with detect_divergence(), pytest.raises(DivergenceError) as caught:
        GraphCON(BreaksAt(2), 3)(torch.ones(6, 2), ring())
    again = pickle.loads(pickle.dumps(caught.value))
    assert (type(again), str(again), again.step) == (DivergenceError, str(caught.value), 2)
