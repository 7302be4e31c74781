from typing import Any, cast

import torch
from torch import Tensor
from torch.nn import Dropout, Embedding, Module, ModuleList
from torch_geometric.nn import Linear

from graphcon import kernels
from graphcon._validation import check_count, check_probability


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
        if check_count("in_channels", in_channels, -1) == 0 and not num_categories:
            raise ValueError("in_channels=0 without num_categories leaves nothing to read: give one of the two")
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
        plain = type(lin) is Linear and type(self.dropout) is Dropout
        if plain and lin.in_channels > 0 and kernels.untouched(lin) and kernels.untouched(self.dropout):
            p = self.dropout.p if self.dropout.training else 0.0
            out = kernels.sparse_linear(x, lin.weight, lin.bias, p)
            if out is not None:
                return out
        return lin(self.dropout(x))

    def __repr__(self) -> str:
        categories = f", num_categories={self.num_categories}" if self.num_categories else ""
        return f"{type(self).__name__}({self.in_channels}, {self.out_channels}{categories})"


def check_inputs(encoder: InputEncoder, x: Any, categories: Any) -> None:
    """Refuses numbers or categories of nodes that the encoder was not made for, or that are missing."""
    if encoder.lin is None:
        if x is not None and not (isinstance(x, Tensor) and x.numel() == 0):
            cure = "give categories as x_categories, and None for x" if encoder.num_categories else "give None"
            raise ValueError(f"x is given, but the network has in_channels=0: {cure}")
    else:
        _check_numbers(x, encoder.lin)
    if encoder.num_categories:
        _check_categories(categories, encoder.num_categories)
    elif categories is not None:
        raise ValueError("x_categories is given, but the network was made without num_categories: it has no use for it")


def _check_numbers(x: Any, lin: Linear) -> None:
    if not isinstance(x, Tensor):
        raise TypeError(f"x is a {type(x).__name__}, but must be a tensor of shape [nodes, {lin.in_channels}]")
    if x.dim() != 2:
        raise ValueError(f"x has shape {list(x.shape)}, but must have shape [nodes, {lin.in_channels}]")
    if not x.is_floating_point():
        raise TypeError(f"x is {x.dtype}, but features are real numbers: use x.float()")
    own = lin.weight.dtype
    if x.dtype != own and not torch.is_autocast_enabled(x.device.type):
        raise TypeError(f"x is {x.dtype}, but the network is {own}: use x.to({own}), or model.to({x.dtype})")


def _check_categories(categories: Any, sizes: tuple[int, ...]) -> None:
    if not isinstance(categories, Tensor):
        raise TypeError(
            f"x_categories is a {type(categories).__name__}, but must be a tensor of shape [nodes, {len(sizes)}], as "
            f"the network has num_categories={sizes}"
        )
    if categories.is_floating_point() or categories.dtype == torch.bool:
        raise TypeError(
            f"x_categories is {categories.dtype}, but categories are whole numbers: use x_categories.long()"
        )
    columns = categories if categories.dim() > 1 else categories.unsqueeze(-1)
    if columns.dim() != 2 or columns.size(1) != len(sizes):
        raise ValueError(
            f"x_categories has shape {list(categories.shape)}, but must have shape [nodes, {len(sizes)}], as the "
            f"network has num_categories={sizes}"
        )
    if columns.numel() == 0 or columns.device.type != "cpu":  # on a GPU one would have to wait for the device
        return
    for column, size in enumerate(sizes):
        low, high = (int(value) for value in columns[:, column].aminmax())
        if low < 0 or high >= size:
            wrong = low if low < 0 else high
            raise ValueError(
                f"x_categories holds {wrong} in column {column}, but by num_categories={sizes} they are 0 to {size - 1}"
            )
