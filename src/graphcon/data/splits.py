"""The rules by which splits are drawn. Each takes labels or sizes and a seed, and returns a
:class:`Split`.
"""

import numpy as np
import torch
from torch import Tensor

from graphcon.data._split import Split
from graphcon.errors import InputError


def random_development(
    y: Tensor,
    seed: int,
    *,
    num_development: int = 1500,
    per_class: int = 20,
    name: str = "random-development",
) -> Split:
    """The citation graphs' protocol of the paper (after Shchur et al.): a development part at random, the
    rest test.

    Of the development nodes, `per_class` of every class are for training and the others for validation.

    Args:
        y: Class of every node.
        seed: Same seed, same split.
        num_development: How many nodes are not for test.
        per_class: How many nodes of a class are for training.
        name: What the split calls itself.
    """
    rng, labels = _generator(seed), y.numpy()
    if num_development >= len(labels):
        raise InputError(
            f"protocol {name}: {num_development} development nodes leave nothing for test, the graph has "
            f"{len(labels)} nodes. Take another protocol."
        )
    order = rng.permutation(len(labels))
    development, test = order[:num_development], order[num_development:]
    train = []
    for label in np.unique(labels):
        members = development[labels[development] == label]
        if len(members) < per_class:
            raise InputError(
                f"protocol {name}: class {label} has {len(members)} nodes among the {num_development} "
                f"development nodes, fewer than the {per_class} wanted for training. Take another protocol."
            )
        train.append(members[:per_class])
    train = np.concatenate(train)
    val = np.setdiff1d(development, train)
    return Split(name, *map(torch.from_numpy, (train, val, test)), size=len(labels), seed=seed)


def fixed(train: Tensor, val: Tensor, test: Tensor, number: int, *, name: str = "fixed") -> Split:
    """One of several published splits.

    Args:
        train: Masks [nodes, splits].
        val: Masks [nodes, splits].
        test: Masks [nodes, splits].
        number: Which one, from 0.
        name: What the split calls itself.
    """
    count = train.size(1)
    if not 0 <= number < count:
        raise InputError(
            f"protocol {name}: there are {count} published splits, numbered 0 to {count - 1}, and no split "
            f"{number}. Take a seed in that range."
        )
    return Split.from_masks(name, train[:, number], val[:, number], test[:, number], seed=number)


def consecutive(
    num_train: int,
    num_val: int,
    num_test: int,
    *,
    name: str,
    seed: int | None = None,
    val_from_train: bool = False,
) -> Split:
    """Parts that follow each other: PPI's 20/2/2, ZINC's 10,000/1,000/1,000, MNIST's 55,000/5,000/10,000
    graphs.

    With `val_from_train` the validation part is drawn from training and validation together by `seed`.
    """
    order = torch.arange(num_train + num_val)
    if val_from_train:
        order = order[torch.from_numpy(_generator(seed).permutation(len(order)))]
    size = num_train + num_val + num_test
    test = torch.arange(num_train + num_val, size)
    return Split(name, order[:num_train], order[num_train:], test, size=size, unit="graph", seed=seed)


def random_fractions(
    size: int,
    seed: int,
    *,
    train: float = 0.6,
    val: float = 0.2,
    labels: Tensor | None = None,
    candidates: Tensor | None = None,
    unit: str = "node",
    name: str = "random",
) -> Split:
    """Parts at random by their shares; what training and validation leave is test.

    Args:
        size: How many nodes or graphs there are.
        seed: Same seed, same split.
        train: Share of the training part.
        val: Share of the validation part.
        labels: Classes [size]: where given, every class is divided by these shares, or as near to them as meets
            the shares of all, and is in training at least once.
        candidates: Indices that take part, all by default; those without a label stay in no part.
        unit: What is split, ``"node"`` or ``"graph"``.
        name: What the split calls itself.
    """
    if not (0.0 < train <= 1.0 and val >= 0.0 and train + val <= 1.0 + 1e-9):
        raise InputError(
            f"--train {train:g}, --val {val:g}: a share is a number from 0 to 1, such as 0.6. That of training must "
            "be above 0, and both together at most 1."
        )
    rng = _generator(seed)
    pool = np.arange(size) if candidates is None else candidates.numpy()
    order = rng.permutation(pool)
    groups = [order]
    if labels is not None:
        of_pool = labels.numpy()[order]
        # A stable sort keeps the random order within a class.
        by_class = order[np.argsort(of_pool, kind="stable")]
        groups = np.split(by_class, np.cumsum(np.unique(of_pool, return_counts=True)[1])[:-1])
    counts = _count(np.array([len(group) for group in groups]), train, val, rng)  # [groups, 3]
    chunks = [np.split(group, np.cumsum(row)[:2]) for group, row in zip(groups, counts, strict=True)]
    index = (torch.from_numpy(np.concatenate(part)) for part in zip(*chunks, strict=True))
    return Split(name, *index, size=size, unit="graph" if unit == "graph" else "node", seed=seed)


def _count(sizes: np.ndarray, train: float, val: float, rng: np.random.Generator) -> np.ndarray:
    """How many of every class are for training, validation and test, [classes, 3]: each class by itself, unless that
    leaves a part more than a third off its share, as three of each of a hundred classes leave none for validation.
    """
    stop = np.maximum(1, np.rint(train * sizes))
    middle = np.clip(np.rint((train + val) * sizes), stop, sizes)
    counts = np.stack([stop, middle - stop, sizes - middle], axis=1).astype(np.int64)
    shares = np.array([train, val, max(0.0, 1 - train - val)]) * sizes.sum()
    if len(sizes) > 1 and (np.abs(counts.sum(axis=0) - shares) > np.maximum(1, shares / 3)).any():
        first = _hand_out(sizes, train, 1, rng)
        second = _hand_out(sizes - first, min(1.0, val / (1 - train)) if train < 1 else 0.0, 0, rng)
        counts = np.stack([first, second, sizes - first - second], axis=1)
    return counts


def _hand_out(sizes: np.ndarray, share: float, least: int, rng: np.random.Generator) -> np.ndarray:
    """The share of every class rounded down, and what the share of all has left to those that lost most by it."""
    exact = share * sizes
    counts = np.maximum(least, np.floor(exact + 1e-9)).astype(np.int64)
    left = max(0, round(float(exact.sum())) - int(counts.sum()))
    by_loss = np.lexsort((rng.random(len(sizes)), counts - exact))  # where all lost the same, at random
    counts[by_loss[:left]] += 1
    return counts


def _generator(seed: int | None) -> np.random.Generator:
    if seed is not None and seed < 0:
        raise InputError(f"--seed {seed}: must not be negative.")
    return np.random.default_rng(seed)
