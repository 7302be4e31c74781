"""Bad input is refused with the argument, its value, the rule and the cure, before any work is done."""

import math

import numpy as np
import pytest
import torch
from torch import Tensor
from torch.nn import LayerNorm, Module, ModuleList
from torch_geometric import EdgeIndex
from torch_geometric.data import Data
from torch_geometric.nn import GATConv, GCNConv, MixHopConv
from torch_geometric.utils import to_torch_csr_tensor

from graphcon import GraphCON
from graphcon._calling import arguments
from graphcon.couplings import Residual
from graphcon.models import GraphCONNet
from graphcon.stability import DegenerateDynamicsWarning

from graphs import ring

WEIGHTED = Data(x=torch.randn(6, 4), edge_index=ring(), edge_weight=torch.rand(12))


def gcn() -> GCNConv:
    return GCNConv(4, 4)


@pytest.mark.parametrize(
    ("arguments", "options", "error", "message"),
    [
        ((gcn(),), {}, ValueError, "steps is missing: one GCNConv is shared by all steps, so say how many"),
        ((gcn(), 0), {}, ValueError, "steps=0, but steps must be at least 1"),
        ((gcn(), 2.5), {}, TypeError, "steps=2.5 is a float, but must be a whole number"),
        ((gcn(), True), {}, TypeError, "steps=True is a bool"),
        (([gcn(), gcn()], 3), {}, ValueError, "steps=3, but coupling lists 2 layers, one per step: leave steps out"),
        (([],), {}, ValueError, "coupling is an empty list"),
        (("gcn", 3), {}, TypeError, "coupling='gcn' is a str, but must be a layer"),
        (([gcn(), "gat"],), {}, TypeError, r"coupling\[1\]='gat' is a str"),
        ((gcn(), 3), {"dt": 0.0}, ValueError, "dt=0.0, but dt must be finite and positive"),
        ((gcn(), 3), {"dt": -1}, ValueError, "dt=-1, but dt must be finite and positive"),
        ((gcn(), 3), {"dt": math.nan}, ValueError, "dt=nan"),
        ((gcn(), 3), {"alpha": -0.1}, ValueError, "alpha=-0.1, but alpha must be finite and not negative"),
        ((gcn(), 3), {"gamma": math.inf}, ValueError, "gamma=inf"),
        ((gcn(), 3), {"gamma": "1"}, TypeError, "gamma='1' is a str, but must be a number"),
        ((gcn(), 3), {"dropout": 1.0}, ValueError, "dropout=1.0, but dropout is the share of entries set to zero"),
        ((gcn(), 3), {"integrator": "euler"}, ValueError, "integrator='euler' is unknown; choose one of 'imex'"),
        ((gcn(), 3), {"integrator": "strangg"}, ValueError, "Did you mean 'strang'?"),
        ((gcn(), 3), {"memory": "stored"}, ValueError, "memory='stored' is unknown.*Did you mean 'store'?"),
        ((gcn(), 3), {"act": "rellu"}, ValueError, "act='rellu' is no activation"),
        ((gcn(), 3), {"act": 3}, ValueError, "act=3 is no activation: give a name such as 'relu'"),
        (
            ([gcn(), GCNConv(5, 5)],),
            {},
            ValueError,
            r"coupling\[1\]=GCNConv\(5, 5\) takes 5 channels and coupling\[0\]",
        ),
        ((gcn(), 3), {"norm": "batch"}, TypeError, "norm='batch' must be a list with one module per step"),
        ((gcn(), 3), {"norm": [4]}, TypeError, r"norm\[0\]=4 is a int, but must be a torch.nn.Module"),
        ((gcn(), 3), {"norm": [LayerNorm(4)]}, ValueError, "norm lists 1 modules, but there are 3 steps"),
        ((GCNConv(4, 8), 3), {}, ValueError, r"GCNConv\(4, 8\) turns 4 channels into 8.*give the layer out_channels=4"),
        ((GATConv(4, 4, heads=2), 3), {}, ValueError, "turns 4 channels into 8.*concat=False, or out_channels=2"),
    ],
)
def test_a_bad_construction_is_refused(arguments, options, error, message: str):
    with pytest.raises(error, match=message):
        GraphCON(*arguments, **options)


X = torch.randn(6, 4)


