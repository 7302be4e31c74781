from typing import Any

from torch import Tensor
from torch.nn import Linear, Module
from torch_geometric.nn import inits


class Residual(Module):
    r"""A coupling with an additional linear term inside the activation: :math:`F(X) + X R`.

    Not in the paper's equation, but in the code behind some of its figures; what uses it says so.

    Args:
        coupling (torch.nn.Module): The layer F.
        channels (int): The number of channels it maps to itself.
    """

    def __init__(self, coupling: Module, channels: int):
        super().__init__()
        self.coupling = coupling
        self.lin = Linear(channels, channels, bias=False)
        self.in_channels = self.out_channels = channels

    def reset_parameters(self) -> None:
        inits.reset(self.coupling)
        self.lin.reset_parameters()

    def forward(self, x: Tensor, edge_index: Any, *args: Any, **kwargs: Any) -> Tensor:
        """Runs the layer with whatever it takes and adds the linear term."""
        return self.coupling(x, edge_index, *args, **kwargs) + self.lin(x)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.coupling})"
