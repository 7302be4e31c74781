"""Superpixel graphs: exactly 75 connected regions, the same however they are built."""

import errno
import gzip
import json
import os
import pickle

import numpy as np
import pytest
import torch
from filelock import FileLock
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import ndimage
from torch_geometric.loader import DataLoader
from torch_geometric.utils import is_undirected

from graphcon import cli, data
from graphcon.data import _slic, superpixels
from graphcon.errors import InputError


def picture(seed: int) -> np.ndarray:
    """A few strokes, as bytes."""
    rng = np.random.default_rng(seed)
    image = np.zeros((28, 28))
    for _ in range(rng.integers(0, 5)):
        row, column = rng.integers(4, 24, 2)
        image[row - 2 : row + rng.integers(1, 8), column : column + rng.integers(1, 4)] = rng.uniform(0.3, 1)
    return np.round(ndimage.gaussian_filter(image, 0.7) * 255).clip(0, 255).astype(np.uint8)


@pytest.fixture(scope="session")
def images(tmp_path_factory):
    """The four idx files of MNIST in their layout, with pictures of our own and blanks after them."""
    raw = tmp_path_factory.mktemp("root") / "mnist" / "raw"
    raw.mkdir(parents=True)
    for name, count in superpixels._FILES.items():
        shape = (count, 28, 28) if "images" in name else (count,)
        values = np.zeros(shape, dtype=np.uint8)
        for i in range(60):
            values[i] = picture(i) if "images" in name else i % 10
        header = bytes([0, 0, 8, len(shape)]) + b"".join(size.to_bytes(4, "big") for size in shape)
        (raw / f"{name}.gz").write_bytes(gzip.compress(header + values.tobytes(), 1))
    return raw.parents[1]


@settings(deadline=None, max_examples=25)
@given(seed=st.integers(0, 1000))
def test_an_image_becomes_exactly_75_connected_regions(seed):
    image = picture(seed) / 255
    labels = _slic.segment(image, 75)
    assert sorted(np.unique(labels)) == list(range(75))
    assert all(ndimage.label(labels == region)[1] == 1 for region in range(75))
    intensity, centroid = _slic.describe_regions(labels, image)
    assert (intensity * np.bincount(labels.ravel())).sum() == pytest.approx(image.sum())
    assert centroid.min() >= 0
    assert centroid.max() <= 27


def test_regions_that_touch_are_those_that_share_a_side():
    labels = np.array([[0, 0, 1], [2, 2, 1], [3, 2, 1]])
    assert _slic.adjacent(labels).tolist() == [[0, 1], [0, 2], [1, 2], [2, 3]]


def test_nearest_regions_are_nearest():
    centroid = np.random.default_rng(0).uniform(size=(75, 2))
    nearest = _slic.nearest(centroid, 8)
    distance = np.linalg.norm(centroid[:, None] - centroid[None], axis=2)
    for node in range(75):
        others = np.delete(np.arange(75), node)
        assert set(nearest[node]) == set(others[np.argsort(distance[node, others])[:8]])


@pytest.mark.parametrize("adjacency", ["nearest", "regions"])
def test_a_built_graph_is_what_its_image_says(images, tmp_path, adjacency):
    folder = superpixels.build(images, tmp_path / "built", adjacency=adjacency, workers=1, limit=28)
    graphs = superpixels.SuperpixelGraphs(folder)
    assert (len(graphs), graphs.sizes) == (28, (22, 2, 4))
    for place in (0, 5):
        image = picture(place) / 255
        labels = _slic.segment(image, 75)
        intensity, centroid = _slic.describe_regions(labels, image)
        graph = graphs[place]
        assert graph.x.shape == (75, 3)
        assert graph.x[:, 0].numpy() == pytest.approx(intensity, abs=1e-5)
        assert graph.pos.numpy() == pytest.approx(centroid / 27, abs=1e-5)
        assert graph.y.tolist() == [place % 10]
        if adjacency == "regions":
            pairs = {tuple(pair) for pair in graph.edge_index.t().tolist()}
            assert pairs == {(a, b) for x, y in _slic.adjacent(labels).tolist() for a, b in ((x, y), (y, x))}
            assert is_undirected(graph.edge_index)
        else:
            assert graph.edge_index.shape == (2, 600)
            assert graph.edge_index[0].view(75, 8).tolist() == _slic.nearest(centroid, 8).tolist()
    assert next(iter(DataLoader(list(graphs), batch_size=4))).num_graphs == 4
    sent = pickle.dumps(graphs)
    assert len(sent) < 1000  # the folder's name, not its content
    assert torch.equal(pickle.loads(sent)[3].x, graphs[3].x)


def contents(folder):
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


def test_a_build_that_was_stopped_goes_on_and_ends_the_same(images, tmp_path, monkeypatch):
    monkeypatch.setattr(superpixels, "CHUNK", 10)
    whole = superpixels.build(images, tmp_path / "whole", workers=1, limit=42)
    seen = []

    def stop(done, total):
        seen.append(done)
        if done == 20:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        superpixels.build(images, tmp_path / "stopped", workers=1, limit=42, report=stop)
    assert not (tmp_path / "stopped").exists()
    seen.clear()
    again = superpixels.build(images, tmp_path / "stopped", workers=1, limit=42, report=lambda *n: seen.append(n[0]))
    assert seen[0] == 20
    assert seen[-1] == 42
    assert contents(again) == contents(whole)


