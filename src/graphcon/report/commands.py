"""The work behind `graphcon report`."""

from pathlib import Path

from rich.console import Console

from graphcon._console import say
from graphcon.errors import InputError
from graphcon.report.evidence import gather_all
from graphcon.report.render import write
from graphcon.report.run_page import build_page
from graphcon.training.progress import show_warnings_plainly, telling


def write_report(paths: tuple[Path, ...], out: Path | None, console: Console) -> None:
    """Writes the page about some runs."""
    if not paths:
        raise InputError("graphcon report: name a run folder, as in: graphcon report runs/cora-gcn")
    target = out or paths[0] / "report.html"
    if target.suffix != ".html" or target.is_dir():
        raise InputError(f"--out {target}: must be a file that ends in .html")
    show_warnings_plainly()
    with telling() as tell:
        page = build_page(gather_all(paths), tell)
    write(page, target)
    for sentence in page.lead:
        console.print(sentence, highlight=False)
    say(console, f"Page  {target}")
