"""Every convolution of PyTorch Geometric works as a coupling, or is listed with the reason why it cannot."""

import pytest
import torch
import torch_geometric.typing
from torch import Tensor
from torch.nn import Linear, Module, Sequential, Tanh
from torch_geometric import nn as pyg
from torch_geometric.nn import conv

from graphcon import GraphCON, check_coupling

NODES, CHANNELS, HYPEREDGES, EDGE_DIM = 9, 16, 4, 3


def random(*size: int, seed: int = 0) -> Tensor:
    return torch.rand(*size, generator=torch.Generator().manual_seed(seed))


RING = torch.arange(NODES)
# A directed graph: everyone to the next and the one before, and six chords. Without self-loops, nobody alone.
EDGE_INDEX = torch.stack([RING.repeat(3), torch.cat([RING.roll(-1), RING.roll(1), RING.roll(-3)])])[:, :24]
EDGES = EDGE_INDEX.size(1)
FURTHER_EDGES = torch.stack([RING, RING.roll(-4)])[:, :7]
X, X_0 = random(NODES, CHANNELS, seed=1) - 0.5, random(NODES, CHANNELS, seed=2) - 0.5
POS, NORMAL = random(NODES, 3, seed=3), random(NODES, 3, seed=4) - 0.5
NODE_TYPE, EDGE_TYPE, BATCH = RING % 2, torch.arange(EDGES) % 3, torch.zeros(NODES, dtype=torch.long)
EDGE_WEIGHT = random(EDGES, seed=5) + 0.5
EDGE_ATTR = random(EDGES, EDGE_DIM, seed=6)  # in [0, 1): pseudo-coordinates as well
HYPEREDGE_INDEX = torch.stack([torch.cat([RING, RING[:4]]), torch.arange(NODES + 4) % HYPEREDGES])
HYPEREDGE_WEIGHT, HYPEREDGE_ATTR = random(HYPEREDGES, seed=7) + 0.5, random(HYPEREDGES, CHANNELS, seed=8) - 0.5
# The four neighbours of each edge of a mesh, which is what MeshCNNConv calls a node.
MESH = torch.stack([RING.repeat_interleave(4), (RING[:, None] + torch.tensor([1, 2, -1, -2])).flatten() % NODES])
IN_DEGREES = torch.bincount(torch.bincount(EDGE_INDEX[1], minlength=NODES))

Case = tuple[Module, tuple, dict]


def case(layer: Module, *args: Tensor, **kwargs: Tensor) -> Case:
    """A layer, and what it takes after x."""
    return layer, args, kwargs


def plain(layer: Module) -> Case:
    return case(layer, EDGE_INDEX)


def weighted(layer: Module) -> Case:
    return case(layer, EDGE_INDEX, EDGE_WEIGHT)


def attributed(layer: Module) -> Case:
    return case(layer, EDGE_INDEX, edge_attr=EDGE_ATTR)


def typed(layer: Module) -> Case:
    return case(layer, EDGE_INDEX, EDGE_TYPE)


def mlp(in_channels: int = CHANNELS, out_channels: int = CHANNELS) -> Module:
    return Sequential(Linear(in_channels, CHANNELS), Tanh(), Linear(CHANNELS, out_channels))


class First(Module):
    """The first of the two things that PANConv returns."""

    def __init__(self, layer: Module):
        super().__init__()
        self.layer = layer

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        return self.layer(x, edge_index)[0]