@pytest.mark.parametrize(
    ("x", "edge_index", "options", "error", "message"),
    [
        (np.zeros((6, 4)), ring(), {}, TypeError, "x is a ndarray, but must be a tensor"),
        (torch.randn(6), ring(), {}, ValueError, r"x has shape \[6\], but must have shape \[nodes, channels\]"),
        (torch.ones(6, 4).long(), ring(), {}, TypeError, "x is torch.int64.*use x.float()"),
        (torch.randn(6, 3), ring(), {}, ValueError, r"x has 3 channels .*takes 4: .*torch.nn.Linear\(3, 4\)"),
        (X, ring().t(), {}, ValueError, r"edge_index has shape \[12, 2\].*use edge_index.t\(\)"),
        (X, ring()[0], {}, ValueError, r"edge_index has shape \[12\], but must have shape \[2, edges\]"),
        (
            X,
            ring().float(),
            {},
            TypeError,
            "edge_index is torch.float32, but must be torch.int64: use edge_index.long()",
        ),
        (X, ring().int(), {}, TypeError, "edge_index is torch.int32"),
        (X, ring().tolist(), {}, TypeError, "edge_index is a list"),
        (
            X,
            torch.tensor([[0, 1], [1, 6]]),
            {},
            ValueError,
            r"edge_index names node 6 \(edge 1\), but x has 6 nodes, 0 to 5",
        ),
        (X, torch.tensor([[0, -1], [1, 2]]), {}, ValueError, r"edge_index names node -1 \(edge 1\)"),
        (X, ring(), {"y": torch.randn(6, 3)}, ValueError, r"y has shape \[6, 3\] and x has \[6, 4\]"),
        (X, ring(), {"y": 0.0}, TypeError, "y is a float"),
        (X, ring(), {"y": X.double()}, TypeError, "y is torch.float64 and x is torch.float32.*use y.to"),
        (X.double(), ring(), {}, TypeError, r"x is torch.float64, but the parameters of coupling GCNConv\(4, 4\)"),
        (
            X,
            ring(),
            {"edge_weight": torch.ones(12).double()},
            TypeError,
            "edge_weight is torch.float64 and x is torch.fl",
        ),
        (
            X,
            ring(),
            {"edge_weight": torch.ones(12).long()},
            TypeError,
            "edge_weight is torch.int64, but weights are real",
        ),
        (
            X,
            ring(),
            {"edge_weight": [1.0] * 12},
            TypeError,
            r"edge_weight is a list, but must be a tensor of shape \[12\]",
        ),
        (X, ring(), {"edge_weight": 0.5}, TypeError, "edge_weight is a float, but must be a tensor"),
        (
            torch.randn(6, 4).cfloat(),
            ring(),
            {},
            TypeError,
            r"x is torch.complex64, but .* torch.cat\(\[x.real, x.imag",
        ),
        (X, ring(), {"edge_weight": torch.ones(5)}, ValueError, r"edge_weight has shape \[5\], but edge_index has 12"),
    ],
)
@pytest.mark.parametrize("method", ["forward", "trajectory"])
def test_a_bad_call_is_refused_before_the_layer_is_reached(x, edge_index, options, error, message: str, method: str):
    conv = gcn()
    conv.register_forward_pre_hook(lambda *_: pytest.fail("the layer was called"))
    layer = GraphCON(conv, 3)
    with pytest.raises(error, match=message):
        getattr(layer, method)(x, edge_index, **options)
    with pytest.raises(error, match=message):
        getattr(layer, method)(x, edge_index=edge_index, **options)


class Returns(Module):
    def __init__(self, value):
        super().__init__()
        self.value = value

    def forward(self, x: Tensor, edge_index: Tensor):
        return self.value


@pytest.mark.parametrize(
    ("value", "error", "message"),
    [
        (torch.zeros(6, 5), ValueError, "turns 4 channels into 5"),
        (torch.zeros(5, 4), ValueError, r"returned shape \[5, 4\] for x of shape \[6, 4\]"),
        ((torch.zeros(6, 4), None), TypeError, "returned a tuple, but must return one tensor"),
    ],
)
def test_a_layer_that_does_not_say_what_it_does_is_refused_when_it_has_done_it(value, error, message: str):
    with pytest.raises(error, match=message):
        GraphCON(Returns(value), 3)(X, ring())


def test_layers_that_multiply_their_width_are_taken_by_what_comes_out():
    assert GraphCON(GATConv(4, 2, heads=2), 2)(X, ring()).shape == X.shape
    assert GraphCON(MixHopConv(6, 2, powers=[0, 1, 2]), 2)(torch.randn(6, 6), ring()).shape == (6, 6)


def test_other_forms_of_a_graph_are_taken():
    layer = GraphCON(gcn(), 3)
    expected = layer(X, ring())
    torch.testing.assert_close(layer(X, EdgeIndex(ring(), sparse_size=(6, 6))), expected)
    torch.testing.assert_close(layer(X, to_torch_csr_tensor(ring(), size=(6, 6))), expected)
    with pytest.raises(ValueError, match=r"sparse matrix of shape \[7, 7\], but x has 6 nodes"):
        layer(X, to_torch_csr_tensor(ring(), size=(7, 7)))


def test_a_module_list_is_a_list():
    assert not GraphCON(ModuleList([gcn(), gcn()])).shared


def test_whole_numbers_and_numbers_of_numpy_are_taken():
    layer = GraphCON(gcn(), np.int64(3), dt=np.float32(0.5), alpha=np.int64(1))
    assert (layer.steps, layer.dt, layer.alpha) == (3, 0.5, 1.0)


def test_autocast_takes_what_it_casts():
    with torch.autocast("cpu", torch.bfloat16):
        assert GraphCON(gcn(), 2)(X.bfloat16(), ring()).shape == X.shape


def test_a_warning_points_to_the_line_of_whom_it_is_for():
    for build in (lambda: GraphCON(gcn(), 3, dt=1.0, alpha=1.0), lambda: GraphCONNet(4, 4, 3, dt=1.0, alpha=1.0)):
        with pytest.warns(DegenerateDynamicsWarning) as told:
            build()
        assert told[0].filename == __file__


@pytest.mark.parametrize("layer", [Residual(gcn(), 4), Residual(Residual(gcn(), 4), 4)])
def test_what_a_residual_coupling_takes_is_what_its_layer_takes(layer: Module):
    oscillator = GraphCON(layer, 2)
    assert set(arguments(oscillator, WEIGHTED)) == {"x", "edge_index", "edge_weight"}
    with pytest.raises(ValueError, match=r"edge_weight has shape \[5\], but edge_index has 12"):
        oscillator(WEIGHTED.x, WEIGHTED.edge_index, torch.ones(5))
