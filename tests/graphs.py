"""Small graphs the tests share."""

import torch
from torch import Tensor


def ring(nodes: int = 6) -> Tensor:
    """A cycle, both directions of every edge."""
    i = torch.arange(nodes)
    j = i.roll(-1)
    return torch.stack([torch.cat([i, j]), torch.cat([j, i])])


def star(leaves: int) -> Tensor:
    """Node 0 in the middle, both directions of every edge."""
    hub, leaf = torch.zeros(leaves, dtype=torch.long), torch.arange(1, leaves + 1)
    return torch.stack([torch.cat([hub, leaf]), torch.cat([leaf, hub])])


def random_graph(nodes: int, edges: int, seed: int = 0, undirected: bool = False) -> Tensor:
    """Random edges over a ring, so that no node is alone."""
    generator = torch.Generator().manual_seed(seed)
    extra = torch.randint(nodes, (2, edges), generator=generator)
    if undirected:
        extra = extra[:, extra[0] != extra[1]]
        extra = torch.cat([extra, extra.flip(0)], dim=1)
        return torch.unique(torch.cat([ring(nodes), extra], dim=1), dim=1)
    return torch.cat([ring(nodes), extra], dim=1)
