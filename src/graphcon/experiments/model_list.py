"""The work behind `graphcon models`: all models by name, ours and theirs."""

import json
import textwrap
from typing import Any

from rich.box import SIMPLE
from rich.console import Console
from rich.table import Table

from graphcon.couplings import REQUIRED
from graphcon.errors import InputError
from graphcon.models import MODELS, GraphNet, ModelCard, find

CHANNELS, LAYERS = 64, 4


def show(name: str | None, console: Console, as_json: bool) -> None:
    """Lists all models, or tells all about one."""
    try:
        card = None if name is None else find(name)
    except ValueError as error:
        raise InputError(str(error)) from None
    if as_json:
        rows = [describe(each) for each in (MODELS.values() if card is None else [card])]
        print(json.dumps(rows if card is None else rows[0], indent=1, ensure_ascii=False, default=str))
    elif card is None:
        _print_all(console)
    else:
        _print_one(describe(card), console)


def describe(card: ModelCard) -> dict[str, Any]:
    """What there is to say of a model, as plain values; some of it is unknown where it needs an option to be built."""
    own = {key: option.default for key, option in card.own_options.items()}
    needs = [key for key, default in own.items() if default is REQUIRED]
    net = None if needs else card.build(CHANNELS, CHANNELS, LAYERS)
    return {
        "name": card.name,
        "tasks": list(card.tasks),
        "edges": None if net is None else edge_information(net),
        "parameters": None if net is None else sum(parameter.numel() for parameter in net.core.parameters()),
        "summary": card.summary,
        "paper": card.paper,
        "needs": needs,
        "options": {key: default for key, default in own.items() if key not in needs},
        "fields": list(card.fields),
        "exceptions": dict(card.exceptions),
    }


def edge_information(net: GraphNet) -> str:
    """What a network uses of an edge, beside that it is there."""
    if net.coordinates is not None:
        return "positions"
    if net.supports_edge_attr:
        return "features"
    return "weights" if net.supports_edge_weight else "none"


def _print_all(console: Console) -> None:
    table = Table(box=SIMPLE, pad_edge=False, padding=(0, 1, 0, 0))
    table.add_column("model", no_wrap=True)
    table.add_column("for", no_wrap=True)
    table.add_column("edges", no_wrap=True)
    table.add_column("parameters", justify="right")
    table.add_column("what it is")
    for card in MODELS.values():
        told = describe(card)
        tasks = "both" if len(card.tasks) > 1 else f"{next(iter(card.tasks))}s"
        table.add_row(card.name, tasks, told["edges"], f"{told['parameters']:,}", card.summary)
    console.print(table)
    console.print(
        f"for: nodes, graphs or both. edges: what is used of them beside that they are there. parameters: between\n"
        f"encoder and decoder, at {CHANNELS} channels and {LAYERS} layers.\n"
        "All about one: graphcon models NAME. Train one: graphcon train RECIPE --model.name NAME",
        highlight=False,
    )


def _print_one(told: dict[str, Any], console: Console) -> None:
    lines = {
        "what it is": told["summary"],
        "paper": told["paper"] or "none",
        "for": " and ".join(f"{task}s" for task in told["tasks"]),
        "edges": told["edges"],
        "parameters": f"{told['parameters'] or 0:,} at {CHANNELS} channels and {LAYERS} layers",
        "needs": ", ".join(f"model.options.{key}" for key in told["needs"]),
        "options": ", ".join(f"model.options.{key} = {value}" for key, value in told["options"].items()) or "none",
        "settings": ", ".join(f"model.{field}" for field in told["fields"]) or "none",
    }
    lines |= {f"not held to {check}": reason for check, reason in told["exceptions"].items()}
    console.print(told["name"], highlight=False, style="bold")
    without = {"edges", "parameters"} if told["needs"] else {"needs"}
    for key, text in lines.items():
        if key in without:
            continue
        wrapped = textwrap.fill(text, max(40, console.width - 16), subsequent_indent=" " * 15)
        console.print(f"  {key:<13}{wrapped}", highlight=False, soft_wrap=True)
