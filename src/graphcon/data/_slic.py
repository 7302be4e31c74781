"""One image to one graph: superpixels by SLIC, exactly as many as asked for, and who is next to whom.

The processes of a build import this file and neither PyTorch nor PyG, which takes them longer than a thousand
images.
"""

from typing import Literal

import numpy as np

from graphcon.errors import InputError

Adjacency = Literal["nearest", "regions"]
NUM_SEGMENTS, NUM_NEAREST, SIDE = 75, 8, 28
# Intensities and centroids are kept as 16-bit fractions: exact to 1/65535, a quarter of the size of doubles.
FULL = 65_535
# From adaptive to nearly square: the first that yields enough regions is used.
COMPACTNESS = (0.1, 0.25, 0.5, 1.0)
# In the place of an edge that is not there.
PADDING = 255


def build_graphs(images: np.ndarray, adjacency: Adjacency) -> dict[str, np.ndarray]:
    """The arrays of some images; runs in a process of its own."""
    shape = edge_shape(adjacency)
    chunk = {
        "intensity": np.empty((len(images), NUM_SEGMENTS), dtype=np.uint16),
        "centroid": np.empty((len(images), NUM_SEGMENTS, 2), dtype=np.uint16),
        "edges": np.full((len(images), *shape), PADDING, dtype=np.uint8),
    }
    for i, pixels in enumerate(images):
        image = pixels / 255.0
        labels = segment(image, NUM_SEGMENTS)
        intensity, centroid = describe_regions(labels, image)
        chunk["intensity"][i] = np.round(intensity * FULL)
        chunk["centroid"][i] = np.round(centroid / (SIDE - 1) * FULL)
        if adjacency == "nearest":
            chunk["edges"][i] = nearest(centroid, NUM_NEAREST)
        else:
            pairs = adjacent(labels)
            chunk["edges"][i, : len(pairs)] = pairs
    return chunk


def edge_shape(adjacency: Adjacency) -> tuple[int, int]:
    # A planar graph of n nodes has at most 3n - 6 edges.
    return (NUM_SEGMENTS, NUM_NEAREST) if adjacency == "nearest" else (3 * NUM_SEGMENTS - 6, 2)


def segment(image: np.ndarray, num_segments: int = NUM_SEGMENTS) -> np.ndarray:
    """Divides an image into exactly `num_segments` connected regions.

    SLIC rarely returns the number it is asked for. It is run with growing compactness until there are at
    least that many; then the two neighbouring regions whose union raises the variance of the intensity least
    (Ward's criterion) are merged, until the number is right.

    Args:
        image: Intensities between 0 and 1, [height, width].
        num_segments: How many regions.

    Returns:
        The region of every pixel, [height, width], numbered in the order of the rows.
    """
    slic = _slic()
    labels = np.zeros(image.shape, dtype=np.int64)
    for compactness in COMPACTNESS:
        labels = slic(image, n_segments=num_segments, compactness=compactness, channel_axis=None, start_label=0)
        if labels.max() + 1 >= num_segments:
            break
    labels = labels.astype(np.int64)
    if labels.max() + 1 < num_segments:
        raise InputError(
            f"SLIC found {labels.max() + 1} regions in an image of {image.shape}, {num_segments} were "
            "wanted. Ask for fewer superpixels."
        )
    return _merge(labels, image, num_segments)


def describe_regions(labels: np.ndarray, image: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The mean intensity [regions] and the centroid (x, y) [regions, 2] of every region, in pixels."""
    flat = labels.ravel()
    size = np.bincount(flat)
    rows, columns = np.divmod(np.arange(flat.size), labels.shape[1])
    intensity = np.bincount(flat, image.ravel()) / size
    centroid = np.stack([np.bincount(flat, columns) / size, np.bincount(flat, rows) / size], axis=1)
    return intensity, centroid


def nearest(centroid: np.ndarray, k: int = NUM_NEAREST) -> np.ndarray:
    """The `k` nearest other regions of every region by centroid, the closest first, [regions, k]."""
    distance = ((centroid[:, None] - centroid[None]) ** 2).sum(axis=2)
    np.fill_diagonal(distance, np.inf)
    return np.argsort(distance, axis=1, kind="stable")[:, :k]


def adjacent(labels: np.ndarray) -> np.ndarray:
    """The pairs of regions that share a side of a pixel, the smaller number first, [pairs, 2]."""
    sides = np.concatenate(
        [
            np.stack([labels[:, :-1].ravel(), labels[:, 1:].ravel()], axis=1),
            np.stack([labels[:-1].ravel(), labels[1:].ravel()], axis=1),
        ]
    )
    sides = np.sort(sides[sides[:, 0] != sides[:, 1]], axis=1)
    keys = np.unique(sides[:, 0] * (labels.max() + 1) + sides[:, 1])
    return np.stack(np.divmod(keys, labels.max() + 1), axis=1)


def _merge(labels: np.ndarray, image: np.ndarray, num_segments: int) -> np.ndarray:
    while (count := labels.max() + 1) > num_segments:
        pairs = adjacent(labels)
        size = np.bincount(labels.ravel(), minlength=count)
        mean = np.bincount(labels.ravel(), image.ravel(), minlength=count) / size
        first, second = pairs.T
        # Among equals (the black background) the smallest union first, which keeps regions of one size.
        rise = size[first] * size[second] / (size[first] + size[second]) * (mean[first] - mean[second]) ** 2
        best = np.lexsort((size[first] + size[second], np.round(rise, 9)))[0]
        keep, drop = pairs[best]
        labels = np.where(labels == drop, keep, labels)
        labels = labels - (labels > drop)
    return labels


def _slic():
    try:
        from skimage.segmentation import slic
    except ImportError as error:
        raise InputError(
            "building superpixels needs scikit-image. Install it with: pip install 'graphcon[superpixels]'"
        ) from error
    return slic
