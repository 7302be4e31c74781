from dataclasses import replace

from graphcon.experiments import depth


def test_the_depth_experiment_trains_both_networks_at_a_depth(monkeypatch):
    short = replace(depth.RECIPE, trainer=replace(depth.RECIPE.trainer, epochs=10))
    monkeypatch.setattr(depth, "RECIPE", short)
    rows = list(depth.run(0, (2,)))
    assert [(row.model, row.depth) for row in rows] == [("gcn", 2), ("graphcon-gcn", 2)]
    assert all(row.accuracy > 0.3 and row.energy > 0 for row in rows)
