"""The table of `graphcon bench`, on the terminal and as Markdown."""

from collections.abc import Iterator, Sequence
from pathlib import Path

import torch
from rich.console import Console

from graphcon._console import say
from graphcon._files import write_json, write_whole
from graphcon.experiments import bench
from graphcon.experiments.bench import Row

COLUMNS = ("ms", "over loop", "over csr", "of floor", "MB", "MB loop")


def show(out: Path, quick: bool, threads: int | None, console: Console) -> None:
    """Measures; every row is printed and written as soon as it is known, with the table beside the numbers."""
    if threads is not None:
        torch.set_num_threads(threads)
    table = out.with_suffix(".md")
    console.print(f"Training steps, {torch.get_num_threads()} threads\n\n{line('', COLUMNS)}", highlight=False)
    found = []
    for row in bench.rows(quick):
        console.print(line(f"{row.workload.name} {row.coupling}", cells(row)), highlight=False)
        found.append(row)
        write_json(out, bench.as_json(found))
        write_whole(table, markdown(found))
    console.print()
    for sentence in sentences(found):
        console.print(sentence, highlight=False)
    say(console, f"Numbers  {out}\nTable    {table}")


def line(name: str, values: Sequence[str]) -> str:
    """A row for the terminal, in columns that stand below each other whatever comes."""
    widths = (12, 13, 9, 9, 6, 8)
    return f"{name:<23}" + "".join(f"{value:>{width}}" for value, width in zip(values, widths, strict=True))


def markdown(found: list[Row]) -> str:
    """The table and what it comes to, as `docs/performance.md` has them."""
    lines = ["| workload | steps | coupling | " + " | ".join(COLUMNS) + " |", "|---|---:|---|" + "---:|" * len(COLUMNS)]
    for row in found:
        shown = (row.workload.name, str(row.workload.steps), row.coupling, *cells(row))
        lines.append("| " + " | ".join(shown) + " |")
    return "\n".join([*lines, "", *(f"- {sentence}" for sentence in sentences(found))]) + "\n"


def cells(row: Row) -> list[str]:
    """One row, in the order of `COLUMNS`."""
    ours, loop, floor = row.ways["graphcon"], row.ways["loop"], row.ways["floor"]
    over_csr = row.speedup("csr")
    return [
        f"{ours.best * 1e3:.1f} ±{ours.spread:.0%}",
        f"{row.speedup():.2f}× ±{loop.spread:.0%}",
        "-" if over_csr is None else f"{over_csr:.2f}×",
        f"{ours.best / floor.best:.2f}×",
        *("-" if way.peak_bytes is None else f"{way.peak_bytes / 1e6:.0f}" for way in (ours, loop)),
    ]


def sentences(found: list[Row]) -> Iterator[str]:
    """What the rows of a coupling come to."""
    for name, values in bench.summary(found).items():
        yield (
            f"{name}: {values['geometric_mean']:.2f} × over the loop (geometric mean; the bare products would have "
            f"{values['ceiling']:.2f} ×), at least {values['least']:.2f} ×, and at most "
            f"{values['most_over_floor']:.2f} × the floor on zinc, superpixel and ppi"
        )
