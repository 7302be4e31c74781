"""The paper's sets on their real files, and what happens without them."""

import hashlib
import os
import pickle
import shutil
import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
import torch
from torch_geometric.datasets import WebKB
from torch_geometric.loader import DataLoader
from torch_geometric.utils import homophily

from graphcon import data
from graphcon.data import _store
from graphcon.errors import InputError

# Homophily levels as printed in the paper's two tables.
PAPER_LEVELS = {
    "cora": 0.81,
    "citeseer": 0.74,
    "pubmed": 0.80,
    "texas": 0.11,
    "wisconsin": 0.21,
    "cornell": 0.30,
}
COUNTS = {
    "cora": (2708, 10_556, 1433, 7),
    "citeseer": (3327, 9104, 3703, 6),
    "pubmed": (19_717, 88_648, 500, 3),
    "texas": (183, 325, 1703, 5),
    "wisconsin": (251, 515, 1703, 5),
    "cornell": (183, 298, 1703, 5),
    "cornell-fixed": (183, 298, 1703, 5),
}
LARGEST = {"cora": 2485, "citeseer": 2120, "pubmed": 19_717}


def whole(name, root):
    return data.load(name, root, protocol="public" if name in LARGEST else None)


@pytest.mark.parametrize("name", COUNTS)
def test_counts_are_the_published_ones_and_those_of_the_catalogue(name, benchmark_root):
    found, facts = data.statistics(whole(name, benchmark_root)), data.describe(name)
    assert (found.nodes, found.edges, found.features, found.outputs) == COUNTS[name]
    assert (facts.nodes, facts.edges, facts.features, facts.outputs) == COUNTS[name]
    assert facts.edge_homophily == pytest.approx(found.edge_homophily, abs=6e-5)
    assert facts.node_homophily == pytest.approx(found.node_homophily, abs=6e-5)


@pytest.mark.parametrize("name", PAPER_LEVELS)
def test_edge_homophily_is_the_level_that_the_paper_prints(name, benchmark_root):
    graph = whole(name, benchmark_root).data
    assert round(data.edge_homophily(graph.edge_index, graph.y), 2) == PAPER_LEVELS[name]


@pytest.mark.parametrize("name", ["cora", "pubmed"])
def test_node_homophily_agrees_with_pyg(name, benchmark_root):
    graph = whole(name, benchmark_root).data
    assert data.node_homophily(graph.edge_index, graph.y) == pytest.approx(
        homophily(graph.edge_index, graph.y, method="node"), abs=1e-6
    )


@pytest.mark.parametrize("name", LARGEST)
def test_the_papers_protocol_uses_the_largest_component(name, benchmark_root):
    citation = data.load(name, benchmark_root, seed=4)
    assert citation.data.num_nodes == LARGEST[name]
    assert citation.split.seed == 4
    assert data.statistics(citation).components == 1
    assert citation.data.y[citation.split.train].bincount().tolist() == [20] * citation.num_outputs
    assert not torch.equal(citation.with_split(5).split.test, citation.split.test)
    assert "train_mask" not in citation.data


def test_the_public_split_has_its_sizes(benchmark_root):
    for name, num_train in (("cora", 140), ("citeseer", 120), ("pubmed", 60)):
        split = data.load(name, benchmark_root, protocol="public").split
        assert (split.train.numel(), split.val.numel(), split.test.numel()) == (num_train, 500, 1000)


def test_the_ten_web_page_splits_are_those_of_the_files(benchmark_root, tmp_path):
    shutil.copytree(benchmark_root / "webkb" / "texas" / "raw", tmp_path / "texas" / "raw")
    theirs = WebKB(str(tmp_path), "texas")[0]
    ours = data.load("texas", benchmark_root)
    for number in range(10):
        split = ours.with_split(number).split
        assert torch.equal(split.mask("train"), theirs.train_mask[:, number])
        assert torch.equal(split.mask("test"), theirs.test_mask[:, number])
    with pytest.raises(InputError, match="no split 10"):
        ours.with_split(10)


def test_cornell_carries_the_labels_of_texas_and_the_fixed_one_does_not(benchmark_root):
    texas, cornell, repaired = (data.load(name, benchmark_root).data for name in ("texas", "cornell", "cornell-fixed"))
    assert torch.equal(texas.x, cornell.x)
    assert torch.equal(texas.y, cornell.y)
    assert not torch.equal(cornell.x, repaired.x)


