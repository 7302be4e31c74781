"""Whatever stands in the files: data, or an error that a user can cure. Nothing else."""

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from graphcon.data import read_tables
from graphcon.errors import InputError

CELLS = [
    "",
    "0",
    "1",
    "2",
    "-1",
    "1.5",
    "nan",
    "inf",
    "1e400",
    "x",
    "y z w",
    "true",
    "False",
    "train",
    "test",
    " ",
    "é",
]
CELLS += ['"a,b"', '"', "2020-01-01", "9" * 25, "NA", "0x1", "1_000", "'", "\\", "[1, 2]", "a;b;c"]
NAMES = ["id", "source", "target", "label", "split", "graph_id", "weight", "f", "", "1", "node", "f"]

cell, name = st.sampled_from(CELLS), st.sampled_from(NAMES)


@st.composite
def tables(draw) -> str:
    """A table that is mostly one: named columns, rows of their number, now and then a slip."""
    width = draw(st.integers(1, 5))
    header = draw(st.lists(name, min_size=width, max_size=width, unique=draw(st.booleans())))
    rows = draw(st.lists(st.lists(cell, min_size=width, max_size=width), max_size=8))
    if draw(st.integers(0, 9)) == 0:
        rows.append(draw(st.lists(cell, max_size=7)))
    ends = draw(st.sampled_from(["\n", "\r\n", "\n\n", "\r"]))
    return draw(st.sampled_from([",", ",", ",", ";", "\t"])).join(header) + ends + ends.join(map(",".join, rows))


@st.composite
def graphs(draw) -> tuple[str, str]:
    """A node and an edge table that fit, with features of any kind."""
    count = draw(st.integers(3, 8))
    width = draw(st.integers(1, 3))
    column = [draw(st.lists(cell, min_size=count, max_size=count)) for _ in range(width)]
    label = draw(st.lists(st.sampled_from(["u", "v", "", "1", "2.5"]), min_size=count, max_size=count))
    rows = [",".join([str(i), *(values[i] for values in column), label[i]]) for i in range(count)]
    nodes = ",".join(["id", *(f"f{i}" for i in range(width)), "label"]) + "\n" + "\n".join(rows) + "\n"
    ends = draw(st.lists(st.tuples(st.integers(0, count), st.integers(0, count - 1)), min_size=1, max_size=9))
    return nodes, "source,target\n" + "".join(f"{a},{b}\n" for a, b in ends)


options = st.fixed_dictionaries(
    {
        "missing": st.sampled_from(["error", "mean", "zero"]),
        "scaling": st.sampled_from(["standard", "minmax", "none"]),
        "kind": st.sampled_from([None, "classification", "regression", "multilabel"]),
        "directed": st.booleans(),
        "degree": st.booleans(),
    }
)
relaxed = settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


def read(folder, nodes: str, edges: str, chosen: dict) -> None:
    (folder / "n.csv").write_text(nodes, newline="")
    (folder / "e.csv").write_text(edges, newline="")
    try:
        dataset, schema = read_tables(folder / "n.csv", folder / "e.csv", target="label", **chosen)
    except InputError:
        return
    assert all(data.x is None or data.x.isfinite().all() for data in dataset.graphs)
    schema.apply(folder / "n.csv", folder / "e.csv")


@relaxed
@given(nodes=tables(), edges=tables(), chosen=options)
def test_any_two_tables_are_data_or_an_error_with_a_cure(tmp_path, nodes, edges, chosen):
    read(tmp_path, nodes, edges, chosen)


@relaxed
@given(graph=graphs(), chosen=options)
def test_any_features_are_data_or_an_error_with_a_cure(tmp_path, graph, chosen):
    read(tmp_path, *graph, chosen)
