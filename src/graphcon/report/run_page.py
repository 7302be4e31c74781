"""The page about a run, or about several compared."""

import statistics
from collections.abc import Callable, Iterable

from graphcon._words import shown
from graphcon.errors import InputError
from graphcon.report.blocks import Block, Chart, Code, Group, Number, Page, Panel, Series, Table, Words
from graphcon.report.evidence import Evidence
from graphcon.report.measures import MEASURES
from graphcon.report.mistakes import mistakes
from graphcon.report.reliance import reliance
from graphcon.report.stability_words import stability_blocks
from graphcon.training.metrics import direction, is_better, mean_and_sd
from graphcon.training.run import ENDED, PARTS, why_last

MOST_POINTS = 400

Kin = dict[str, list[Evidence]]


def build_page(runs: list[Evidence], tell: Callable[[str], None] = lambda _: None) -> Page:
    """The page about some runs; those that differ in seed and split alone are one model with a mean and a spread.

    Args:
        runs: The runs.
        tell: Is told what is worked on, for large data take a while.
    """
    kin = _kin(runs)
    one_of_each = {name: members[0] for name, members in kin.items()}
    data = runs[0].dataset.name
    title = f"{runs[0].name} on {data}" if len(kin) == 1 else f"{len(runs)} runs on {data}"
    return Page(
        title,
        _lead(kin),
        [
            Panel("Result", [*_result(kin, runs), *_learning(kin)]),
            Panel("Reliance", _of_each(lambda run: reliance(run, tell), one_of_each)),
            Panel("Inside", _inside(kin, tell)),
            Panel("Stability", stability_blocks(one_of_each)),
            Panel("Mistakes", _of_each(mistakes, one_of_each)),
            Panel("Recipe", _recipes(runs)),
        ],
    )


def _kin(runs: list[Evidence]) -> Kin:
    families: dict[str, list[Evidence]] = {}
    for run in runs:
        families.setdefault(run.kin, []).append(run)
    names = [members[0].name for members in families.values()]
    kin: Kin = {}
    for members in families.values():
        name = members[0].name
        kin[name if names.count(name) == 1 else f"{name} ({members[0].folder.path.name})"] = members
    return kin


def _lead(kin: Kin) -> list[str]:
    """How it ended against its baselines, in words."""
    sentences = []
    for name, members in kin.items():
        first, part = members[0], members[0].part
        metric = first.metric
        if part is None:
            sentences.append(f"{name}: no part was held out, so nothing tells how good it is.")
            continue
        value, least = _mean(members, part, metric), _mean(members, part, metric, of_baseline=True)
        verdict = "better than" if is_better(metric, value, least) else "not better than"
        spread = f" ± {shown(_spread(members, part, metric))} over {len(members)} runs" if len(members) > 1 else ""
        text = (
            f"{name}: {PARTS[part]} {metric} {shown(value)}{spread} ({direction(metric)}), {verdict} the baseline "
            f"“{first.baseline.words}” at {shown(least)}{_in_cases(members, value - least)}."
        )
        plain = _plain_kin(kin, first)
        if plain is not None:
            text += f" The plain stack of the same layer, {plain}, reaches {shown(_mean(kin[plain], part, metric))}."
        sentences.append(text)
    members = next(iter(kin.values()))
    told, metric = members[0].metrics, members[0].metric
    if len(kin) == len(members) == 1 and "stopped" in told:  # not in a file that an old `graphcon evaluate` began
        weights = f"the weights of epoch {told['best_epoch']} of {told['epochs']}, selected on validation {metric}"
        if not told["best_epoch"]:
            weights = f"the weights of the last epoch, {told['epochs']}, since {why_last(told)}"
        sentences.append(f"{told['parameters']:,} parameters, {weights}; {ENDED[told['stopped']]}.")
    return sentences


def _in_cases(members: list[Evidence], lead: float) -> str:
    """How many answers more are right, where these can be counted: of few cases one is soon a percent."""
    run = members[0]
    if len(members) > 1 or run.metric != "accuracy":
        return ""
    cases = len(run.ids)
    return f", by {abs(round(lead * cases)):,} of {cases:,} {run.dataset.task}s"


def _plain_kin(kin: Kin, run: Evidence) -> str | None:
    """The name of the plain stack of the same layer and depth, where a run of it was given."""
    wanted = run.trained.recipe.model
    for name, members in kin.items():
        model = members[0].trained.recipe.model
        if f"graphcon-{model.name}" == wanted.name and model.steps == wanted.steps:
            return name
    return None


def _result(kin: Kin, runs: list[Evidence]) -> list[Block]:
    first = runs[0]
    parts = [part for part in PARTS if all(part in run.metrics for run in runs)]
    if not parts:
        return [Words(_facts(first))]
    metrics = list(first.metrics[parts[0]])
    constant = first.baseline.words
    rows = [
        [name, PARTS[part], *(_told(members, part, metric) for metric in metrics)]
        for name, members in kin.items()
        for part in parts
    ]
    rows += [
        [constant, PARTS[part], *(_told(runs, part, metric, of_baseline=True) for metric in metrics)] for part in parts
    ]
    note = "Mean ± standard deviation over the runs of a model. " if len(runs) > len(kin) else ""
    if "val" in parts:
        note += f"Models are selected by {first.metric} on validation data; test data are read once, at the end."
    blocks: list[Block] = [Table("How it ended", ("", "part", *metrics), rows, note)]
    if len(runs) > 1:
        each = [
            [str(run.folder.path), run.name, str(run.trained.recipe.data.split), str(run.trained.recipe.seed)]
            + [Number(run.metrics[part][run.metric]) for part in parts]
            for run in runs
        ]
        head = ("run", "model", "split", "seed", *(f"{PARTS[part]} {first.metric}" for part in parts))
        blocks.append(Table("All runs", head, each))
    return [*blocks, Words(_facts(first))]


