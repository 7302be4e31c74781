"""From a page's blocks to one HTML file that needs nothing else: no network, no other file."""

from importlib.resources import files
from pathlib import Path

from jinja2 import DictLoader, Environment, StrictUndefined
from markupsafe import Markup

from graphcon import __version__
from graphcon._files import write_whole
from graphcon.report import chart
from graphcon.report.blocks import Number, Page

_FOLDER = files("graphcon.report") / "page"


def render(page: Page) -> str:
    """The page as HTML. All strings are escaped by the template engine, also those inside JSON."""
    templates = {name: (_FOLDER / name).read_text(encoding="utf-8") for name in ("page.html", "blocks.html")}
    engine = Environment(
        loader=DictLoader(templates), autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    engine.globals |= {"draw": chart.draw, "width": chart.WIDTH, "height": chart.HEIGHT, "margin": _margins()}
    engine.tests["number"] = lambda cell: isinstance(cell, Number)
    # The style and the script are the package's own: nothing in them comes from data.
    own = {name: Markup((_FOLDER / f"page.{name}").read_text(encoding="utf-8")) for name in ("css", "js")}
    return engine.get_template("page.html").render(page=page, version=__version__, **own)


def write(page: Page, path: Path) -> None:
    """Writes the page, whole or not at all."""
    write_whole(path, render(page))


def _margins() -> dict[str, int]:
    return {"left": chart.LEFT, "right": chart.RIGHT, "top": chart.TOP, "bottom": chart.BOTTOM}
