"""All models by name: ours, the plain layers they wrap, and the rivals, on one harness."""

from functools import partial
from inspect import signature
from typing import Any, Literal

from torch_geometric.nn import conv

from graphcon._words import did_you_mean
from graphcon.couplings import options
from graphcon.couplings._by_name import ALIASES
from graphcon.models.base import GraphNet
from graphcon.models.card import ModelCard, Option
from graphcon.models.net import GraphCONNet
from graphcon.models.rivals import (
    a_dgn,
    appnp,
    cgnn,
    cluster_gcn,
    dgn,
    dropedge,
    g2,
    gat_ppr,
    gcnii,
    gde,
    geniepath,
    geom_gcn,
    gprgnn,
    grand,
    h2gcn,
    jknet,
    kuramoto,
    pairnorm,
    pde_gcn,
    pna,
    pncnn,
    resgcn,
    rev,
    sage,
)
from graphcon.models.stack import StackNet

PREFIX = "graphcon-"

#: The settings of a recipe that only some networks have: those of oscillators.
OSCILLATOR_FIELDS = (
    *("dt", "alpha", "gamma", "integrator", "memory", "trainable", "residual", "source", "start", "shared", "act_on"),
)
_WITH_HEADS = ("gat", "transformer", "GATConv", "GATv2Conv", "TransformerConv")
_COORDINATES: dict[str, str] = dict.fromkeys(("monet", "spline", "GMMConv", "SplineConv"), "cartesian")
_GRAPHCON = "Rusch et al. 2022, arXiv:2202.02296"

_LAYERS = {
    "gcn": ("symmetrically normalised sums over neighbours", "Kipf, Welling 2017, arXiv:1609.02907"),
    "gat": ("sums over neighbours weighted by additive attention", "Veličković et al. 2018, arXiv:1710.10903"),
    "transformer": ("sums over neighbours weighted by dot-product attention", "Vaswani et al. 2017, arXiv:1706.03762"),
    "gin": ("plain sums over neighbours, then a two-layer network", "Xu et al. 2019, arXiv:1810.00826"),
    "gatedgcn": ("sums over neighbours with a gate per edge and channel", "Bresson, Laurent 2017, arXiv:1711.07553"),
    "sage": ("the node itself and the mean of its neighbours", "Hamilton et al. 2017, arXiv:1706.02216"),
    "monet": ("Gaussian kernels over positions, or the degrees of both ends", "Monti et al. 2017, arXiv:1611.08402"),
    "cheb": ("Chebyshev polynomials of the Laplacian", "Defferrard et al. 2016, arXiv:1606.09375"),
    "spline": ("B-spline kernels over positions, or the degrees of both ends", "Fey et al. 2018, arXiv:1711.08920"),
    "mlp": ("a linear map of every node by itself: no graph", ""),
}


def coupling_card(name: str) -> ModelCard:
    """The card of a layer by its name or its PyG class name: plain, or with graphcon- before it as oscillators."""
    oscillates, coupling = name.startswith(PREFIX), name.removeprefix(PREFIX)
    coupling = ALIASES.get(coupling, coupling)
    summary, paper = _LAYERS.get(coupling, (f"PyG's {coupling}", ""))
    fields = OSCILLATOR_FIELDS if oscillates else ("shared", "memory", "act_on")
    fields = (*fields, "heads") if coupling in _WITH_HEADS else fields
    network = GraphCONNet if oscillates else StackNet
    return ModelCard(
        name,
        partial(network, coupling=coupling, coordinates=_COORDINATES.get(coupling)),
        f"oscillators coupled by {coupling}" if oscillates else summary,
        _GRAPHCON if oscillates else paper,
        options=_options(coupling, network, fields),
        fields=fields,
    )


def _options(coupling: str, network: type[GraphNet], fields: tuple[str, ...]) -> dict[str, Option]:
    """What can be said of a layer and of the network around it, beside what a recipe has a field for."""
    own = {"norm": Option(Literal["none", "batch", "layer"], "none"), "residual": Option(bool, False)}
    taken, layers = signature(network).parameters, options(coupling)
    own = {key: option for key, option in own.items() if key not in fields}
    if coupling in _COORDINATES:
        own["coordinates"] = Option(Literal["cartesian", "polar"], _COORDINATES[coupling])
    layers = {key: default for key, default in layers.items() if key not in taken}
    # What else than true and false a layer takes, it knows itself.
    return own | {key: Option(bool if isinstance(value, bool) else Any, value) for key, value in layers.items()}


#: The `CARDS` of every file in `rivals/`, in the order of the list that `graphcon models` prints.
RIVALS: tuple[ModelCard, ...] = tuple(
    card
    for file in (
        # layers, and what is put around them
        gat_ppr,
        sage,
        gcnii,
        pairnorm,
        dropedge,
        jknet,
        gprgnn,
        h2gcn,
        geom_gcn,
        geniepath,
        cluster_gcn,
        pna,
        dgn,
        pncnn,
        appnp,
        g2,
        resgcn,
        rev,
        # differential equations
        grand,
        pde_gcn,
        cgnn,
        gde,
        a_dgn,
        kuramoto,
    )
    for card in file.CARDS
)

#: All models by name.
MODELS: dict[str, ModelCard] = {
    card.name: card
    for card in (
        *(coupling_card(PREFIX + name) for name in _LAYERS),
        *(coupling_card(name) for name in _LAYERS),
        *RIVALS,
    )
}


def find(name: str) -> ModelCard:
    """The card of that name: one of `MODELS`, or any layer of PyG by its class name, also behind graphcon-.

    Raises:
        ValueError: There is none.
    """
    if name in MODELS:
        return MODELS[name]
    layer = name.removeprefix(PREFIX)
    if layer in ALIASES or (layer in conv.classes and layer != "MessagePassing"):
        return coupling_card(name)
    hint = did_you_mean(name, [*MODELS, *conv.classes])
    raise ValueError(f"model {name!r} is unknown.{hint} See: graphcon models; or name a PyG layer by its class")
