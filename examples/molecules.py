"""Regression on molecules: how well 1,282 organic molecules dissolve in water, which the package carries.

python examples/molecules.py
"""

import torch

import graphcon
from graphcon.models import GraphCONNet, InputEncoder

torch.manual_seed(0)
dataset = graphcon.data.load("solubility")
print(dataset)

model = GraphCONNet(
    in_channels=0,  # atoms have categories alone
    hidden_channels=32,
    num_layers=8,
    out_channels=1,
    coupling="gat",
    edge_dim=32,
    task="graph",
    readout="sum",
    dt=0.3,
    num_categories=dataset.num_categories,
    edge_encoder=InputEncoder(0, 32, dataset.num_edge_categories),  # and so have bonds
)
fitted = graphcon.fit(model, dataset, epochs=20, lr=0.005, schedule="one-cycle", clip=1.0)
print(f"mean absolute error on validation: {fitted.value:.2f} (log10 of mol/l), after {fitted.epochs} epochs")
print(f"on test data: {graphcon.evaluate(model, dataset)['mae']:.2f}")
