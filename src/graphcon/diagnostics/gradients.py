r"""What the paper says of gradients in deep GraphCON-GCN: the bound of Proposition 5, the formula of Proposition 6.

Both speak of one channel, :math:`\alpha = \gamma = 1`, a weight per node and step, and the loss
:math:`J = \frac{1}{2v} \sum_i |X^N_i - \bar X_i|^2`.
"""

from collections.abc import Callable

import torch
from torch import Tensor
from torch.nn import Module, Parameter
from torch_geometric.utils import degree


class NodewiseGCN(Module):
    r"""The coupling of the paper's eq. (16): a GCN of one channel with a weight per node.

    .. math::
        C_i = \frac{w_i}{d_i} X_i + \sum_{j \in \mathcal{N}_i} \frac{w_j X_j}{\sqrt{d_i d_j}}

    Args:
        weight (torch.Tensor): The weights w, ``[nodes]``.
    """

    def __init__(self, weight: Tensor):
        super().__init__()
        self.weight = Parameter(weight)

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        """Couples ``x [nodes, 1]`` over the undirected graph ``edge_index [2, edges]``."""
        return _normalised_sum(self.weight.unsqueeze(-1) * x, edge_index)


def gradient_bound(
    weights: Tensor, x: Tensor, y: Tensor, target: Tensor, edge_index: Tensor, dt: float, beta: float, beta_prime: float
) -> float:
    r"""The bound of Proposition 5 on :math:`|\partial J / \partial w^\ell_k|` for every step and node.

    .. math::
        \left|\frac{\partial J}{\partial w^\ell_k}\right| \le \beta' \hat D \Delta t (1 + \Gamma N \Delta t)
        \left(\max_i (|X^0_i| + |Y^0_i|) + \max_i |\bar X_i| + \beta \sqrt{\tfrac{N \Delta t}{1 - \Delta t}}\right)^2

    with :math:`\hat D = \max_{i,j} 1/\sqrt{d_i d_j}` and
    :math:`\Gamma = 6 + 4 \beta' \hat D \max_n \|w^n\|_1`. This is what multiplying the steps of the proof gives. The
    paper prints it with a factor 1/v and with the square on a part of the bracket only; in that form a star with many
    leaves exceeds it (the product of a row, a matrix and a column is bounded by the 1-norm of the row, not by its
    largest entry).

    Args:
        weights (torch.Tensor): The weights, ``[steps, nodes]``.
        x (torch.Tensor): Positions at the start, ``[nodes]``.
        y (torch.Tensor): Velocities at the start, ``[nodes]``.
        target (torch.Tensor): The ground truth, ``[nodes]``.
        edge_index (torch.Tensor): The edges, both directions of each, ``[2, edges]``.
        dt (float): The time step.
        beta (float): The largest :math:`|\sigma|`, 1 for tanh.
        beta_prime (float): The largest :math:`|\sigma'|`, 1 for tanh.

    Raises:
        ValueError: If dt is not small enough for the proof: :math:`(1 + \Gamma\Delta t/2)^N \le 1 + \Gamma N \Delta t`.
    """
    steps = len(weights)
    scale = 1.0 / float(degree(edge_index[1], x.size(0)).min())
    growth = 6.0 + 4.0 * beta_prime * scale * float(weights.abs().sum(-1).max())
    if dt >= 1.0 or (1.0 + growth * dt / 2.0) ** steps > 1.0 + growth * steps * dt:
        raise ValueError(
            f"dt={dt} is too large for the bound at {steps} steps: it needs (1 + G dt / 2)^N <= 1 + G N dt with "
            f"G = {growth:.3g}, which dt <= {2.0 / (growth * steps):.3g} ensures"
        )
    size = float((x.abs() + y.abs()).max() + target.abs().max()) + beta * (steps * dt / (1.0 - dt)) ** 0.5
    return beta_prime * scale * dt * (1.0 + growth * steps * dt) * size**2


def leading_order_gradient(
    weights: Tensor,
    xs: Tensor,
    target: Tensor,
    edge_index: Tensor,
    dt: float,
    act_prime: Callable[[Tensor], Tensor],
) -> Tensor:
    r"""The gradient of Proposition 6 to leading order in dt, in the form that is true.

    .. math::
        \frac{\partial J}{\partial w^\ell_k} = \frac{(N - \ell + 1)\Delta t^2}{v} X^{\ell-1}_k
        \sum_{j \in \mathcal{N}_k \cup \{k\}} \frac{\sigma'(C^{\ell-1}_j) (X^N_j - \bar X_j)}{\sqrt{d_j d_k}}
        + O(\Delta t^3)

    It grows linearly with the distance to the output, and so does not vanish. The paper prints the factor 2 in place
    of :math:`N - \ell + 1`, leaves out the node itself and has :math:`X_j` inside the sum.

    Args:
        weights (torch.Tensor): The weights, ``[steps, nodes]``.
        xs (torch.Tensor): The positions along the trajectory, ``[steps + 1, nodes]``.
        target (torch.Tensor): The ground truth, ``[nodes]``.
        edge_index (torch.Tensor): The edges, both directions of each, ``[2, edges]``.
        dt (float): The time step.
        act_prime (Callable): The derivative :math:`\sigma'`.

    Returns:
        The gradient for every step and node, ``[steps, nodes]``.
    """
    steps, nodes = weights.shape
    coupling = _normalised_sum((weights * xs[:-1]).unsqueeze(-1), edge_index).squeeze(-1)  # C, [steps, nodes]
    error = act_prime(coupling) * (xs[-1] - target)
    pulled = _normalised_sum(error.unsqueeze(-1), edge_index).squeeze(-1)
    distance = torch.arange(steps, 0, -1, dtype=xs.dtype).unsqueeze(-1)  # N - l + 1, [steps, 1]
    return distance * dt**2 / nodes * xs[:-1] * pulled


def _normalised_sum(x: Tensor, edge_index: Tensor) -> Tensor:
    """x_i / d_i + sum over the neighbours j of x_j / sqrt(d_i d_j), for x [..., nodes, channels]."""
    source, target = edge_index
    scale = degree(target, x.size(-2), dtype=x.dtype).rsqrt().unsqueeze(-1)
    scaled = scale * x
    return scale * scaled.index_add(-2, target, scaled[..., source, :])
