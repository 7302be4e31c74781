from typing import cast

from torch import Tensor
from torch.nn import Embedding, Module, ModuleList
from torch_geometric.nn import Linear


class InputEncoder(Module):
    r"""Numbers and categories to channels: :math:`x\,W + b + \sum_c E_c[k_c]`.

    Args:
        in_channels (int): Width of the numbers; 0 where there are none, :obj:`-1` to take it from the first input.
        out_channels (int): Number of channels.
        num_categories (tuple, optional): The size of every column of categories. (default: none)
    """

    def __init__(self, in_channels: int, out_channels: int, num_categories: tuple[int, ...] = ()):
        super().__init__()
        self.in_channels, self.out_channels, self.num_categories = in_channels, out_channels, num_categories
        self.lin = Linear(in_channels, out_channels) if in_channels else None
        self.embeddings = ModuleList(Embedding(size, out_channels) for size in num_categories)

    def reset_parameters(self) -> None:
        """Resets all learnable parameters."""
        if self.lin is not None:
            self.lin.reset_parameters()
        for embedding in self.embeddings:
            cast(Embedding, embedding).reset_parameters()

    def forward(self, x: Tensor | None, categories: Tensor | None = None) -> Tensor:
        """Encodes ``x [rows, in_channels]`` and ``categories [rows, columns]``, either of which may be missing."""
        parts = [] if self.lin is None else [self.lin(x)]
        if categories is not None:
            columns = categories if categories.dim() > 1 else categories.unsqueeze(-1)
            parts += [embed(columns[:, c]) for c, embed in enumerate(self.embeddings)]
        out = parts[0]
        for part in parts[1:]:
            out = out + part
        return out

    def __repr__(self) -> str:
        categories = f", num_categories={self.num_categories}" if self.num_categories else ""
        return f"{type(self).__name__}({self.in_channels}, {self.out_channels}{categories})"
