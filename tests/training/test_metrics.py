"""Metrics against their definition and against cases worked out by hand."""

import math

import pytest
import torch
import torch.nn.functional as F

from graphcon._words import shown
from graphcon.training.metrics import AreaUnderCurve, ExplainedShare, LogLoss, MeanPrecision, mean_and_sd


def test_the_area_under_the_curve_is_the_one_against_all_others():
    torch.manual_seed(0)
    scores, target = torch.randn(60, 3).softmax(-1), torch.randint(3, (60,))
    metric = AreaUnderCurve(3)
    for part in (slice(0, 25), slice(25, 60)):  # in two batches
        metric.update(scores[part], target[part])
    shares = []  # of the pairs of a case of the class and another, those that the scores put in the right order
    for k in range(3):
        own, others = scores[target == k, k], scores[target != k, k]
        shares.append((own[:, None] > others).float().mean())
    assert math.isclose(float(metric.compute()), float(torch.stack(shares).mean()), abs_tol=1e-6)


def test_a_class_without_a_case_has_no_share_in_the_mean():
    scores = torch.tensor([[0.7, 0.2, 0.1], [0.6, 0.3, 0.1], [0.1, 0.8, 0.1], [0.3, 0.6, 0.1]])
    metric = AreaUnderCurve(3)
    metric.update(scores, torch.tensor([0, 0, 1, 1]))  # perfectly apart, and nothing of the third
    assert float(metric.compute()) == 1.0


def test_of_labels_that_all_have_or_none_has_nothing_can_be_said():
    metric = AreaUnderCurve(2)
    metric.update(torch.rand(5, 2), torch.tensor([[0, 1]] * 5))
    assert math.isnan(float(metric.compute()))


def test_the_log_loss_of_classes_is_the_cross_entropy():
    torch.manual_seed(0)
    scores, target = torch.randn(60, 3), torch.randint(3, (60,))
    metric = LogLoss()
    for part in (slice(0, 25), slice(25, 60)):  # in two batches
        metric.update(scores[part].softmax(-1), target[part])
    assert math.isclose(float(metric.compute()), float(F.cross_entropy(scores, target)), rel_tol=1e-5)


def test_the_log_loss_of_labels_is_the_binary_cross_entropy():
    torch.manual_seed(0)
    scores, target = torch.randn(60, 3), torch.randint(2, (60, 3))
    metric = LogLoss()
    metric.update(scores.sigmoid(), target)
    assert math.isclose(
        float(metric.compute()), float(F.binary_cross_entropy_with_logits(scores, target.float())), rel_tol=1e-5
    )


def test_the_log_loss_of_what_was_held_impossible_is_finite():
    metric = LogLoss()
    metric.update(torch.tensor([[1.0, 0.0]]), torch.tensor([1]))
    assert 10 < float(metric.compute()) < 20


def test_the_log_loss_of_a_probability_that_is_no_number_is_none():
    metric = LogLoss()
    metric.update(torch.tensor([[0.9, 0.1], [math.nan, math.nan]]), torch.tensor([0, 1]))
    assert math.isnan(float(metric.compute()))


def test_of_a_single_target_no_variance_can_be_explained():
    metric = ExplainedShare()
    metric.update(torch.tensor([[1.0]]), torch.tensor([[2.0]]))
    assert math.isnan(float(metric.compute()))
    metric.update(torch.tensor([[4.0]]), torch.tensor([[4.0]]))
    assert float(metric.compute()) == 0.5


@pytest.mark.parametrize(("around", "spread"), [(0, 1), (52.5, 0.03), (2015, 3), (8e6, 500), (0, 1e-5), (1e-3, 1e-4)])
def test_the_explained_share_knows_neither_where_the_targets_lie_nor_their_unit(around: float, spread: float):
    generator = torch.Generator().manual_seed(0)
    target = (around + spread * torch.randn(60, 1, generator=generator, dtype=torch.double)).float()
    answers = (around + spread * torch.randn(60, 1, generator=generator, dtype=torch.double)).float()
    metric = ExplainedShare()
    for part in (slice(0, 25), slice(25, 60)):  # in two batches
        metric.update(answers[part], target[part])
    residual = (target.double() - answers.double()).square().sum()
    total = (target.double() - target.double().mean()).square().sum()
    assert float(metric.compute()) == pytest.approx(float(1 - residual / total), rel=1e-6)


def test_the_explained_share_of_several_targets_is_the_mean_of_those_that_vary():
    target = torch.tensor([[1000.0, 0.0, 7.0], [1001.0, 1.0, 7.0], [1002.0, 5.0, 7.0]])
    answers = torch.tensor([[1001.0, 0.0, 7.0], [1001.0, 1.0, 7.0], [1001.0, 5.0, 8.0]])
    metric = ExplainedShare()
    metric.update(answers, target)
    assert float(metric.compute()) == pytest.approx((0.0 + 1.0) / 2)
    same = ExplainedShare()
    same.update(answers, torch.full((3, 3), 0.1))
    assert math.isnan(float(same.compute()))


def test_a_label_that_nothing_has_takes_no_share_in_the_mean_precision():
    scores = torch.tensor([[0.9, 0.2, 0.4], [0.8, 0.7, 0.6], [0.1, 0.6, 0.5]])
    metric = MeanPrecision(3, validate_args=False)
    metric.update(scores, torch.tensor([[1, 0, 0], [1, 1, 0], [0, 1, 0]]))  # perfectly apart, and nothing of the third
    assert float(metric.compute()) == 1.0
    none = MeanPrecision(3, validate_args=False)
    none.update(scores, torch.zeros(3, 3, dtype=torch.long))
    assert math.isnan(float(none.compute()))


def test_a_figure_that_is_small_is_not_shown_as_nothing():
    told = {0.92503: "0.9250", 0.0: "0.0000", 1.2345e-5: "1.234e-05", -0.00098765: "-0.0009877", 123.456: "123.4560"}
    assert {value: shown(value) for value in told} == told
    assert shown(math.nan) == "nan"


def test_the_mean_of_infinite_values_is_infinite_and_their_spread_unknown():
    mean, sd, count = mean_and_sd([1.0, math.inf])
    assert (mean, count) == (math.inf, 2)
    assert math.isnan(sd)
