from typing import cast

from torch import Tensor
from torch.nn import Dropout, Embedding, Module, ModuleList
from torch_geometric.nn import Linear

from graphcon import kernels
from graphcon._validation import check_probability


class InputEncoder(Module):
    r"""Numbers and categories to channels: :math:`\mathrm{dropout}(x)\,W + b + \sum_c E_c[k_c]`.

    Numbers that are mostly zero, as counts of words are, run on a sparse product without being asked.

    Args:
        in_channels (int): Width of the numbers; 0 where there are none, :obj:`-1` to take it from the first input.
        out_channels (int): Number of channels.
        num_categories (tuple, optional): The size of every column of categories. (default: none)
        dropout (float, optional): Dropout on the numbers. (default: :obj:`0.0`)
    """

    def __init__(self, in_channels: int, out_channels: int, num_categories: tuple[int, ...] = (), dropout: float = 0.0):
        super().__init__()
        self.dropout = Dropout(check_probability("input_dropout", dropout))
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
        parts = [] if self.lin is None or x is None else [self._numbers(x, self.lin)]
        if categories is not None:
            columns = categories if categories.dim() > 1 else categories.unsqueeze(-1)
            parts += [embed(columns[:, c]) for c, embed in enumerate(self.embeddings)]
        out = parts[0]
        for part in parts[1:]:
            out = out + part
        return out

    def _numbers(self, x: Tensor, lin: Linear) -> Tensor:
        if lin.in_channels > 0 and x.size(-1) != lin.in_channels:
            raise ValueError(f"x has {x.size(-1)} columns (shape {list(x.shape)}), but in_channels={lin.in_channels}")
        if lin.in_channels > 0 and kernels.untouched(lin) and kernels.untouched(self.dropout):
            p = self.dropout.p if self.dropout.training else 0.0
            out = kernels.sparse_linear(x, lin.weight, lin.bias, p)
            if out is not None:
                return out
        return lin(self.dropout(x))

    def __repr__(self) -> str:
        categories = f", num_categories={self.num_categories}" if self.num_categories else ""
        return f"{type(self).__name__}({self.in_channels}, {self.out_channels}{categories})"
