r"""The halves of GAT's scores as rows of the weight, :math:`a^\top W x = (W^\top a)^\top x`, and their way back."""

from graphcon.kernels.loops._jit import jit


@jit
def stack(weight, source, target, rows):
    """Sums the rows of every head's weight, each times its number: first for all sources, then for all targets.

    Args:
        weight: W of the values, ``[heads * width, channels]``.
        source: A number per row.
        target: The same for the other half.
        rows: Where they go, ``[2 * heads, channels]``.
    """
    heads = rows.shape[0] // 2
    width = weight.shape[0] // heads
    rows[:] = 0
    for r in range(weight.shape[0]):
        k, s, t = r // width, source[r], target[r]
        for c in range(weight.shape[1]):
            rows[k, c] += s * weight[r, c]
            rows[heads + k, c] += t * weight[r, c]


@jit
def stack_back(weight, source, target, grows, gweight, gsource, gtarget):
    """Adds to the gradient of the weight, and writes those of source and target."""
    heads = grows.shape[0] // 2
    width = weight.shape[0] // heads
    for r in range(weight.shape[0]):
        k, s, t = r // width, source[r], target[r]
        gs = gt = weight.dtype.type(0)
        for c in range(weight.shape[1]):
            w, a, b = weight[r, c], grows[k, c], grows[heads + k, c]
            gweight[r, c] += s * a + t * b
            gs += w * a
            gt += w * b
        gsource[r], gtarget[r] = gs, gt
