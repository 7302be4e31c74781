"""Memory is used again only when nobody can see it any more, and no more than a little of it is kept."""

import pytest
import torch

from graphcon import GraphCON, kernels
from graphcon.kernels import workspace
from graphcon.kernels.workspace import scratch

from graphs import random_graph
from kernel_cases import CHANNELS, build

LIKE, LARGE = torch.empty(0), 1 << 16


@pytest.fixture(autouse=True)
def _empty():
    kernels.free_memory()
    yield
    kernels.free_memory()


def test_memory_that_was_let_go_of_is_used_again():
    first = scratch(LIKE, 4, LARGE)
    where = first.data_ptr()
    del first
    assert scratch(LIKE, 4, LARGE - 7).data_ptr() == where


def test_a_view_or_an_array_keeps_it():
    ones = [scratch(LIKE, LARGE).fill_(1.0) for _ in range(3)]
    held = [ones[0][5:], ones[1].numpy()[3:].reshape(1, -1), ones[2].view(2, -1).unbind(0)[1]]
    del ones
    assert not workspace._free
    scratch(LIKE, LARGE).fill_(7.0)
    assert all(bool((torch.as_tensor(part) == 1.0).all()) for part in held)


def test_what_is_kept_is_limited_and_can_be_given_back(monkeypatch):
    monkeypatch.setattr(workspace, "KEPT_BYTES", 10 * LARGE)
    for held in ([scratch(LIKE, LARGE) for _ in range(2)], [scratch(LIKE.double(), LARGE)]):
        del held
    kept = sum(map(len, workspace._free))
    assert 0 < kept <= 10 * LARGE
    kernels.free_memory()
    assert not workspace._free


def test_what_fits_nothing_any_more_makes_room_for_what_is_used(monkeypatch):
    monkeypatch.setattr(workspace, "KEPT_BYTES", 20 * LARGE)
    scratch(LIKE, 4, LARGE)  # let go of at once: nearly all that may be kept
    scratch(LIKE, LARGE)
    (kept,) = workspace._free
    assert len(kept) < 5 * LARGE
    assert scratch(LIKE, LARGE).data_ptr() == kept.ctypes.data


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_it_is_aligned_and_of_the_type_asked_for(dtype: torch.dtype):
    for size in (3, LARGE):
        value = scratch(LIKE.to(dtype), 2, size)
        assert value.dtype is dtype
        assert value.shape == (2, size)
        assert value.data_ptr() % 64 == 0


def test_walks_that_wait_for_their_backward_pass_do_not_disturb_each_other():
    x, edges = torch.randn(6000, CHANNELS), random_graph(6000, 6000)
    network = GraphCON(build("gat"), 4, memory="store")

    def gradient(loss: torch.Tensor) -> torch.Tensor:
        return torch.autograd.grad(loss, network.coupling.lin.weight)[0]

    alone = [gradient(network(factor * x, edges).square().sum()) for factor in (1.0, 2.0)]
    together = [network(factor * x, edges).square().sum() for factor in (1.0, 2.0)]
    assert all(torch.equal(gradient(loss), expected) for loss, expected in zip(together, alone, strict=True))


def test_what_a_walk_in_such_memory_gives_may_be_changed_in_place():
    x, edges = torch.randn(2 * LARGE // CHANNELS, CHANNELS), random_graph(9, 20)
    network = GraphCON(build("gcn"), 3, act="tanh", memory="store")
    found = network(x, edges).relu_()
    with kernels.disabled():
        expected = network(x, edges).relu_()
    torch.testing.assert_close(found, expected)
    weight = network.coupling.lin.weight
    slopes = [torch.autograd.grad(out.square().mean(), weight)[0] for out in (found, expected)]
    torch.testing.assert_close(*slopes)
