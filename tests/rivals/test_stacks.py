"""Rivals that are stacks with something beside: each against PyG's own model or layer, or by hand."""

from copy import deepcopy

import pytest
import torch
import torch.nn.functional as F
from torch_geometric.nn import GCN2Conv, GCNConv, JumpingKnowledge, LayerNorm, PairNorm, SAGEConv
from torch_geometric.nn.models import DeepGCNLayer, GroupAddRev

from graphcon.models import MODELS
from graphcon.models.core import Edges
from graphcon.models.rivals import dropedge, g2, gcnii, geniepath, jknet, pairnorm, resgcn, rev, sage
from graphcon.models.stack import Stack

from graphs import random_graph, ring, star

X, EDGES = torch.randn(9, 4, generator=torch.Generator().manual_seed(0)), random_graph(9, 8, undirected=True)


@pytest.mark.parametrize("variant", [False, True])
def test_gcnii_is_a_stack_of_pygs_gcn2conv(variant: bool):
    core = gcnii.GCNII(4, 3, alpha=0.3, theta=1.5, variant=variant)
    x = X
    for n, mine in enumerate(core.layers, start=1):
        layer = GCN2Conv(4, 0.3, 1.5, n, shared_weights=not variant)
        layer.load_state_dict(mine.state_dict())
        x = layer(x, X, EDGES).relu()
    torch.testing.assert_close(core(X, EDGES), x)


@pytest.mark.parametrize("mode", ["cat", "max", "lstm"])
def test_jknet_gives_pygs_jumping_knowledge_all_layers_but_not_the_input(mode: str):
    core = jknet.JKNet(4, 3, mode=mode)
    states = core.trajectory(X, EDGES)
    jump = JumpingKnowledge(mode, 4, 3)
    jump.load_state_dict(core.jump.state_dict())
    torch.testing.assert_close(core(X, EDGES), jump(list(states[1:])))


@pytest.mark.parametrize("individually", [False, True])
def test_pairnorm_normalises_what_every_layer_makes(individually: bool):
    core = pairnorm.PairNorm(4, 2, scale=3.0, scale_individually=individually)
    norm, x = PairNorm(3.0, individually), X
    for layer in core.layers:
        x = norm(layer(x, EDGES)).relu()
    torch.testing.assert_close(core(X, EDGES), x)


def test_pairnorm_keeps_the_total_distance_of_a_graph():
    core = pairnorm.PairNorm(4, 50, act=None, scale=2.0)
    states = core.trajectory(X, EDGES)
    sizes = (states - states.mean(1, keepdim=True)).square().sum(-1).mean(-1)
    torch.testing.assert_close(sizes[1:], torch.full((50,), 4.0), rtol=1e-3, atol=1e-3)


def test_dropedge_drops_both_directions_of_an_edge_while_training_only():
    core = dropedge.DropEdge(4, 2, p=0.5)
    edges = core.prepare(X, EDGES, edge_weight=torch.arange(EDGES.size(1)))
    pairs = {(int(i), int(j)) for i, j in edges.index.t()}
    assert 0 < len(pairs) < EDGES.size(1)
    assert pairs == {(j, i) for i, j in pairs}
    assert torch.equal(EDGES[:, edges.given["edge_weight"]], edges.index)  # what belongs to an edge stays with it
    core.eval()
    torch.testing.assert_close(core(X, EDGES), Stack(list(core.layers), 4, 2)(X, EDGES))


@pytest.mark.parametrize("layerwise", [False, True])
def test_dropedge_draws_anew_at_every_pass_and_if_told_for_every_layer(layerwise: bool):
    core = dropedge.DropEdge(4, 2, act=None, p=0.5, layerwise=layerwise)
    linear = core.layers[0]
    core.layers[1] = linear
    states = core.trajectory(X, EDGES)
    thinned = [core.prepare(X, EDGES).index for _ in range(2)]
    assert (thinned[0].shape == thinned[1].shape and torch.equal(*thinned)) == layerwise
    assert not torch.equal(states, core.trajectory(X, EDGES))


@pytest.mark.parametrize("layerwise", [False, True])
def test_dropedge_leaves_alone_what_belongs_to_nodes(layerwise: bool):
    core = dropedge.DropEdge(4, 2, p=0.5, layerwise=layerwise, coupling="cheb")
    batch = torch.zeros(9, dtype=torch.long)
    assert core.thin(Edges(EDGES, {"batch": batch})).given["batch"] is batch
    assert core(X, EDGES, batch=batch).shape == X.shape


def test_dropedge_drops_the_share_it_is_told():
    edges = random_graph(2000, 8000, undirected=True)
    kept = dropedge.DropEdge(4, 2, p=0.3).prepare(torch.randn(2000, 4), edges).index.size(1)
    assert kept / edges.size(1) == pytest.approx(0.7, abs=0.02)