WRAPPED = {
    "AGNNConv": lambda: plain(pyg.AGNNConv()),
    "APPNP": lambda: weighted(pyg.APPNP(K=3, alpha=0.1)),
    "ARMAConv": lambda: weighted(pyg.ARMAConv(16, 16, num_stacks=2, num_layers=2)),
    "AntiSymmetricConv": lambda: case(pyg.AntiSymmetricConv(16), EDGE_INDEX, edge_weight=EDGE_WEIGHT),
    "CGConv": lambda: attributed(pyg.CGConv(16, dim=EDGE_DIM)),
    "ChebConv": lambda: case(pyg.ChebConv(16, 16, K=3), EDGE_INDEX, EDGE_WEIGHT, BATCH),
    "ClusterGCNConv": lambda: plain(pyg.ClusterGCNConv(16, 16, diag_lambda=0.1)),
    "DirGNNConv": lambda: plain(pyg.DirGNNConv(pyg.GCNConv(16, 16))),
    "DynamicEdgeConv": lambda: case(pyg.DynamicEdgeConv(mlp(2 * 16), k=3), BATCH),
    "EGConv": lambda: plain(pyg.EGConv(16, 16, aggregators=["sum", "max"])),
    "EdgeConv": lambda: plain(pyg.EdgeConv(mlp(2 * 16))),
    "FAConv": lambda: case(pyg.FAConv(16), X_0, EDGE_INDEX),
    "FastRGCNConv": lambda: typed(pyg.FastRGCNConv(16, 16, num_relations=3)),
    "FeaStConv": lambda: plain(pyg.FeaStConv(16, 16, heads=2)),
    "FiLMConv": lambda: typed(pyg.FiLMConv(16, 16, num_relations=3)),
    "GATConv": lambda: attributed(pyg.GATConv(16, 8, heads=2, edge_dim=EDGE_DIM)),
    "GATv2Conv": lambda: attributed(pyg.GATv2Conv(16, 8, heads=2, edge_dim=EDGE_DIM)),
    "GCN2Conv": lambda: case(pyg.GCN2Conv(16, alpha=0.1), X_0, EDGE_INDEX, EDGE_WEIGHT),
    "GCNConv": lambda: weighted(pyg.GCNConv(16, 16)),
    "GENConv": lambda: attributed(pyg.GENConv(16, 16, learn_t=True, edge_dim=EDGE_DIM)),
    "GINConv": lambda: plain(pyg.GINConv(mlp(), train_eps=True)),
    "GINEConv": lambda: attributed(pyg.GINEConv(mlp(), train_eps=True, edge_dim=EDGE_DIM)),
    "GMMConv": lambda: attributed(pyg.GMMConv(16, 16, dim=EDGE_DIM, kernel_size=2)),
    "GPSConv": lambda: case(pyg.GPSConv(16, pyg.GCNConv(16, 16), heads=2), EDGE_INDEX, BATCH, edge_weight=EDGE_WEIGHT),
    "GatedGraphConv": lambda: weighted(pyg.GatedGraphConv(16, num_layers=2)),
    "GeneralConv": lambda: attributed(pyg.GeneralConv(16, 16, EDGE_DIM, heads=2, attention=True)),
    "GraphConv": lambda: weighted(pyg.GraphConv(16, 16)),
    "GravNetConv": lambda: case(pyg.GravNetConv(16, 16, space_dimensions=3, propagate_dimensions=8, k=3), BATCH),
    "HEATConv": lambda: case(
        pyg.HEATConv(16, 8, 2, 3, edge_type_emb_dim=4, edge_dim=EDGE_DIM, edge_attr_emb_dim=4, heads=2),
        EDGE_INDEX,
        NODE_TYPE,
        EDGE_TYPE,
        EDGE_ATTR,
    ),
    "HypergraphConv": lambda: case(
        pyg.HypergraphConv(16, 8, use_attention=True, heads=2), HYPEREDGE_INDEX, HYPEREDGE_WEIGHT, HYPEREDGE_ATTR
    ),
    "LEConv": lambda: weighted(pyg.LEConv(16, 16)),
    "LGConv": lambda: weighted(pyg.LGConv()),
    "MFConv": lambda: plain(pyg.MFConv(16, 16, max_degree=3)),
    "MeshCNNConv": lambda: case(pyg.MeshCNNConv(16, 16), MESH),
    "MixHopConv": lambda: weighted(pyg.MixHopConv(16, 8, powers=[0, 2])),
    "NNConv": lambda: attributed(pyg.NNConv(16, 16, mlp(EDGE_DIM, 16 * 16))),
    "PANConv": lambda: plain(First(pyg.PANConv(16, 16, filter_size=2))),
    "PDNConv": lambda: attributed(pyg.PDNConv(16, 16, edge_dim=EDGE_DIM, hidden_channels=8)),
    "PNAConv": lambda: attributed(
        pyg.PNAConv(16, 16, ["mean", "max"], ["identity", "amplification"], IN_DEGREES, edge_dim=EDGE_DIM, towers=2)
    ),
    "PPFConv": lambda: case(pyg.PPFConv(mlp(16 + 4), mlp()), POS, NORMAL, EDGE_INDEX),
    "PointGNNConv": lambda: case(pyg.PointGNNConv(mlp(16, 3), mlp(3 + 16), mlp()), POS, EDGE_INDEX),
    "PointNetConv": lambda: case(pyg.PointNetConv(mlp(16 + 3), mlp()), POS, EDGE_INDEX),
    "PointTransformerConv": lambda: case(pyg.PointTransformerConv(16, 16), POS, EDGE_INDEX),
    "RGATConv": lambda: case(
        pyg.RGATConv(16, 8, num_relations=3, heads=2, edge_dim=EDGE_DIM), EDGE_INDEX, EDGE_TYPE, EDGE_ATTR
    ),
    "RGCNConv": lambda: typed(pyg.RGCNConv(16, 16, num_relations=3, num_bases=2)),
    "ResGatedGraphConv": lambda: attributed(pyg.ResGatedGraphConv(16, 16, edge_dim=EDGE_DIM)),
    "SAGEConv": lambda: plain(pyg.SAGEConv(16, 16, project=True)),
    "SGConv": lambda: weighted(pyg.SGConv(16, 16, K=2)),
    "SSGConv": lambda: weighted(pyg.SSGConv(16, 16, alpha=0.1, K=2)),
    "SignedConv": lambda: case(pyg.SignedConv(16, 8, first_aggr=True), EDGE_INDEX, FURTHER_EDGES),
    "SimpleConv": lambda: weighted(pyg.SimpleConv(combine_root="sum")),
    "SplineConv": lambda: attributed(pyg.SplineConv(16, 16, dim=EDGE_DIM, kernel_size=2)),
    "SuperGATConv": lambda: case(pyg.SuperGATConv(16, 8, heads=2), EDGE_INDEX, FURTHER_EDGES),
    "TAGConv": lambda: weighted(pyg.TAGConv(16, 16, K=2)),
    "TransformerConv": lambda: attributed(pyg.TransformerConv(16, 8, heads=2, beta=True, edge_dim=EDGE_DIM)),
    "WLConvContinuous": lambda: weighted(pyg.WLConvContinuous()),
    "XConv": lambda: case(pyg.XConv(16, 16, dim=3, kernel_size=3), POS, BATCH),
}