def _facts(run: Evidence) -> list[str]:
    count = len(run.dataset.graphs)
    graphs = "one graph" if count == 1 else f"{count:,} graphs"
    return [f"{run.dataset.name}: {graphs}, split {run.dataset.split}.", *run.dataset.notes]


def _learning(kin: Kin) -> list[Block]:
    members = next(iter(kin.values()))
    metric = members[0].metric
    best = members[0].metrics.get("best_epoch")
    marks = [(best, "best")] if len(kin) == len(members) == 1 and best else []
    loss = _curves(kin, lambda run: {line["epoch"]: line["loss"] for line in run.log})
    value = _curves(kin, lambda run: {line["epoch"]: line["val"][metric] for line in run.log if "val" in line})
    charts: list[Block] = [Chart("Training loss", "epoch", "loss", loss, marks=marks, note=_band_note(kin))]
    if any(series.x for series in value):
        charts.append(Chart(f"Validation {metric}, {direction(metric)}", "epoch", metric, value, marks=marks))
    return charts


def _inside(kin: Kin, tell: Callable[[str], None]) -> list[Block]:
    tell("what happens inside, step by step")
    unit = next(iter(kin.values()))[0].dataset.split.unit
    where = "on the whole graph" if unit == "node" else "on the first graphs for training"
    words = Words(
        (f"What every step holds, with the trained weights {where}; gradients are those of the loss on training data.",)
    )
    try:
        return [words, *_measures(kin)]
    except InputError as error:
        return [Words((str(error),))]


def _measures(kin: Kin) -> list[Chart]:
    return [
        Chart(m.title, "step", m.axis, _curves(kin, _column(m.column)), log_y=m.logarithmic, note=m.reading)
        for m in MEASURES
    ]


def _column(name: str) -> Callable[[Evidence], dict[float, float]]:
    def values(run: Evidence) -> dict[float, float]:
        rows = run.table.drop_nulls(name)
        return dict(zip(rows["step"].to_list(), rows[name].to_list(), strict=True))

    return values


def _of_each(tell: Callable[[Evidence], list[Block]], runs: dict[str, Evidence]) -> list[Block]:
    """What is told of one run; of several each for itself, to be unfolded."""
    if len(runs) == 1:
        return tell(next(iter(runs.values())))
    return [Group(f"{name} ({run.folder.path})", tell(run)) for name, run in runs.items()]


def _recipes(runs: list[Evidence]) -> list[Block]:
    blocks: list[Block] = []
    for run in runs:
        path = run.folder.path
        again = f"graphcon train {path / 'recipe.toml'} --out {path}-again\ngraphcon report {path}-again"
        file = run.folder.environment_file
        environment = file.read_text(encoding="utf-8") if file.exists() else "not kept"
        inner: list[Block] = [
            Code("The command that makes it again", again),
            Code("The recipe, resolved", run.folder.recipe_file.read_text(encoding="utf-8")),
            Code("The environment it ran in", environment),
        ]
        blocks += inner if len(runs) == 1 else [Group(str(path), inner)]
    return blocks


def _curves(kin: Kin, values: Callable[[Evidence], dict[float, float]]) -> list[Series]:
    """Per model the mean over its runs and the band they fill, at the places all of them have."""
    series = []
    for name, members in kin.items():
        each = [values(run) for run in members]
        places = _thinned(x for x in each[0] if all(x in one for one in each))
        columns = [[one[x] for one in each] for x in places]
        means = [statistics.fmean(column) for column in columns]
        bands = ([min(column) for column in columns], [max(column) for column in columns])
        low, high = bands if len(members) > 1 else ((), ())
        series.append(Series(name, places, means, low=low, high=high))
    return series


def _thinned(places: Iterable[float]) -> list[float]:
    """Not more points than a screen shows, the last among them."""
    all_places = list(places)
    every = -(-len(all_places) // MOST_POINTS) or 1
    return all_places[::every] + (all_places[-1:] if (len(all_places) - 1) % every else [])


def _band_note(kin: Kin) -> str:
    several = any(len(members) > 1 for members in kin.values())
    return "Lines are means, bands reach from the lowest to the highest run." if several else ""


def _values(members: list[Evidence], part: str, metric: str, of_baseline: bool) -> list[float]:
    return [(run.baseline.metrics if of_baseline else run.metrics)[part][metric] for run in members]


def _mean(members: list[Evidence], part: str, metric: str, of_baseline: bool = False) -> float:
    return mean_and_sd(_values(members, part, metric, of_baseline))[0]


def _spread(members: list[Evidence], part: str, metric: str, of_baseline: bool = False) -> float:
    return mean_and_sd(_values(members, part, metric, of_baseline))[1]


def _told(members: list[Evidence], part: str, metric: str, of_baseline: bool = False) -> Number:
    mean = _mean(members, part, metric, of_baseline)
    spread = _spread(members, part, metric, of_baseline)
    varies = len(members) > 1 and (spread > 0 or not of_baseline)
    return Number(mean, f"{shown(mean)} ± {shown(spread)}" if varies else "")
