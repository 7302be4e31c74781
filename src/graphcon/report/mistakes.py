"""Where a model goes wrong: the confusion of classes, predicted against true, and the worst answers."""

from torch import Tensor

from graphcon.report.blocks import Block, Chart, Matrix, Number, Series, Table, Words
from graphcon.report.evidence import Evidence
from graphcon.report.scales import fit
from graphcon.training.run import PARTS
from graphcon.training.spec import TaskSpec

WORST = 15
MOST_CLASSES = 20
MOST_POINTS = 1000


def mistakes(run: Evidence) -> list[Block]:
    """What is shown of a run's answers on the part that training never saw."""
    if run.part is None:
        return [Words(("No part was held out, so there are no answers to compare with the truth.",))]
    out, y = run.answers
    spec, where = run.trained.spec, PARTS[run.part]
    if spec.kind == "classification":
        return _classes(out, y, run.ids, _names(spec), where)
    if spec.kind == "multilabel":
        return _labels(out, y, run.ids, _names(spec), where)
    names = spec.target_names or tuple(f"value {i}" for i in range(spec.num_outputs))
    return _values(out.reshape(len(y), -1), y.reshape(len(y), -1), run.ids, names, where)


def _names(spec: TaskSpec) -> tuple[str, ...]:
    return spec.class_names or tuple(f"class {i}" for i in range(spec.num_outputs))


def _classes(out: Tensor, y: Tensor, ids: list[str], names: tuple[str, ...], where: str) -> list[Block]:
    probability = out.softmax(-1)
    answered = probability.argmax(-1)
    counts = (y * len(names) + answered).bincount(minlength=len(names) ** 2).view(len(names), -1)
    blocks: list[Block] = []
    if len(names) <= MOST_CLASSES:
        blocks.append(Matrix(f"Confusion of classes on {where} data", names, counts.tolist()))
    else:
        wrong = counts.clone().fill_diagonal_(0).flatten().argsort(descending=True)[:WORST].tolist()
        pairs = [(*divmod(place, len(names)), place) for place in wrong]
        rows = [(names[t], names[a], Number(float(counts.flatten()[p]), f"{counts.flatten()[p]}")) for t, a, p in pairs]
        blocks.append(Table(f"The most frequent confusions on {where} data", ("true", "answered", "times"), rows))
    truth = probability.gather(1, y.unsqueeze(1)).squeeze(1)
    wrong = (answered != y).nonzero().flatten()
    worst = wrong[truth[wrong].argsort()][:WORST].tolist()
    rows = [
        (ids[i], names[y[i]], names[answered[i]], Number(float(probability[i].max())), Number(float(truth[i])))
        for i in worst
    ]
    head = ("which", "true", "answered", "probability of the answer", "probability of the truth")
    note = f"{len(wrong):,} of {len(y):,} answers on {where} data are wrong; these gave the truth the least."
    blocks.append(Table("The worst mistakes", head, rows, note))
    return blocks


def _labels(out: Tensor, y: Tensor, ids: list[str], names: tuple[str, ...], where: str) -> list[Block]:
    answered, true = out > 0, y > 0.5
    hit = (answered & true).sum(0)
    rows = [
        (
            names[i],
            Number(float(true[:, i].sum()), f"{int(true[:, i].sum())}"),
            Number(float(answered[:, i].sum()), f"{int(answered[:, i].sum())}"),
            Number(float(hit[i] / answered[:, i].sum().clamp(min=1))),
            Number(float(hit[i] / true[:, i].sum().clamp(min=1))),
        )
        for i in (hit / true.sum(0).clamp(min=1)).argsort()[: 2 * WORST].tolist()
    ]
    wrong = (answered != true).sum(1)
    worst = [
        (ids[i], Number(float(wrong[i]), f"{int(wrong[i])} of {len(names)}"))
        for i in wrong.argsort(descending=True)[:WORST].tolist()
        if wrong[i] > 0
    ]
    note = f"{int((wrong > 0).sum()):,} of {len(y):,} answers on {where} data have a wrong label."
    return [
        Table(
            f"Labels on {where} data, those found least first",
            ("label", "true", "answered", "precision", "recall"),
            rows,
        ),
        Table("The worst mistakes", ("which", "wrong labels"), worst, note),
    ]


def _values(out: Tensor, y: Tensor, ids: list[str], names: tuple[str, ...], where: str) -> list[Block]:
    every = -(-len(y) // MOST_POINTS)
    series = [
        Series(
            name,
            y[::every, k].tolist(),
            out[::every, k].tolist(),
            points=True,
            labels=[f"{ids[i]}: true {y[i, k]:.4g}, answered {out[i, k]:.4g}" for i in range(0, len(y), every)],
        )
        for k, name in enumerate(names)
    ]
    note = "On the dashed line the answer is the truth." + (f" One point in {every} is shown." if every > 1 else "")
    both = fit([*y.flatten().tolist(), *out.flatten().tolist()], 0.0, 1.0)
    limits = (both.low, both.high, both.low, both.high)
    title = f"Predicted against true on {where} data"
    chart = Chart(title, "true", "predicted", series, diagonal=True, limits=limits, note=note)
    error = (out - y).abs()
    rows = []
    for place in error.flatten().argsort(descending=True)[:WORST].tolist():
        i, k = divmod(place, len(names))
        numbers = (y[i, k], out[i, k], out[i, k] - y[i, k])
        rows.append((ids[i], names[k], *(Number(float(v), f"{v:.4g}") for v in numbers)))
    return [chart, Table("The worst mistakes", ("which", "value", "true", "predicted", "error"), rows)]
