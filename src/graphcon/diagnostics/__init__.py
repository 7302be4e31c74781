"""What happens inside: measures of every state of any model, and the paper's propositions as functions."""

from graphcon.diagnostics.distance import mean_average_distance
from graphcon.diagnostics.dynamics import heavy_ball, state_bound, steady_state, uncoupled_solution, volume_factor
from graphcon.diagnostics.energy import coupled_energy, dirichlet_energy, energy_balance
from graphcon.diagnostics.gradient_norms import GradientNorms, gradient_norms
from graphcon.diagnostics.gradients import NodewiseGCN, gradient_bound, leading_order_gradient
from graphcon.diagnostics.homophily import edge_homophily, node_homophily
from graphcon.diagnostics.rank import effective_rank, numerical_rank
from graphcon.diagnostics.table import measure_state, state_table, trajectory_table

__all__ = [
    "GradientNorms",
    "NodewiseGCN",
    "coupled_energy",
    "dirichlet_energy",
    "edge_homophily",
    "effective_rank",
    "energy_balance",
    "gradient_bound",
    "gradient_norms",
    "heavy_ball",
    "leading_order_gradient",
    "mean_average_distance",
    "measure_state",
    "node_homophily",
    "numerical_rank",
    "state_bound",
    "state_table",
    "steady_state",
    "trajectory_table",
    "uncoupled_solution",
    "volume_factor",
]
