"""Regression on molecules: how well 1,282 organic molecules dissolve in water, which the package carries.

python examples/molecules.py
"""

import torch

import graphcon
from graphcon.models import GraphCONNet

torch.manual_seed(0)
dataset = graphcon.data.load("solubility")
print(dataset)

model = GraphCONNet(
    in_channels=0,
    hidden_channels=32,
    num_layers=8,
    out_channels=1,
    coupling="gin",
    task="graph",
    readout="mean",
    dt=0.3,
    num_categories=dataset.num_categories,
)


class Molecules(torch.nn.Module):
    """The atoms' features are categories, and x holds them."""

    def __init__(self):
        super().__init__()
        self.net = model

    def forward(self, x, edge_index, batch=None, batch_size=None):
        return self.net(None, edge_index, batch=batch, batch_size=batch_size, x_categories=x)


fitted = graphcon.fit(Molecules(), dataset, epochs=20, lr=0.005, schedule="one-cycle", clip=1.0)
print(f"mean absolute error on validation: {fitted.value:.2f} (log10 of mol/l), after {fitted.epochs} epochs")
