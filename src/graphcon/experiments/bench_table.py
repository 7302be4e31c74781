"""The table of `graphcon bench`."""

import json
from pathlib import Path

import torch
from rich.box import SIMPLE
from rich.console import Console
from rich.progress import track
from rich.table import Table

from graphcon.experiments import bench


def show(out: Path, quick: bool, threads: int | None, console: Console) -> None:
    """Measures, prints the ratios and writes everything measured."""
    if threads is not None:
        torch.set_num_threads(threads)
    found = list(
        track(
            bench.rows(quick),
            "Measuring",
            total=bench.number_of_rows(quick),
            console=console,
            transient=True,
            disable=not console.is_terminal,
        )
    )
    table = Table(title=f"Training steps, {torch.get_num_threads()} threads", title_justify="left", box=SIMPLE)
    table.add_column("workload")
    for name in ("ms", "over loop", "over csr", "of floor", "MB", "MB loop"):
        table.add_column(name, justify="right", no_wrap=True)
    for row in found:
        ours, loop, floor = row.ways["graphcon"], row.ways["loop"], row.ways["floor"]
        over_csr = row.speedup("csr")
        table.add_row(
            f"{row.workload.name} {row.coupling}",
            f"{ours.best * 1e3:.1f} ±{ours.spread:.0%}",
            f"{row.speedup():.2f}× ±{loop.spread:.0%}",
            "-" if over_csr is None else f"{over_csr:.2f}×",
            f"{ours.best / floor.best:.2f}×",
            *("-" if way.peak_bytes is None else f"{way.peak_bytes / 1e6:.0f}" for way in (ours, loop)),
        )
    console.print(table)
    for name, values in bench.summary(found).items():
        console.print(
            f"{name}: {values['geometric_mean']:.2f} × over the loop (geometric mean), at least "
            f"{values['least']:.2f} ×, and at most {values['most_over_floor']:.2f} × the floor on zinc, superpixel "
            "and ppi",
            highlight=False,
        )
    out.parent.mkdir(parents=True, exist_ok=True)
    out.write_text(json.dumps(bench.as_json(found), indent=1) + "\n")
    console.print(f"Numbers  {out}", highlight=False)
