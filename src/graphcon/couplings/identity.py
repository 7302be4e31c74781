from torch import Tensor
from torch.nn import Module


class IdentityMap(Module):
    r"""Stands where a layer has its linear map W, and maps every node to itself.

    With it a layer is the coupling of the paper's analysis, :math:`F(X)_i = \sum_j A_{ij} X_j`, eq. (8): what mixes the
    nodes is there, what mixes the channels is not.

    Args:
        channels (int): The number of channels.
    """

    def __init__(self, channels: int):
        super().__init__()
        self.channels = channels

    def reset_parameters(self) -> None:
        """Nothing is learned."""

    def forward(self, x: Tensor) -> Tensor:
        """Returns x."""
        return x

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.channels})"
