from typing import Literal

from graphcon import couplings
from graphcon.models.card import rival
from graphcon.models.core import Activation
from graphcon.models.stack import Stack


class SAGE(Stack):
    r"""GraphSAGE (`Hamilton et al., 2017 <https://arxiv.org/abs/1706.02216>`_): the node itself, and its neighbours.

    .. math::
        X_n = \sigma(X_{n-1} W + \mathrm{mean}_{j \in \mathcal{N}_i} X_j W') \quad\text{or}\quad
        \sigma(X_{n-1} W + \max_{j \in \mathcal{N}_i} \mathrm{relu}(X_j P + b)\, W')

    Neighbours are all there are; for a sample of them see the batches of the trainer.

    Args:
        channels (int): Size of the state.
        num_layers (int): The number of layers.
        dropout (float, optional): Dropout after every layer. (default: :obj:`0.0`)
        act (str or Callable, optional): The activation. (default: :obj:`"relu"`)
        aggr (str): :obj:`"mean"`, or :obj:`"max"` over neighbours that a layer of their own has mapped.
        normalize (bool, optional): Scales the output of a layer to length 1 per node. (default: :obj:`False`)
        norm (str, optional): What else normalises it. (default: :obj:`"none"`)
        residual (bool, optional): Adds the state to what a layer makes of it. (default: :obj:`False`)
        memory (str, optional): How the backward pass gets the states. (default: :obj:`"auto"`)
    """

    def __init__(
        self,
        channels: int,
        num_layers: int,
        dropout: float = 0.0,
        act: Activation = "relu",
        *,
        aggr: Literal["mean", "max"],
        normalize: bool = False,
        norm: str = "none",
        residual: bool = False,
        memory: str = "auto",
    ):
        layers = [
            couplings.build("sage", channels, aggr=aggr, project=aggr == "max", normalize=normalize)
            for _ in range(num_layers)
        ]
        super().__init__(layers, channels, num_layers, dropout, act, norm=norm, residual=residual, memory=memory)


_PAPER = "Hamilton et al. 2017, arXiv:1706.02216"

CARDS = (
    rival("sage-mean", SAGE, "the node itself and the mean of its neighbours", _PAPER, aggr="mean"),
    rival("sage-max", SAGE, "the node itself and the largest of its mapped neighbours", _PAPER, aggr="max"),
)
