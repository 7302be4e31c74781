"""What every model by name must do, ours and the rivals; an exception is on its card, with the reason."""

import pytest
import torch
from torch import Tensor
from torch.nn import Module
from torch_geometric.data import Batch, Data

from graphcon import kernels
from graphcon.diagnostics import gradient_norms
from graphcon.models import MODELS, GraphNet, ModelCard

from graphs import random_graph

FEATURES, HIDDEN, LAYERS, OUT = 5, 8, 3, 2


def _net(card: ModelCard, task: str = "node") -> GraphNet:
    torch.manual_seed(0)
    return card.build(FEATURES, HIDDEN, LAYERS, OUT, task=task)


def _data(seed: int = 0, nodes: int = 10) -> Data:
    generator = torch.Generator().manual_seed(seed)
    edge_index = random_graph(nodes, 12, seed, undirected=True)
    return Data(x=torch.randn(nodes, FEATURES, generator=generator), edge_index=edge_index)


def _cards(check: str):
    """Every model that is held to a check."""
    cards = [card for card in MODELS.values() if check not in card.exceptions]
    return pytest.mark.parametrize("card", cards, ids=lambda card: card.name)


def _call(net: GraphNet, data: Data) -> Tensor:
    return net(data.x, data.edge_index, batch=data.get("batch"))


def test_every_exception_names_a_check_and_gives_a_reason():
    checks = {"permutation", "batch", "gradients", "reset", "repr", "isolated", "no edges", "trajectory"}
    for card in MODELS.values():
        assert set(card.exceptions) <= checks, card.name
        assert all(len(reason) > 20 for reason in card.exceptions.values()), card.name


@_cards("permutation")
def test_renumbering_the_nodes_renumbers_the_answers_and_does_nothing_else(card: ModelCard):
    net, data = _net(card).eval(), _data()
    order = torch.randperm(10, generator=torch.Generator().manual_seed(1))
    renumbered = Data(x=data.x[order], edge_index=order.argsort()[data.edge_index])
    torch.testing.assert_close(_call(net, renumbered), _call(net, data)[order], rtol=1e-4, atol=1e-5)


@_cards("batch")
def test_a_batch_of_graphs_gives_what_the_graphs_give_one_by_one(card: ModelCard):
    graphs = [_data(1), _data(2, nodes=7)]
    batch = Batch.from_data_list(graphs)
    for task in card.tasks:
        net = _net(card, task).eval()
        together = _call(net, batch)
        torch.testing.assert_close(together, torch.cat([_call(net, g) for g in graphs]), rtol=1e-4, atol=1e-5)


@_cards("gradients")
def test_gradients_reach_all_parameters(card: ModelCard):
    net = _net(card)
    _call(net, _data()).square().sum().backward()
    grads = {name: parameter.grad for name, parameter in net.named_parameters()}
    assert not [name for name, grad in grads.items() if grad is None or not bool(grad.isfinite().all())]


@_cards("reset")
def test_resetting_draws_the_weights_anew_and_by_the_seed(card: ModelCard):
    net = _net(card)

    def reset() -> dict[str, Tensor]:
        torch.manual_seed(3)
        net.reset_parameters()
        return {name: value.clone() for name, value in net.state_dict().items()}

    before = {name: value.clone() for name, value in net.state_dict().items()}
    first, second = reset(), reset()
    assert all(torch.equal(first[name], second[name]) for name in first)
    assert any(not torch.equal(before[name], first[name]) for name in first if "core" in name)


@_cards("repr")
def test_repr_tells_the_widths_and_the_depth(card: ModelCard):
    text = str(_net(card))
    assert f"({FEATURES}, {OUT}, task=node, " in text
    assert f"={LAYERS}" in text


@_cards("isolated")
def test_a_node_without_neighbours_has_an_answer(card: ModelCard):
    net, data = _net(card).eval(), _data()
    data.x = torch.cat([data.x, torch.ones(1, FEATURES)])  # pyright: ignore[reportArgumentType]  # made with features
    assert bool(_call(net, data).isfinite().all())


@_cards("no edges")
def test_a_graph_without_edges_has_answers(card: ModelCard):
    net = _net(card).eval()
    out = net(torch.randn(4, FEATURES), torch.empty(2, 0, dtype=torch.long))
    assert out.shape == (4, OUT)
    assert bool(out.isfinite().all())


@_cards("trajectory")
def test_the_trajectory_goes_from_the_first_state_to_the_last(card: ModelCard):
    net, data = _net(card).eval(), _data()
    start = net.start(data.x)
    states = net.core.trajectory(start, data.edge_index)  # pyright: ignore[reportCallIssue]  # every core has it
    assert states.shape == (LAYERS + 1, 10, HIDDEN)
    assert not states.requires_grad
    torch.testing.assert_close(states[0], start)
    torch.testing.assert_close(states[-1], net.embed(data.x, data.edge_index))


@_cards("gradients")
def test_gradients_along_the_depth_are_those_of_what_the_model_answers(card: ModelCard):
    net, data = _net(card).eval(), _data()
    seen: dict[str, Tensor] = {}

    def keep(core: Module, args: tuple[Tensor, ...]) -> None:
        seen["first"] = args[0]

    def loss(out: Tensor) -> Tensor:
        seen["out"] = out
        return out.square().sum()

    hook = net.core.register_forward_pre_hook(keep)
    norms = gradient_norms(net, data, loss)
    with kernels.disabled():
        out = _call(net, data)
    torch.testing.assert_close(seen["out"], out, rtol=1e-4, atol=1e-5)
    (gradient,) = torch.autograd.grad(loss(out), seen["first"])
    hook.remove()
    torch.testing.assert_close(norms.states[0].float(), gradient.norm(), rtol=1e-3, atol=1e-6)
