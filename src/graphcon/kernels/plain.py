"""The walk in plain torch: what the kernels compute, for wherever they cannot, and for gradients of gradients."""

import torch
import torch.nn.functional as functional
from torch import Tensor

from graphcon.kernels.counter import keep_mask
from graphcon.kernels.plan import Parameters, Plan


def coupling(x: Tensor, p: Parameters, edge: Tensor, ptr: Tensor, col: Tensor, seed: Tensor, plan: Plan) -> Tensor:
    """F(X), ``[nodes, channels]``."""
    nodes = len(x)
    used = int(ptr[-1])
    row = torch.repeat_interleave(torch.arange(nodes, device=x.device), ptr.diff().long())
    col = col[:used].long()
    h = x if plan.bare else functional.linear(x, p.weight, p.shift if plan.shift else None)
    values = h[:, plan.value_at : plan.value_at + plan.sums * plan.width].view(nodes, plan.sums, plan.width)
    if plan.gated:
        target, source = h[:, : plan.width], h[:, plan.width : 2 * plan.width]
        pull, value = target[row] + source[col], values[col].squeeze(1)
        if edge.numel():
            pull, value = pull + edge[:used, : plan.width], value + edge[:used, plan.width :]
        gate = torch.sigmoid(pull)
        out = x.new_zeros(nodes, plan.width).index_add(0, row, gate * value)
        if plan.kind == "gated-mean":
            out = out / (x.new_zeros(nodes, plan.width).index_add(0, row, gate) + plan.leak)
    else:
        weights, value = _weights(h, p, edge[:used], row, col, seed, plan), values[col]
        if plan.kind == "dot" and edge.numel():
            value = value + edge[:used].view_as(value)
        out = x.new_zeros(nodes, plan.sums, plan.width).index_add(0, row, weights.unsqueeze(-1) * value)
        out = plan.mix * (out.flatten(1) if plan.concat else out.sum(1))
    if plan.skip:
        out = out + h[:, plan.skip_at :]
    return out + p.bias


def _weights(h: Tensor, p: Parameters, edge: Tensor, row: Tensor, col: Tensor, seed: Tensor, plan: Plan) -> Tensor:
    """What every edge has in the sum, ``[edges, sums]``."""
    if not plan.attends:
        return edge
    if plan.kind == "additive":
        target = h[:, plan.target_at : plan.target_at + plan.heads]
        source = h[:, plan.source_at : plan.source_at + plan.heads]
        score = target[row] + source[col]
        score = functional.leaky_relu(score + edge if edge.numel() else score, plan.leak)
    else:
        width = plan.width if plan.kind == "dynamic" else plan.key
        target = h[:, plan.target_at : plan.target_at + plan.heads * width]
        source = h[:, plan.source_at : plan.source_at + plan.heads * width][col]
        source = source + edge if edge.numel() else source
        if plan.kind == "dynamic":
            product = functional.leaky_relu(target[row] + source, plan.leak) * p.vector
        else:
            product = target[row] * source
        score = product.view(-1, plan.heads, width).sum(-1)
    top = score.new_full((len(h), plan.heads), -torch.inf)
    top = top.scatter_reduce(0, row.unsqueeze(1).expand_as(score), score.detach(), "amax")
    score = (score - top[row]).exp()
    total = score.new_zeros(len(h), plan.heads).index_add(0, row, score) + 1e-16
    attention = score / total[row]
    if plan.edge_dropout > 0:
        attention = attention * keep_mask(seed, len(row), plan.heads, plan.edge_dropout, attention.dtype)
    return attention.sum(-1, keepdim=True) if plan.kind == "dot-mean" else attention


def activation(z: Tensor, plan: Plan) -> Tensor:
    if plan.act == "relu":
        return functional.leaky_relu(z, plan.act_leak)
    if plan.act == "elu":
        return functional.elu(z, plan.act_leak)
    functions = {"tanh": torch.tanh, "sigmoid": torch.sigmoid, "silu": functional.silu, "gelu": functional.gelu}
    return functions[plan.act](z) if plan.act in functions else z


def force_scale(seed: Tensor, x: Tensor, plan: Plan) -> Tensor | float:
    """What dropout multiplies the force with."""
    return keep_mask(seed, x.size(0), x.size(1), plan.dropout, x.dtype) if plan.dropout > 0 else 1.0


def step(
    x: Tensor, y: Tensor, p: Parameters, edge: Tensor, ptr: Tensor, col: Tensor, seeds: Tensor, plan: Plan
) -> tuple[Tensor, Tensor]:
    """One step; ``seeds [2]`` are those of the force and of the attention."""
    z = coupling(x, p, edge, ptr, col, seeds[1], plan)
    force = activation(z, plan) * force_scale(seeds[0], x, plan)
    y = y + plan.dt * (force - p.gamma * x - p.alpha * y)
    return x + plan.dt * y, y
