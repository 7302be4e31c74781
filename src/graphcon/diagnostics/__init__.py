"""What happens inside: energies, and the paper's propositions as functions."""

from graphcon.diagnostics.dynamics import heavy_ball, state_bound, steady_state, uncoupled_solution, volume_factor
from graphcon.diagnostics.energy import coupled_energy, dirichlet_energy, energy_balance
from graphcon.diagnostics.gradients import NodewiseGCN, gradient_bound, leading_order_gradient

__all__ = [
    "NodewiseGCN",
    "coupled_energy",
    "dirichlet_energy",
    "energy_balance",
    "gradient_bound",
    "heavy_ball",
    "leading_order_gradient",
    "state_bound",
    "steady_state",
    "uncoupled_solution",
    "volume_factor",
]
