import pytest
import torch
from torch import Tensor
from torch.nn import Linear, Module
from torch_geometric.nn import GCNConv, GINEConv

from graphcon import check_coupling


class Own(Module):
    """A user's layer, good unless told otherwise."""

    def __init__(self, channels: int = 4, fault: str = ""):
        super().__init__()
        self.in_channels, self.fault = channels, fault
        self.lin, self.unused = Linear(channels, channels), Linear(channels, channels) if fault == "gradients" else None

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        out = torch.zeros_like(x).index_add(0, edge_index[1], self.lin(x)[edge_index[0]])
        match self.fault:
            case "shape":
                return torch.cat([out, out], dim=-1)
            case "permutation":
                return out * torch.arange(len(x)).unsqueeze(-1)
            case "batch":
                return out / out.abs().mean()
            case "memory":
                return out * torch.rand(()).item() if not torch.is_grad_enabled() else out * self._noise()
        return out

    def _noise(self) -> float:
        self.calls = getattr(self, "calls", 0) + 1  # hidden state that no strategy can restore
        return 1.0 + self.calls


def test_a_good_layer_passes_and_the_table_says_so():
    report = check_coupling(Own())
    assert report.passed, str(report)
    assert [check.name for check in report.checks] == ["shape", "gradients", "permutation", "batch", "memory"]
    assert str(report).splitlines()[-5].split() == ["ok", "shape", "[8,", "4]", "->", "[8,", "4]"]


@pytest.mark.parametrize("fault", ["shape", "gradients", "permutation", "batch", "memory"])
def test_each_fault_is_found_by_its_own_check(fault: str):
    report = check_coupling(Own(fault=fault))
    assert not report.passed
    assert not report[fault].passed
    assert "FAIL" in str(report)


def test_an_unused_parameter_is_named():
    assert "none for unused.weight, unused.bias" in check_coupling(Own(fault="gradients"))["gradients"].detail


def test_the_layer_is_left_as_it_was():
    layer = GCNConv(4, 4).eval()
    check_coupling(layer)
    assert not layer.training
    assert layer.lin.weight.grad is None


def test_an_example_brings_what_the_layer_needs():
    x, edge_index = torch.randn(5, 4), torch.randint(5, (2, 12))
    report = check_coupling(GINEConv(Linear(4, 4)), x, edge_index, edge_attr=torch.randn(12, 4))
    assert report.passed, str(report)


def test_a_layer_that_does_not_tell_its_width_needs_an_example():
    with pytest.raises(ValueError, match="does not tell its width"):
        check_coupling(GINEConv(Linear(4, 4)))


@pytest.mark.parametrize("layer", ["gcn", [GCNConv(4, 4)]])
def test_what_is_no_layer_is_refused(layer):
    with pytest.raises(TypeError, match="must be a single layer"):
        check_coupling(layer)


def test_a_layer_of_doubles_is_given_doubles():
    assert check_coupling(GCNConv(4, 4).double()).passed