def test_zinc_is_split_as_published_and_says_that_its_input_is_categorical(benchmark_root):
    zinc = data.load("zinc", benchmark_root)
    assert [index.numel() for _, index in zinc.split.parts()] == [10_000, 1000, 1000]
    found, facts = data.statistics(zinc), data.describe("zinc")
    assert (found.nodes, found.edges) == (facts.nodes, facts.edges)
    assert zinc.num_features == 0
    numbers, categories = zinc.inputs(zinc.graphs[0])
    assert numbers is None
    assert max(int(graph.x.max()) for graph in zinc.graphs) < zinc.num_categories[0]
    assert max(int(graph.edge_attr.max()) for graph in zinc.graphs) < zinc.num_edge_categories[0]
    assert categories.shape[1] == 1
    # The parts are PyG's data sets one after another.
    assert torch.equal(zinc.graphs[10_999].x, zinc.part("val")[999].x)
    assert torch.equal(zinc.graphs[-1].x, zinc.part("test")[999].x)
    assert torch.equal(zinc.graphs[9_999:10_001][1].x, zinc.part("val")[0].x)
    batch = next(iter(DataLoader(zinc.part("val"), batch_size=32)))
    assert batch.num_graphs == 32


def test_direction_is_the_users_choice(benchmark_root):
    directed, undirected = (
        data.load("texas", benchmark_root),
        data.load("texas", benchmark_root, directed=False),
    )
    assert (directed.directed, undirected.directed) == (True, False)
    assert data.statistics(undirected).undirected
    assert undirected.data.num_edges > directed.data.num_edges
    with pytest.raises(InputError, match="no directions"):
        data.load("cora", directed=True)


def snapshot(folder: Path) -> dict[str, str]:
    return {
        str(path): hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else "folder"
        for path in folder.rglob("*")
    }


def test_a_raw_root_is_never_written_to(benchmark_root, tmp_path):
    root = tmp_path / "root"
    for name in ("webkb/texas", "planetoid/cora"):
        shutil.copytree(benchmark_root / name, root / name)
    before = snapshot(root)
    data.load("texas", root)
    data.load("cora", root, protocol="public")
    assert snapshot(root) == before


def test_the_environment_names_a_root_too(benchmark_root, monkeypatch):
    monkeypatch.setenv("GRAPHCON_DATA", str(benchmark_root))
    assert data.load("wisconsin").data.num_nodes == 251


def test_a_damaged_file_is_named(benchmark_root, tmp_path):
    shutil.copytree(benchmark_root / "webkb" / "texas", tmp_path / "webkb" / "texas")
    file = tmp_path / "webkb" / "texas" / "raw" / "out1_graph_edges.txt"
    os.chmod(file, 0o644)
    file.write_text(file.read_text()[:-5])
    with pytest.raises(InputError, match=r"out1_graph_edges.txt: its checksum .* Delete it and fetch it again"):
        data.load("texas", tmp_path)


def test_a_missing_set_names_the_folder_and_the_files(tmp_path):
    with pytest.raises(InputError) as caught:
        data.load("texas", tmp_path, download=False)
    message = str(caught.value)
    assert str(tmp_path / "webkb" / "texas" / "raw") in message
    assert "out1_node_feature_label.txt" in message
    assert "12 files" in message


def test_a_folder_that_lacks_files_is_told_which(tmp_path):
    raw = tmp_path / "planetoid" / "citeseer" / "raw"
    raw.mkdir(parents=True)
    (raw / "ind.citeseer.x").touch()
    with pytest.raises(InputError, match=r"lacks ind.citeseer.tx, ind.citeseer.allx"):
        data.load("citeseer", tmp_path, download=False)


def test_a_network_that_is_not_there_is_an_error_with_a_cure(tmp_path, monkeypatch):
    monkeypatch.setattr(WebKB, "url", "http://127.0.0.1:9")
    monkeypatch.setenv("GRAPHCON_CACHE", str(tmp_path))
    with pytest.raises(InputError, match=r"could not be fetched .* Put out1_node_feature_label.txt"):
        data.load("wisconsin")


@pytest.fixture
def publisher(benchmark_root, tmp_path):
    """A server with the files of Texas in the publisher's layout."""
    raw, site = benchmark_root / "webkb" / "texas" / "raw", tmp_path / "site"
    (site / "new_data" / "texas").mkdir(parents=True)
    (site / "splits").mkdir()
    for file in raw.iterdir():
        shutil.copy(file, site / ("new_data/texas" if file.name.startswith("out1") else "splits"))
    handler = partial(SimpleHTTPRequestHandler, directory=str(site))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield site, f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