LEFT_OUT = {
    "CuGraphGATConv": "needs pylibcugraphops and runs on CUDA only",
    "CuGraphRGCNConv": "needs pylibcugraphops and runs on CUDA only",
    "CuGraphSAGEConv": "needs pylibcugraphops and runs on CUDA only",
    "DNAConv": "takes the outputs of all layers so far, [nodes, layers, channels], and not one state",
    "FusedGATConv": "needs dgNN and runs on CUDA only; computes what GATConv does",
    "HANConv": "maps a dict of node types to a dict, and a state is one tensor",
    "HGTConv": "maps a dict of node types to a dict, and a state is one tensor",
    "HeteroConv": "maps a dict of node types to a dict, and a state is one tensor",
    "MessagePassing": "the base class of the others, without a forward of its own",
    "WLConv": "maps whole-number colours to colours, without gradients",
}

# What must have been compiled for a layer to run at all: the flag of torch_geometric.typing, and who brings it.
NEEDED = {
    "DynamicEdgeConv": ("WITH_KNN", "pyg-lib"),
    "GravNetConv": ("WITH_KNN", "pyg-lib"),
    "PANConv": ("WITH_TORCH_SPARSE", "torch-sparse"),
    "SplineConv": ("WITH_SPLINE", "pyg-lib"),
    "XConv": ("WITH_KNN", "pyg-lib"),
}

# Checks that cannot hold, by the nature of the layer.
EXCUSED = {
    "RGATConv": {"gradients": "has weights for all its variants (w, l1, b1, l2, b2) and uses those of one"},
}


every_layer = pytest.mark.parametrize("name", sorted(WRAPPED))


def build(name: str) -> Case:
    flag, package = NEEDED.get(name, (None, None))
    if flag is not None and not getattr(torch_geometric.typing, flag):
        pytest.skip(f"{name} needs {package}, which is not installed")
    torch.manual_seed(0)
    return WRAPPED[name]()


def test_every_layer_is_either_wrapped_or_left_out_for_a_reason():
    names = set(conv.classes)
    listed = WRAPPED.keys() | LEFT_OUT.keys()
    new, gone = sorted(names - listed), sorted(listed - names)
    assert not new, f"PyG has layers that are not listed here: {new}; add each to WRAPPED, or to LEFT_OUT with a reason"
    assert not gone, f"layers are listed here that PyG does not have: {gone}; remove them"
    assert not WRAPPED.keys() & LEFT_OUT.keys()
    assert NEEDED.keys() | EXCUSED.keys() <= WRAPPED.keys()


@every_layer
def test_what_is_wrapped_is_the_layer_it_is_listed_as(name: str):
    layer = build(name)[0]
    assert type(layer.layer if isinstance(layer, First) else layer) is getattr(conv, name)


@every_layer
def test_the_layer_couples_oscillators_and_learns(name: str):
    layer, args, kwargs = build(name)
    x = X.clone().requires_grad_()
    out = GraphCON(layer, steps=3)(x, *args, **kwargs)
    assert out.shape == x.shape
    assert out.isfinite().all()
    out.square().sum().backward()
    assert x.grad is not None
    grads = {"x": x.grad} | {key: p.grad for key, p in layer.named_parameters() if p.grad is not None}
    assert [key for key, grad in grads.items() if not grad.isfinite().all()] == []


@every_layer
def test_each_step_can_have_a_layer_of_its_own(name: str):
    layer, args, kwargs = build(name)
    other = WRAPPED[name]()[0]
    out = GraphCON([layer, other])(X, *args, **kwargs)
    expected, velocity = GraphCON(layer, steps=1)(X, *args, return_velocity=True, **kwargs)
    expected = GraphCON(other, steps=1)(expected, *args, y=velocity, **kwargs)
    assert torch.equal(out, expected)


@every_layer
def test_the_layer_passes_every_check_it_is_not_excused_from(name: str):
    layer, args, kwargs = build(name)
    report = check_coupling(layer, X, *args, **kwargs)
    failed = {check.name for check in report.checks if not check.passed}
    assert failed == EXCUSED.get(name, {}).keys(), str(report)
