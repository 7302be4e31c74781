"""How Sphinx makes a site of the pages in this folder, with the reference from the docstrings: make docs"""

import os
import subprocess
import sys

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from graphcon import __version__

project = "graphcon"
copyright = "graphcon contributors"
release = version = __version__

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "sphinx.ext.viewcode"]
html_theme = "furo"
html_title = f"graphcon {release}"
html_static_path = ["_static"]
html_css_files = ["wide.css"]

myst_enable_extensions = ["dollarmath"]
myst_heading_anchors = 3

autodoc_default_options = {"members": True, "no-value": True}
autodoc_member_order = "groupwise"
autodoc_typehints_format = "short"
napoleon_use_ivar = True
python_maximum_signature_line_length = 100


class CommandHelp(SphinxDirective):
    """What a command says of itself, for pages where it is looked up."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        command = [sys.executable, "-m", "graphcon.cli", self.arguments[0], "--help"]
        plain = os.environ | {"COLUMNS": "96", "NO_COLOR": "1"}
        told = subprocess.run(command, capture_output=True, text=True, check=True, env=plain).stdout
        return [nodes.literal_block(told, told, language="text")]


def setup(app: Sphinx) -> None:
    app.add_directive("command-help", CommandHelp)
