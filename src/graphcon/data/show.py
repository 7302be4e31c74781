"""What `graphcon data` prints: tables for people, plain values for programs."""

from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Group, RenderableType
from rich.table import Table as Grid
from rich.text import Text

from graphcon._words import counted
from graphcon.data import _store
from graphcon.data._catalogue import CATALOGUE, PROTOCOL_SUMMARIES, NamedSet
from graphcon.data._kinds import MEASURES

if TYPE_CHECKING:  # the list of sets needs none of these, and is there at once
    from graphcon.data._dataset import GraphDataset
    from graphcon.data._statistics import Statistics
    from graphcon.data.tables.schema import TableSchema

_BAR, _ROWS = 30, 40
_KINDS = {"classification": "classes", "multilabel": "labels", "regression": "values"}


def list_sets(root: str | Path | None = None) -> list[dict]:
    """One record per named set: the facts, where it is, and how to get it."""
    return [describe_set(named, root) for named in CATALOGUE.values()]


def describe_set(named: NamedSet, root: str | Path | None = None) -> dict:
    """The facts about a named set, where it is on this machine (None if nowhere), and how to get it."""
    place = _place(named, root)
    return {
        "name": named.name,
        "title": named.title,
        "task": named.task,
        "kind": named.kind,
        "graphs": named.graphs,
        "nodes": named.nodes,
        "edges": named.edges,
        "features": named.features + len(named.num_categories),
        "outputs": named.outputs,
        "edge_homophily": named.edge_homophily,
        "node_homophily": named.node_homophily,
        "directed": named.directed,
        "protocols": {name: _summary(named, name) for name in named.protocols},
        "on_disk": place,
        "obtain": _obtain(named, place),
        "origin": named.origin,
        "folder": f"{named.folder}/raw",
        "files": list(named.raw_files),
        "notes": list(named.notes),
    }


def sets_table(records: list[dict]) -> RenderableType:
    """The list of named sets."""
    grid = Grid(box=None, pad_edge=False, header_style="bold", padding=(0, 2, 0, 0))
    grid.add_column("name", style="bold", no_wrap=True)
    grid.add_column("task", no_wrap=True)
    for name in ("graphs", "nodes", "edges", "features", "outputs"):
        grid.add_column(name, justify="right", no_wrap=True)
    grid.add_column("homophily", justify="right", no_wrap=True)
    grid.add_column("protocols", no_wrap=True)
    grid.add_column("where")
    for record in records:
        both = (record["edge_homophily"], record["node_homophily"])
        grid.add_row(
            record["name"],
            f"{record['task']} {_KINDS[record['kind']]}",
            *(f"{record[key]:,}" for key in ("graphs", "nodes", "edges", "features", "outputs")),
            " ".join(map(_share, both)),
            ", ".join(record["protocols"]),
            Text(record["obtain"], "green" if record["on_disk"] else "dim"),
        )
    legend = (
        "Edges: columns of edge_index, one without direction counts twice. Homophily: the share of edges "
        "that join equal classes, as the paper's tables print it; and the share of a node's neighbours, "
        "averaged (Pei et al.). More on a set: graphcon data NAME. Own tables: graphcon data --nodes N.csv "
        "--edges E.csv --target COLUMN. Made on the spot: graph-transfer-path-16 (also ring, tree; any distance), and "
        "ppi-planted from the edges of PPI."
    )
    return Group(grid, "", Text(legend, "dim"))


def set_page(record: dict) -> RenderableType:
    """The facts about a set."""
    facts = _facts()
    facts.add_row(record["name"], record["title"])
    facts.add_row("protocols", "\n".join(f"{name}: {summary}" for name, summary in record["protocols"].items()))
    counts = [f"{record[key]:,} {key}" for key in ("graphs", "nodes", "edges", "features", "outputs")]
    facts.add_row("published", ", ".join(counts))
    facts.add_row("where", record["on_disk"] or Text(record["obtain"]))
    facts.add_row("origin", record["origin"])
    if record["files"]:
        shown = ", ".join(record["files"][:4]) + (", ..." if len(record["files"]) > 4 else "")
        facts.add_row("files", f"{record['folder']}: {shown}")
    for note in record["notes"]:
        facts.add_row("note", note)
    return facts


def statistics_page(dataset: "GraphDataset", found: "Statistics") -> RenderableType:
    """Counts, degrees and balance of data that were read."""
    facts = _facts()
    facts.add_row("task", f"{dataset.task} {dataset.kind}, {dataset.num_outputs} outputs")
    facts.add_row("split", str(dataset.split))
    if found.graphs > 1:
        facts.add_row("graphs", f"{found.graphs:,}")
    facts.add_row("nodes", f"{found.nodes:,} ({counted(found.components, 'component')}, {found.isolated:,} isolated)")
    direction = "with direction" if dataset.directed else "both ways" if found.undirected else "one way"
    extra = f"{found.self_loops:,} self-loops, {found.duplicates:,} duplicates"
    facts.add_row("edges", f"{found.edges:,} ({direction}; {extra})")
    inputs = f"{dataset.num_features:,} numbers" if dataset.num_features else ""
    categories = ", ".join(map(str, dataset.num_categories))
    categories = f"categories of {categories} values" if categories else ""
    facts.add_row("features", " and ".join(filter(None, (inputs, categories))))
    if found.edge_homophily is not None:
        facts.add_row("homophily", f"{found.edge_homophily:.3f} of edges, {found.node_homophily:.3f} by nodes")
    facts.add_row("degree", f"mean {found.mean_degree:.2f}, largest {found.max_degree:,}")
    parts: list[RenderableType] = [facts, "", _bars("incoming edges", "nodes", found.degrees)]
    if dataset.kind == "regression":
        parts += ["", _values(dataset.target_names, found.balance)]
    else:
        owner = "nodes" if dataset.task == "node" else "graphs"
        parts += ["", _bars("class" if dataset.kind == "classification" else "label", owner, found.balance)]
    for note in dataset.notes:
        parts += [Text(f"• {note}", "dim")]
    return Group(*parts)


