"""Splits: disjoint, complete, and the same for the same seed."""

from itertools import chain

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from graphcon.data import Split, splits
from graphcon.errors import InputError

FOUR_CLASSES = torch.arange(2000) % 4


def parts(split: Split) -> list[list[int]]:
    return [index.tolist() for _, index in split.parts()]


@given(seed=st.integers(0, 2**32 - 1))
def test_random_development_takes_1500_nodes_and_20_per_class(seed):
    split = splits.random_development(FOUR_CLASSES, seed)
    assert split.train.numel() + split.val.numel() == 1500
    assert FOUR_CLASSES[split.train].bincount().tolist() == [20] * 4
    assert sorted(chain(*parts(split))) == list(range(2000))
    assert parts(split) == parts(splits.random_development(FOUR_CLASSES, seed))
    assert (split.name, split.seed) == ("random-development", seed)


@given(
    labels=st.lists(st.integers(0, 3), min_size=3, max_size=200),
    train=st.floats(0.05, 0.9),
    seed=st.integers(0, 1000),
)
def test_random_fractions_use_every_node_once_and_train_on_every_class(labels, train, seed):
    y = torch.tensor(labels)
    split = splits.random_fractions(len(labels), seed, train=train, val=(1 - train) / 2, labels=y)
    assert sorted(chain(*parts(split))) == list(range(len(labels)))
    assert set(y[split.train].tolist()) == set(labels)


@given(
    sizes=st.tuples(st.integers(1, 12), st.integers(2, 150)).map(lambda found: [found[0]] * found[1]),
    shares=st.sampled_from([(0.6, 0.2), (0.8, 0.1), (0.3, 0.3), (0.7, 0.15)]),
    seed=st.integers(0, 1000),
)
def test_many_small_classes_leave_every_part_its_share(sizes, shares, seed):
    y = torch.arange(len(sizes)).repeat_interleave(torch.tensor(sizes))
    split = splits.random_fractions(y.numel(), seed, train=shares[0], val=shares[1], labels=y)
    assert set(y[split.train].tolist()) == set(range(len(sizes)))
    left = y.numel() - split.train.numel()  # what is needed to train on every class is not divided
    for index, share in ((split.val, shares[1]), (split.test, 1 - sum(shares))):
        wanted = left * share / (1 - shares[0])
        assert abs(index.numel() - wanted) <= max(2, wanted / 2)


def test_a_hundred_classes_of_three_are_split_by_the_shares_of_all():
    split = splits.random_fractions(300, 0, labels=torch.arange(300) % 100)
    assert [index.numel() for _, index in split.parts()] == [180, 60, 60]


def test_classes_that_divide_well_are_split_one_by_one():
    split = splits.random_fractions(34, 0, labels=torch.arange(34) % 2)
    assert [(split.mask(part)[::2].sum(), split.mask(part)[1::2].sum()) for part in ("train", "val", "test")] == [
        (10, 10),
        (4, 4),
        (3, 3),
    ]


@given(seed=st.integers(0, 1000))
def test_nodes_that_are_no_candidates_are_in_no_part(seed):
    candidates = torch.arange(0, 100, 3)
    split = splits.random_fractions(100, seed, candidates=candidates)
    assert sorted(chain(*parts(split))) == candidates.tolist()


def test_seeds_differ():
    first, second = (splits.random_development(FOUR_CLASSES, seed) for seed in (0, 1))
    assert parts(first) != parts(second)


def test_consecutive_parts_follow_each_other():
    split = splits.consecutive(20, 2, 2, name="published")
    assert parts(split) == [list(range(20)), [20, 21], [22, 23]]
    assert split.unit == "graph"


def test_validation_from_training_never_touches_test():
    split = splits.consecutive(923, 102, 257, name="given-test", seed=3, val_from_train=True)
    assert split.test.tolist() == list(range(1025, 1282))
    assert split.val.tolist() != list(range(923, 1025))


def test_masks_and_indices_say_the_same():
    split = splits.random_development(FOUR_CLASSES, 0)
    again = Split.from_masks("again", split.mask("train"), split.mask("val"), split.mask("test"))
    assert parts(again) == parts(split)


@pytest.mark.parametrize(
    ("train", "val", "test", "message"),
    [
        ([0, 1], [1, 2], [3], "val and train share 1 node.*the first is 1.*disjoint"),
        ([0, 1], [2], [0], "test and train share"),
        ([0, 0], [2], [3], "node 0 is twice in train"),
        ([0], [9], [3], "val holds the index 9.*5 nodes"),
        ([0], [-1], [3], "val holds the index -1"),
        ([], [1], [2], "training part is empty"),
    ],
)
def test_a_split_that_is_none_is_refused(train, val, test, message):
    with pytest.raises(InputError, match=message):
        Split("mine", torch.tensor(train), torch.tensor(val), torch.tensor(test), size=5)


def test_a_fixed_split_that_does_not_exist_is_refused():
    masks = torch.eye(3, dtype=torch.bool)[:, :, None].repeat(1, 1, 10)
    with pytest.raises(InputError, match=r"10 published splits.*no split 10"):
        splits.fixed(masks[0], masks[1], masks[2], 10)


def test_a_class_too_small_for_the_protocol_is_named():
    with pytest.raises(InputError, match=r"class 3 has .* fewer than the 20"):
        splits.random_development(torch.cat([torch.arange(2000) % 3, torch.tensor([3] * 5)]), 0)


def test_a_split_prints_what_it_is():
    assert str(splits.random_development(FOUR_CLASSES, 7)) == (
        "random-development #7: 80 / 1,420 / 500 nodes for training / validation / test"
    )
