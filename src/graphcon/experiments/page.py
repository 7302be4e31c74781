"""docs/results.md, made from the results that are kept: no figure on it is typed."""

import tomllib
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from graphcon._files import write_whole
from graphcon.errors import InputError
from graphcon.experiments import results
from graphcon.experiments.claims import ALONE, VERDICTS, Claim
from graphcon.experiments.coefficients import printed_coefficients
from graphcon.experiments.glance import glance
from graphcon.experiments.reproduce import facts
from graphcon.experiments.tables import PICTURES, TABLES, rows
from graphcon.experiments.verdict import PRINTED, verdicts


@cache
def notes() -> dict[str, Any]:
    """What a reader must know, by its place on the page; of ``pictures`` and ``tables`` by name."""
    return tomllib.loads((files("graphcon.experiments") / "notes.toml").read_text(encoding="utf-8"))


def write_page(out: Path, page: Path) -> None:
    """Writes the page from the results in a folder."""
    claims = verdicts(out)
    parts = [notes()["head"], f"\n## Verdict\n\n{opening(claims)}\n{notes()['verdict']}"]
    parts.append(f"\n### Figures behind the verdict\n\n{behind(claims)}\n## At a glance\n\n{notes()['glance']}\n")
    parts.append(glance({name: results.load(out, name) for name in TABLES}) or "Nothing was measured yet.\n")
    hours = sum(facts(out, name).get("hours", 0.0) for name in TABLES)
    parts.append(
        f"\n{hours:.1f} hours of training in all: the sum of the wall times of all runs, several of which ran at a "
        "time on the same cores, or waited for others.\n"
    )
    parts.append(f"\n## How to read the tables\n\n{notes()['reading']}")
    parts.append(f"\n## The paper's coefficients\n\n{notes()['coefficients']}\n{printed_coefficients()}")
    parts += [drawn(out, name, page.parent) for name in PICTURES]
    parts += [section(out, name, page.parent) for name in TABLES]
    parts.append(f"\n## How settings were found, and test data read\n\n{notes()['settings']}")
    write_whole(page, "".join(parts))


def opening(claims: list[Claim]) -> str:
    """In plain words what became of the claims; of one that is also judged with the equation alone both are told."""
    alone = {claim.text.removesuffix(ALONE): claim for claim in claims if claim.text.endswith(ALONE)}
    whole = [claim for claim in claims if not claim.text.endswith(ALONE)]
    found = {verdict: [claim for claim in whole if claim.verdict == verdict] for verdict in VERDICTS}
    counts = [f"{len(group)} {VERDICTS[verdict][len(group) > 1]}" for verdict, group in found.items() if group]
    papers = sum(not claim.text.startswith(PRINTED) for claim in whole)
    parts = [f"Of {len(whole)} statements, {papers} of them claims of the paper, {', '.join(counts)}.\n"]
    for verdict, group in found.items():
        parts += [f"\n**{verdict.capitalize()}**\n\n"] if group else []
        for claim in group:
            parts.append(f"- {claim.text}. *{claim.plain}.*\n")
            if (bare := alone.get(claim.text)) is not None:
                parts.append(f"  - With the paper's equation alone this {VERDICTS[bare.verdict][0]}. *{bare.plain}.*\n")
    return "".join(parts)


def behind(claims: list[Claim]) -> str:
    """The figures behind the claims, as a table."""
    rows = [f"| {claim.text} | **{claim.verdict}** | {claim.figures or claim.plain} |\n" for claim in claims]
    return "".join(["| statement | verdict | figures |\n|---|---|---|\n", *rows])


def drawn(out: Path, name: str, beside: Path) -> str:
    """A figure that needs no training."""
    picture = PICTURES[name]
    head = f"\n## {picture.title}\n\n{notes()['pictures'][name]}\n`graphcon reproduce {name}` draws it.\n"
    return head + _shown(out / picture.file, picture.title, beside)


def section(out: Path, name: str, beside: Path) -> str:
    """One table with how it was made."""
    table, told, runs = TABLES[name], facts(out, name), results.load(out, name)
    note = notes()["tables"].get(name)
    head = f"\n## {table.title}\n\n" + (f"{note}\n" if note else "")
    if not runs:
        return f"{head}Not measured. `graphcon reproduce {name}` runs it.\n"
    if not told:
        raise InputError(
            f"{out / name}.json: is missing, and tells how {name}.csv was made. Move {name}.csv away, too: "
            f"graphcon reproduce {name} makes both again from the runs that are kept"
        )
    versions = ", ".join(f"{package} {version}" for package, version in told["versions"].items())
    made = (
        f"`{told['command']}`: {told['spent']}. {told['runs']} runs, {told['hours']} hours on {told['cores']} cores; "
        f"the last {told['date']} with {versions}. Single runs: `{(out / name).as_posix()}.csv`.\n"
    )
    done = {run.recipe.split(" ")[0] for run in runs}
    missing = [recipe for recipe in rows(table) if recipe not in done]
    left = f"\nNot measured: {', '.join(f'`{recipe}`' for recipe in missing)}.\n" if missing else ""
    figure = _shown(out / f"{name}.png", table.title, beside)
    return f"{head}{made}\n{results.markdown(table, runs)}{left}{figure}"


def _shown(picture: Path, title: str, beside: Path) -> str:
    """A picture as a page in the folder `beside` shows it; nothing where it is not there."""
    where = Path(*[".."] * len(beside.parts)) / picture if not picture.is_absolute() else picture
    return f"\n![{title}]({where.as_posix()})\n" if picture.exists() else ""
