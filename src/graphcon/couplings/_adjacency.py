import torch
from torch import Tensor
from torch_geometric.utils import is_torch_sparse_tensor, to_edge_index


def edges_of(adjacency: Tensor) -> Tensor:
    """Edge indices ``[2, edges]``: as given, or of the entries of a sparse matrix, which PyG has transposed."""
    if not is_torch_sparse_tensor(adjacency):
        return adjacency
    (target, source), _ = to_edge_index(adjacency)
    return torch.stack([source, target])
