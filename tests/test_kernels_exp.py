"""The exponentials of the kernels against those of NumPy, in more digits."""

import numpy as np
import pytest

pytest.importorskip("numba", reason="without Numba there are no loops")

from graphcon.kernels.loops._exp import exp, expm1, tanh
from graphcon.kernels.loops._jit import index, jit
from graphcon.kernels.loops._lanes import load_some, store_some, zeros


@jit
def numbers(x, out):
    for n in range(x.shape[0]):
        out[0, n], out[1, n], out[2, n] = exp(x[n]), expm1(x[n]), tanh(x[n])


@jit
def lanes(x, out):
    nothing = zeros(x, 8)
    for n in range(index(0), index(x.shape[0]), index(8)):
        values = load_some(nothing, x, index(0), n, x.shape[0] - n)
        store_some(exp(values), out, index(0), n, x.shape[0] - n)
        store_some(expm1(values), out, index(1), n, x.shape[0] - n)
        store_some(tanh(values), out, index(2), n, x.shape[0] - n)


@pytest.mark.parametrize("run", [numbers, lanes])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_they_are_right_to_a_few_units_of_the_last_place(run, dtype):
    end = 0.999 * np.log(np.finfo(dtype).max)
    parts = np.linspace(-end, end, 20_001), np.linspace(-2, 2, 20_001), np.geomspace(1e-30, 1, 1_000)
    x = np.concatenate([*parts, -parts[-1]]).astype(dtype)
    found = np.empty((3, len(x)), dtype)
    run(x, found)
    for values, function in zip(found, (np.exp, np.expm1, np.tanh), strict=True):
        exact = function(x.astype(np.longdouble))
        unit = np.spacing(np.abs(exact).astype(dtype))
        assert np.max(np.abs(values - exact) / unit) < 4


@pytest.mark.parametrize("run", [numbers, lanes])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_what_is_too_large_or_no_number(run, dtype):
    x = np.array([np.nan, np.inf, -np.inf, 1e30, -1e30, 0], dtype)
    found = np.empty((3, len(x)), dtype)
    run(x, found)
    expected = [[np.nan, np.inf, 0, np.inf, 0, 1], [np.nan, np.inf, -1, np.inf, -1, 0], [np.nan, 1, -1, 1, -1, 0]]
    np.testing.assert_array_equal(found, expected)
