from typing import Any

from torch_geometric.nn import ClusterGCNConv

from graphcon.models.card import rival
from graphcon.models.stack import Stack


def core(
    channels: int,
    num_layers: int,
    dropout: float,
    act: Any,
    *,
    diag_lambda: float = 0.0,
    shared: bool = False,
    memory: str = "auto",
) -> Stack:
    r"""The network of `"Cluster-GCN" <https://arxiv.org/abs/1905.07953>`_, on PyG's layer.

    .. math::
        X_n = \sigma\big((\hat A + \lambda\,\mathrm{diag}(\hat A))\,X_{n-1} W_1 + X_{n-1} W_2\big), \qquad
        \hat A = (D + I)^{-1} (A + I)

    What it is known for, training on groups of clusters, is a batching: ``data.batching = "cluster-gcn"``, which any
    model can use. PyG's layer adds the term of :math:`W_2`.

    Args:
        channels: Size of the state.
        num_layers: Number of layers.
        dropout: Dropout after every layer.
        act: The activation.
        diag_lambda: The enhancement :math:`\lambda` of the diagonal.
        shared: Whether all layers share their weights.
        memory: How the backward pass gets the states.
    """
    number = 1 if shared else num_layers
    layers = [ClusterGCNConv(channels, channels, diag_lambda=diag_lambda) for _ in range(number)]
    return Stack(layers, channels, num_layers, dropout, act, memory=memory)


CARDS = (
    rival("cluster-gcn", core, "row-normalised sums with an enhanced diagonal", "Chiang et al. 2019, arXiv:1905.07953"),
)
