"""The commands about this machine: bench, completion."""

from pathlib import Path
from typing import Annotated, Literal

import tyro

from graphcon.cli._app import app, check_folder, console
from graphcon.errors import InputError


@app.command
def bench(
    out: Annotated[Path, tyro.conf.arg(metavar="FILE")] = Path("bench.json"),
    quick: bool = False,
    threads: int | None = None,
) -> None:
    """Times training steps beside PyG's, in turn and in one process.

    How to read the table: `over loop` is how many times faster GraphCON is than the oscillator written by hand around
    the same PyG layer. `over csr` compares with that loop on PyG's sorted EdgeIndex, and for GCN with cached
    normalisation. `of floor` is the time as a multiple of the bare matrix products, which cannot be beaten. Times are
    the best of several rounds, ± how far the median lies above it. MB is how much the process grows during the step.
    Run it on an idle machine: with other work beside it the figures mean little.

    Example: graphcon bench --quick

    Args:
        out: JSON file for everything measured; the table goes beside it, as Markdown.
        quick: Fewer rounds, no largest graph and fewer steps on ppi: under two minutes.
        threads: Number of threads; as many as torch takes by default.
    """
    if out.is_dir():
        raise InputError(f"--out {out}: is a folder, but a file is needed. Name a file in it, {out / 'bench.json'}")
    if threads is not None and threads < 1:
        raise InputError(f"--threads {threads}: must be at least 1")
    check_folder(out.parent)
    from graphcon.experiments.bench_table import show

    out.parent.mkdir(parents=True, exist_ok=True)
    show(out, quick, threads, console)


@app.command
def completion(
    shell: Annotated[Literal["bash", "zsh", "tcsh"], tyro.conf.Positional, tyro.conf.arg(metavar="SHELL")], /
) -> None:
    """Prints a script with which the Tab key completes commands and options in your shell.

    Example: graphcon completion bash > ~/.local/share/bash-completion/completions/graphcon

    Example: graphcon completion zsh > ~/.zfunc/_graphcon

    Args:
        shell: bash, zsh or tcsh.
    """
    app.cli(prog="graphcon", args=["--tyro-print-completion", shell])