def test_resgcn_is_a_stack_of_pygs_deep_gcn_layers():
    core = resgcn.ResGCN(4, 3)
    x = X
    for block in core.blocks:
        conv, norm = GCNConv(4, 4), LayerNorm(4, mode="node")
        conv.load_state_dict(block.conv.state_dict())
        norm.load_state_dict(block.norm.state_dict())
        x = DeepGCNLayer(conv, norm, torch.nn.ReLU(), "res+")(x, EDGES)
    torch.testing.assert_close(core(X, EDGES), core.norm(x).relu())


def test_rev_is_a_stack_of_pygs_reversible_blocks_and_undoes_them_right():
    torch.manual_seed(0)
    core = rev.Rev(4, 6, dropout=0.3)
    results = []
    for disable in (False, True):
        one = deepcopy(core)
        if disable:  # the blocks as they are, with autograd keeping every state
            one.step = lambda n, graph, x, one=one: (GroupAddRev._forward(one.blocks[n], x, graph),)
        x = X.clone().requires_grad_()
        torch.manual_seed(1)
        out = one(x, EDGES)
        out.square().sum().backward()
        results.append([out, x.grad, *(p.grad for p in one.parameters())])
    for undone, kept in zip(*results, strict=True):
        torch.testing.assert_close(undone, kept, rtol=1e-3, atol=1e-4)


def test_rev_undoes_its_steps_under_autocast_too():
    torch.manual_seed(0)
    net, x, edge_index = MODELS["rev"].build(5, 32, 6, 3), torch.randn(20, 5), random_graph(20, 30)
    gradients = []
    for keeps in (False, True):
        net.zero_grad()
        net.core.keeps_states = keeps
        with torch.autocast("cpu", dtype=torch.bfloat16):
            net(x, edge_index).float().square().sum().backward()
        gradients.append([parameter.grad.clone() for parameter in net.parameters()])
    for undone, kept in zip(*gradients, strict=True):
        torch.testing.assert_close(undone, kept, rtol=1e-3, atol=1e-4)


def test_rev_refuses_groups_that_do_not_divide_the_channels():
    with pytest.raises(ValueError, match="num_groups=3: must be 2 or more and divide the 8 channels"):
        rev.Rev(8, 2, num_groups=3)


def test_a_node_whose_neighbours_agree_with_it_stays_where_it_is_in_g2():
    core = g2.G2(4, 5)
    x = torch.randn(4).expand(6, 4)
    torch.testing.assert_close(core(x, ring(6)), x)


def test_a_step_of_g2_by_hand():
    core = g2.G2(4, 1, p=3.0)
    force, signal = core.layer(X, EDGES).relu(), core.gate(X, EDGES).relu()
    for i in range(9):
        neighbours = EDGES[0, EDGES[1] == i]
        tau = torch.tanh((signal[neighbours] - signal[i]).abs().pow(3.0).sum(0))
        torch.testing.assert_close(core(X, EDGES)[i], (1 - tau) * X[i] + tau * force[i])


def test_a_step_of_geniepath_by_hand():
    core = geniepath.GeniePath(4, 1)
    conv = core.breadth[0]
    hub = torch.cat([conv.v @ torch.tanh(conv.lin_target(X[0]) + conv.lin_source(X[j])) for j in range(4)])
    value = torch.tanh((hub.softmax(0).unsqueeze(-1) * conv.lin(X[:4])).sum(0))
    torch.testing.assert_close(conv(X[:4], star(3))[0], value)
    take, _, show, new = core.depth[0](value).chunk(4)
    torch.testing.assert_close(core(X[:4], star(3))[0], show.sigmoid() * (take.sigmoid() * new.tanh()).tanh())


@pytest.mark.parametrize("aggr", ["mean", "max"])
def test_sage_is_pygs_layer_and_max_maps_the_neighbours_first(aggr: str):
    core = sage.SAGE(4, 1, act=None, aggr=aggr)
    layer = SAGEConv(4, 4, aggr=aggr, project=aggr == "max")
    layer.load_state_dict(core.layers[0].state_dict())
    torch.testing.assert_close(core(X, EDGES), layer(X, EDGES))


def test_a_stack_normalises_and_adds_where_it_is_told():
    core = Stack([GCNConv(4, 4) for _ in range(2)], 4, 2, norm="layer", residual=True)
    x = X
    for layer, norm in zip(core.layers, core.norms, strict=True):
        x = x + F.layer_norm(layer(x, EDGES), (4,), norm.weight, norm.bias).relu()
    torch.testing.assert_close(core(X, EDGES), x)
    with pytest.raises(ValueError, match="norm='graph' is unknown"):
        Stack([GCNConv(4, 4)], 4, 1, norm="graph")


@pytest.mark.parametrize("name", [name for name, card in MODELS.items() if "memory" in card.fields])
def test_recomputing_the_states_gives_every_model_the_gradients_of_keeping_them_to_the_last_bit(name: str):
    results = []
    for memory in ("store", "checkpoint"):
        torch.manual_seed(0)
        net = MODELS[name].build(4, 8, 5, 2, 0.3, memory=memory)
        net(X, EDGES).square().sum().backward()
        results.append([parameter.grad for parameter in net.parameters()])
    assert all(torch.equal(kept, recomputed) for kept, recomputed in zip(*results, strict=True))