def test_a_build_that_was_stopped_when_all_was_done_is_not_made_again(images, tmp_path):
    whole = superpixels.build(images, tmp_path / "whole", workers=1, limit=14)
    before = contents(whole)
    np.save(whole / "done.npy", np.ones(1, np.uint8))
    whole.rename(tmp_path / "whole.partial")
    seen = []
    superpixels.build(images, tmp_path / "whole", workers=1, limit=14, report=lambda *n: seen.append(n))
    assert contents(whole) == before
    assert seen == []


def test_a_full_disk_is_told_before_any_graph_is_made(images, tmp_path, monkeypatch, capsys):
    def full(*_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "posix_fallocate", full, raising=False)
    command = ["data", "build", "mnist-superpixels", "--data-root", str(images), "--out", str(tmp_path / "b")]
    assert cli.main([*command, "--limit", "14", "--workers", "1"]) == 2
    assert f"{tmp_path / 'b.partial' / 'intensity.npy'}: No space left on device" in capsys.readouterr().err
    monkeypatch.undo()
    assert cli.main([*command, "--limit", "14", "--workers", "1"]) == 0


def test_a_finished_build_is_not_taken_for_another(images, tmp_path, capsys):
    out = ["--data-root", str(images), "--out", str(tmp_path / "b"), "--workers", "1"]
    assert cli.main(["data", "build", "mnist-superpixels", *out, "--limit", "14"]) == 0
    for options in (["--limit", "28"], [], ["--limit", "14", "--adjacency", "regions"]):
        assert cli.main(["data", "build", "mnist-superpixels", *out, *options]) == 2
        assert "holds a build of 14 images with --adjacency nearest, not of" in capsys.readouterr().err


@pytest.mark.parametrize("workers", [0, -1])
def test_a_build_needs_a_process(images, tmp_path, workers):
    with pytest.raises(InputError, match=f"--workers {workers}: must be at least 1"):
        superpixels.build(images, tmp_path / "b", workers=workers, limit=14)
    assert list(tmp_path.iterdir()) == []


def test_damaged_arrays_are_told_with_the_folder_to_delete(images, tmp_path):
    built = superpixels.build(images, tmp_path / "b", workers=1, limit=14)
    array = built / "centroid.npy"
    array.write_bytes(array.read_bytes()[:200])
    with pytest.raises(InputError, match="b: is a damaged build .* Delete it and build it again"):
        superpixels.SuperpixelGraphs(built)
    (built / "build.json").unlink()
    built.rename(tmp_path / "b.partial")
    with pytest.raises(InputError, match="centroid.npy: is damaged .* Delete .*b.partial and start again"):
        superpixels.build(images, tmp_path / "b", workers=1, limit=14)


def test_a_build_is_made_by_one_process_at_a_time(images, tmp_path):
    (tmp_path / "b.partial").mkdir()
    with FileLock(tmp_path / "b.partial" / ".lock"), pytest.raises(InputError, match="another process is building"):
        superpixels.build(images, tmp_path / "b", workers=1, limit=14)


def test_processes_and_one_process_build_the_same(images, tmp_path, monkeypatch):
    monkeypatch.setattr(superpixels, "CHUNK", 10)
    one = superpixels.build(images, tmp_path / "one", workers=1, limit=28)
    two = superpixels.build(images, tmp_path / "two", workers=2, limit=28)
    assert contents(one) == contents(two)


def test_the_command_builds_and_a_finished_build_is_left_alone(images, tmp_path, capsys):
    command = ["data", "build", "mnist-superpixels", "--data-root", str(images), "--out", str(tmp_path / "b")]
    command += ["--limit", "14", "--workers", "1"]
    assert cli.main(command) == 0
    assert "14 graphs in" in capsys.readouterr().out.replace("\n", " ")
    before = contents(tmp_path / "b")
    assert cli.main(command) == 0
    assert contents(tmp_path / "b") == before


def test_a_finished_build_is_found_below_the_roots_and_split_as_the_paper_does(images, tmp_path, monkeypatch):
    monkeypatch.setenv("GRAPHCON_CACHE", str(tmp_path))
    folder = tmp_path / "mnist_superpixels" / "slic75-nearest"
    superpixels.build(images, folder, workers=1, limit=14)
    dataset = data.load("mnist-superpixels", download=False)
    assert [index.numel() for _, index in dataset.split.parts()] == [11, 1, 2]
    assert dataset.directed
    assert dataset.num_features == 3
    assert "not the construction of the paper" in dataset.notes[0]
    facts = json.loads((folder / "build.json").read_text())
    facts["sizes"] = [55_000, 5000, 10_000]
    assert data.splits.consecutive(*facts["sizes"], name="published").size == 70_000


def test_without_images_or_with_bad_ones_the_message_names_the_files(images, tmp_path):
    with pytest.raises(InputError, match=r"train-images-idx3-ubyte.gz.*into .*mnist/raw"):
        superpixels.build(tmp_path, tmp_path / "out")
    raw = tmp_path / "mnist" / "raw"
    raw.mkdir(parents=True)
    for path in (images / "mnist" / "raw").iterdir():
        (raw / path.name).write_bytes(path.read_bytes() if "labels" in path.name else gzip.compress(b"nothing"))
    with pytest.raises(InputError, match=r"train-images-idx3-ubyte.gz: is not the idx file of 60000 images"):
        superpixels.build(tmp_path, tmp_path / "out")


def test_real_digits_become_75_superpixels_too(benchmark_root, tmp_path):
    graphs = superpixels.SuperpixelGraphs(superpixels.build(benchmark_root, tmp_path / "b", workers=1, limit=140))
    assert all(graph.num_nodes == 75 for graph in graphs)
    assert graphs[0].y.item() == 5  # the first digit of MNIST
    assert all(torch.isfinite(graph.x).all() for graph in graphs)