def test_a_download_lands_in_the_cache_and_is_found_again(publisher, tmp_path, monkeypatch):
    _, url = publisher
    monkeypatch.setenv("GRAPHCON_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(WebKB, "url", url)
    assert data.load("texas").data.num_nodes == 183
    assert (tmp_path / "cache" / "webkb" / "texas" / "raw" / "out1_graph_edges.txt").is_file()
    monkeypatch.setattr(WebKB, "url", "http://127.0.0.1:9")
    assert data.load("texas", download=False).data.num_nodes == 183


def test_a_download_completes_a_folder_that_lacks_files(publisher, tmp_path, monkeypatch):
    _, url = publisher
    raw = tmp_path / "cache" / "webkb" / "texas" / "raw"
    raw.mkdir(parents=True)
    (raw / "out1_graph_edges.txt").write_text("half")
    monkeypatch.setenv("GRAPHCON_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(WebKB, "url", url)
    assert data.load("texas").data.num_edges == 325


def test_what_a_stop_left_of_a_set_that_was_being_prepared_is_made_anew(benchmark_root, tmp_path, monkeypatch):
    monkeypatch.setenv("GRAPHCON_CACHE", str(tmp_path))
    before = data.load("texas", root=benchmark_root).data
    for file in tmp_path.rglob("processed/*.pt"):
        file.write_bytes(file.read_bytes()[:100])
    after = data.load("texas", root=benchmark_root).data
    assert torch.equal(after.x, before.x)
    assert torch.equal(after.edge_index, before.edge_index)


def test_a_data_set_can_be_sent_to_another_process(benchmark_root):
    dataset = pickle.loads(pickle.dumps(data.load("citeseer", benchmark_root)))
    assert dataset.with_split(3).split.seed == 3


def test_a_download_with_another_checksum_is_refused(publisher, tmp_path, monkeypatch):
    site, url = publisher
    edges = site / "new_data" / "texas" / "out1_graph_edges.txt"
    os.chmod(edges, 0o644)
    edges.write_text(edges.read_text().replace("58", "59"))
    monkeypatch.setenv("GRAPHCON_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(WebKB, "url", url)
    with pytest.raises(InputError, match=r"out1_graph_edges.txt: its checksum"):
        data.load("texas")
    assert not (tmp_path / "cache" / "webkb").exists()


@pytest.fixture
def own_set(tmp_path, monkeypatch):
    """A set of two files whose checksums nobody published, and an empty cache."""
    monkeypatch.setenv("GRAPHCON_CACHE", str(tmp_path / "cache"))
    return replace(data.describe("texas"), name="own", folder="own", reader_folder=".", raw_files=("a", "b"))


def write_two(place: Path) -> None:
    (place / "raw").mkdir()
    for name in ("a", "b"):
        (place / "raw" / name).write_text(name)


def read_together(start: threading.Barrier, named, raw: Path) -> Path:
    start.wait()
    return _store.reader_root(named, raw)


def test_several_readers_can_be_first_to_read_a_set_together(tmp_path, monkeypatch):
    named, threads = data.describe("texas"), 8
    for file in named.raw_files:
        (tmp_path / file).touch()
    for attempt in range(5):
        monkeypatch.setenv("GRAPHCON_CACHE", str(tmp_path / f"cache-{attempt}"))
        start = threading.Barrier(threads)
        with ThreadPoolExecutor(threads) as pool:
            futures = [pool.submit(read_together, start, named, tmp_path) for _ in range(threads)]
            (place,) = {future.result() for future in futures}
        assert {link.name for link in (place / named.reader_folder / "raw").iterdir()} == set(named.raw_files)


def test_a_download_that_ends_half_way_leaves_its_checksums(own_set, tmp_path):
    raw = tmp_path / "cache" / "own" / "raw"
    (raw / "b").mkdir(parents=True)  # where the second file cannot go
    with pytest.raises(OSError, match="directory"):
        _store.fetch(own_set, write_two, None)
    (raw / "b").rmdir()
    (raw / "b").write_text("half")
    with pytest.raises(InputError, match=r"raw/b: its checksum"):
        _store.verify(own_set, raw)


@pytest.mark.parametrize("content", ['{"a": "12', "[1]", "7"])
def test_damaged_checksums_are_told_as_such(content, own_set):
    raw = _store.fetch(own_set, write_two, None)
    _store.verify(own_set, raw)
    (raw / "checksums.json").write_text(content)
    with pytest.raises(InputError, match=r"checksums.json: is damaged.* Delete the folder"):
        _store.verify(own_set, raw)


def test_unknown_names_and_protocols_get_a_suggestion():
    with pytest.raises(InputError, match="Did you mean 'citeseer'"):
        data.load("citseer")
    with pytest.raises(InputError, match=r"cora has no protocol 'fixed'. It has: random-development, public"):
        data.load("cora", protocol="fixed")
    with pytest.raises(InputError, match="no such folder"):
        data.load("texas", "/no/such/folder")


def test_every_set_of_the_catalogue_names_protocols_and_a_reader_that_exist():
    from torch_geometric import datasets

    for name in data.names():
        facts = data.describe(name)
        assert set(facts.protocols) <= set(data.PROTOCOLS)
        assert facts.reader in ("embedded", "ogb") or hasattr(datasets, facts.reader)
        assert facts.sizes is None or sum(facts.sizes) == facts.graphs
