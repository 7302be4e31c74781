"""One look for all figures, drawn without a screen and without touching a user's own matplotlib settings."""

import io
import textwrap
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import matplotlib as mpl
from matplotlib.figure import Figure

from graphcon._files import write_whole

# Colours that people with any kind of colour vision can tell apart (Okabe and Ito), and shapes beside them.
PALETTE = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")
LINES = ("-", "--", ":", "-.")
MARKERS = "osD^vP"

_LETTERS_PER_INCH = 9  # of a title

_STYLE: dict[Any, Any] = {
    "axes.axisbelow": True,
    "axes.grid": True,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "axes.titlelocation": "left",
    "font.size": 11,
    "grid.color": "#e0e0e0",
    "legend.frameon": False,
    "svg.fonttype": "none",
}


@contextmanager
def drawing(path: Path | None, width: float, height: float) -> Iterator[Figure]:
    """A figure of that size in inches, saved when it is drawn; the path's ending tells the format."""
    with mpl.rc_context(_STYLE):
        figure = Figure(figsize=(width, height), layout="constrained")
        yield figure
        if path is not None:
            content = io.BytesIO()
            figure.savefig(content, format=path.suffix[1:] or "png", dpi=160)
            write_whole(path, content.getvalue())


def entitle(figure: Figure, title: str) -> None:
    """Puts a title above the whole figure, in as many lines as it needs."""
    letters = int(_LETTERS_PER_INCH * figure.get_size_inches()[0])
    figure.suptitle(textwrap.fill(title, letters), x=0.01, ha="left", parse_math=False)  # a $ is in a file's name
