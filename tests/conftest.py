"""Where the benchmark files are, for the tests that read them; and a cache of their own for all tests."""

import os
import signal
from pathlib import Path

import pytest
import torch

from graphcon.kernels import _runtime

# On graphs of ten nodes threads gain nothing, and beside other test processes they wait for each other.
torch.set_num_threads(1)
# Nor do kernels that do a part of a layer, which are to be tested on such graphs all the same.
_runtime.LEAST_WORK = 0
# A job in the background ignores Ctrl-C, and so would the programs that tests start and send it to.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# Asked for now: the cache of the tests, below, takes the variable away.
BENCHMARKS = Path(os.environ.get("GRAPHCON_DATA") or Path(__file__).parents[2] / "shared" / "data")


@pytest.fixture(scope="session")
def benchmark_root() -> Path:
    if not (BENCHMARKS / "planetoid").is_dir():
        pytest.skip(f"needs the benchmark files below $GRAPHCON_DATA; {BENCHMARKS} has none")
    return BENCHMARKS


@pytest.fixture(scope="session", autouse=True)
def own_cache(tmp_path_factory):
    """No test reads or writes the user's cache or data root; one cache serves all tests of a process."""
    before = {key: os.environ.get(key) for key in ("GRAPHCON_CACHE", "GRAPHCON_DATA")}
    os.environ["GRAPHCON_CACHE"] = str(tmp_path_factory.mktemp("cache"))
    os.environ.pop("GRAPHCON_DATA", None)
    yield
    for key, value in before.items():
        if value is None:
            os.environ.pop(key, None)
        else:
            os.environ[key] = value
