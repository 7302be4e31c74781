"""A linear map of features of which most are zero, such as words: only what is not zero is dropped and multiplied."""

import warnings
from functools import cache
from typing import Any, NamedTuple, cast

import torch
from torch import Tensor

from graphcon.kernels import _runtime
from graphcon.kernels.structure import known

# Below this size, or above this share of entries that are not zero, the dense product is as good.
SMALLEST = 1 << 16
DENSEST = 0.15


def linear(x: Tensor, weight: Tensor, bias: Tensor | None, dropout: float) -> Tensor | None:
    r""":math:`\mathrm{dropout}(x)\,W^\top + b` where x is sparse enough, else None: the dense way is for the caller.

    Dropping a zero changes nothing, so random numbers are drawn for the other entries alone. What is known of x is
    kept while its content stays the same.

    Args:
        x: The features, ``[rows, in_channels]``, as an ordinary tensor.
        weight: The weights, ``[out_channels, in_channels]``.
        bias: The bias, ``[out_channels]``.
        dropout: The share of entries that is dropped, here and now.
    """
    if not _can_be_sparse(x, weight):
        return None
    matrix = cast("Sparse | None", known(x).value("features", None, cast(Any, lambda: Sparse.of(x))))
    if matrix is None:
        return None
    out = _Product.apply(*matrix.dropped(dropout), weight.t().contiguous())
    return out if bias is None else out + bias


class Sparse(NamedTuple):
    """A matrix by rows and by columns."""

    by_rows: Tensor  # CSR
    by_columns: Tensor  # the transpose, CSR
    order: Tensor  # which entry of the one stands at each place of the other

    @classmethod
    def of(cls, x: Tensor) -> "Sparse | None":
        """The sparse form of x; None if x is dense."""
        row, col = x.nonzero(as_tuple=True)
        if len(row) > DENSEST * x.numel():
            return None
        order = torch.argsort(col, stable=True)
        values, (rows, columns) = x[row, col], x.shape
        by_rows = _csr(_ends(row, rows), col, values, (rows, columns))
        by_columns = _csr(_ends(col, columns), row[order], values[order], (columns, rows))
        return cls(by_rows, by_columns, order)

    def dropped(self, p: float) -> tuple[Tensor, Tensor]:
        """Both forms, with a share p of the entries set to zero and the others made larger to match."""
        if p == 0.0:
            return self.by_rows, self.by_columns
        values = torch.dropout(self.by_rows.values(), p, True)
        return _with_values(self.by_rows, values), _with_values(self.by_columns, values[self.order])


class _Product(torch.autograd.Function):
    """A sparse matrix times a dense one, with gradients for the latter: the transpose times what comes back."""

    @staticmethod
    def forward(ctx: Any, matrix: Tensor, transpose: Tensor, dense: Tensor) -> Tensor:
        ctx.matrix, ctx.transpose = matrix, transpose
        return matrix @ dense

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[None, None, Tensor]:
        return None, None, cast(Tensor, _Product.apply(ctx.transpose, ctx.matrix, grads[0].contiguous()))


def _can_be_sparse(x: Tensor, weight: Tensor) -> bool:
    return (
        _runtime.enabled()
        and not _runtime.is_traced()
        and not _runtime.transformed()
        and x.dim() == 2
        and x.numel() >= SMALLEST
        and x.dtype == weight.dtype
        and not x.requires_grad
        and _runtime.compiled(x)
        and not torch.is_autocast_enabled("cpu")
        and bool(weight.detach().sum().isfinite())  # zero times infinity is no number, and is not left out
    )


def _ends(index: Tensor, size: int) -> Tensor:
    return torch.nn.functional.pad(torch.bincount(index, minlength=size).cumsum(0), (1, 0))


def _with_values(matrix: Tensor, values: Tensor) -> Tensor:
    return _csr(matrix.crow_indices(), matrix.col_indices(), values, matrix.shape)


def _csr(ends: Tensor, index: Tensor, values: Tensor, shape: tuple[int, ...]) -> Tensor:
    _hear_of_beta()
    return torch.sparse_csr_tensor(ends, index, values, shape, device=values.device, check_invariants=False)


@cache
def _hear_of_beta() -> None:
    """Has torch say here that its CSR is beta, which it says once.

    To look away at every pass would make Python forget which warnings of others it has shown.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        torch.sparse_csr_tensor([0, 0], [], [], (1, 1), device="cpu", check_invariants=False)