def schema_page(schema: "TableSchema") -> RenderableType:
    """What was learned about the columns of own tables."""
    grid = Grid(box=None, pad_edge=False, header_style="bold", padding=(0, 2, 0, 0))
    for name in ("column", "table", "read as", "learned on the training part"):
        grid.add_column(name)
    for table, columns in (("nodes", schema.columns), ("edges", schema.edge_columns)):
        for column in columns[:_ROWS]:
            grid.add_row(column.name, table, column.role, _learned(column))
        if len(columns) > _ROWS:
            grid.add_row(f"... {len(columns) - _ROWS} more", table, "", "")
    for name in schema.target.names:
        grid.add_row(name, "target", schema.target.kind, _shorten(schema.target.classes))
    rules = f"Missing values: {schema.missing}. Scaling: {schema.scaling}."
    return Group(grid, Text(rules, "dim"))


def dataset_record(dataset: "GraphDataset", found: "Statistics") -> dict:
    """Data that were read, as plain values."""
    split = {"name": dataset.split.name, "seed": dataset.split.seed, "unit": dataset.split.unit}
    split |= {part: index.numel() for part, index in dataset.split.parts()}
    facts = {
        "name": dataset.name,
        "task": dataset.task,
        "kind": dataset.kind,
        "directed": dataset.directed,
        "num_features": dataset.num_features,
        "num_categories": list(dataset.num_categories),
        "edge_dim": dataset.edge_dim,
        "num_edge_categories": list(dataset.num_edge_categories),
        "split": split,
        "notes": list(dataset.notes),
    }
    return facts | {"statistics": found.to_dict()}


def _place(named: NamedSet, root: str | Path | None) -> str | None:
    raw = _store.find_raw(named, root)
    if raw is not None:
        return str(raw)
    if named.name == "mnist-superpixels":
        built = _store.find_built(root)
        if built is not None:
            return str(built)
    if named.reader == "ogb":
        folder = _store.cache_folder() / named.folder / named.folder
        return str(folder) if (folder / "raw").is_dir() else None
    return "inside the package" if named.is_embedded else None


def _summary(named: NamedSet, protocol: str) -> str:
    summary = PROTOCOL_SUMMARIES[protocol]
    return summary if named.sizes is None else f"{summary}: {' / '.join(f'{size:,}' for size in named.sizes)} graphs"


def _obtain(named: NamedSet, place: str | None) -> str:
    if named.is_embedded:
        return "in the package"
    if place is not None:
        return "on disk"
    if named.name == "mnist-superpixels":
        return "to build, or to fetch"
    return f"to fetch, with graphcon[{named.extra}]" if named.extra else "to fetch"


def _share(value: float | None) -> str:
    return "  – " if value is None else f"{value:.2f}"


def _facts() -> Grid:
    grid = Grid(box=None, show_header=False, pad_edge=False, padding=(0, 2, 0, 0))
    grid.add_column(style="bold", no_wrap=True)
    grid.add_column()
    return grid


def _bars(name: str, unit: str, counts: tuple[tuple[str, float], ...]) -> RenderableType:
    grid = Grid(box=None, pad_edge=False, header_style="bold", padding=(0, 2, 0, 0))
    grid.add_column(name)
    grid.add_column(unit, justify="right")
    grid.add_column("")
    largest = max((count for _, count in counts), default=0) or 1
    for label, count in counts[:_ROWS]:
        grid.add_row(label, f"{count:,.0f}", Text("█" * round(_BAR * count / largest), "cyan"))
    if len(counts) > _ROWS:
        grid.add_row(f"... {len(counts) - _ROWS} more", "", "")
    return grid


def _values(names: tuple[str, ...], measured: tuple[tuple[str, float], ...]) -> RenderableType:
    """A row per target, with its minimum, mean, standard deviation and maximum."""
    grid = Grid(box=None, pad_edge=False, header_style="bold", padding=(0, 2, 0, 0))
    grid.add_column("target")
    for label in MEASURES:
        grid.add_column(label, justify="right")
    numbers = [f"{value:.4g}" for _, value in measured]
    rows = [numbers[first : first + len(MEASURES)] for first in range(0, len(numbers), len(MEASURES))]
    for place, row in enumerate(rows):
        grid.add_row(names[place] if names else f"value {place}", *row)
    return grid


def _learned(column) -> str:
    if column.role in ("category", "index", "words"):
        return f"{len(column.categories):,} {'words' if column.role == 'words' else 'categories'}: " + _shorten(
            column.categories
        )
    if column.role == "vector":
        return f"{column.width} numbers"
    if column.role == "date":
        from graphcon.data.tables.dates import as_date

        return f"(x - {as_date(column.shift[0])}) / {column.scale[0]:.4g} days"
    sign, shift = "+" if column.shift[0] < 0 else "-", abs(column.shift[0])
    return f"(x {sign} {shift:.4g}) / {column.scale[0]:.4g}" if column.role == "number" else "0 or 1"


def _shorten(values: tuple[str, ...], limit: int = 6) -> str:
    return ", ".join(values[:limit]) + (", ..." if len(values) > limit else "")
