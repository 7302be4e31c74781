"""The page of a run: what it says is true, and what comes from data cannot break out of it."""

import json
import re
import shutil
import statistics
from dataclasses import replace
from html import unescape
from pathlib import Path

import polars as pl
import pytest
import torch
from torch_geometric.data import Data

from graphcon import cli
from graphcon.data import Split, convert, load, read_tables, synthetic
from graphcon.experiments import depth
from graphcon.experiments.demo_page import demo_page
from graphcon.report import Band
from graphcon.report.blocks import Chart, Matrix, Number, Page, Panel, Series, Table, Words
from graphcon.report.evidence import Evidence, gather_all
from graphcon.report.mistakes import mistakes
from graphcon.report.reliance import columns_of, reliance
from graphcon.report.render import render
from graphcon.report.run_page import build_page
from graphcon.report.scales import Scale, fit
from graphcon.training import run
from graphcon.training.baseline import baseline
from graphcon.training.config import DataConfig, ModelConfig, Recipe, TrainerConfig
from graphcon.training.folder import RunFolder
from graphcon.training.model import build
from graphcon.training.spec import TaskSpec

from browser import Browser, missing
from graphs import ring

EVIL = "<script>alert('x')</script>"
QUICK = TrainerConfig(epochs=4, validate_every=1, threads=1)


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Runs of seconds: two seeds of an oscillator on Cora and its plain stack, molecules, tables with evil names."""
    root = tmp_path_factory.mktemp("runs")
    cora = Recipe(data=DataConfig(name="cora"), model=ModelConfig(channels=8, steps=3), trainer=QUICK)
    run.train(cora, root / "seeds" / "split-0-seed-0")
    run.train(replace(cora, seed=1), root / "seeds" / "split-0-seed-1")
    run.train(replace(cora, model=replace(cora.model, name="gcn")), root / "plain")
    values = ModelConfig(channels=8, steps=2, readout="sum", trainable=True, integrator="strang")
    run.train(Recipe(data=DataConfig(name="solubility"), model=values, trainer=QUICK), root / "molecules")
    generator = torch.Generator().manual_seed(0)
    label = [EVIL if i % 2 else "b&b" for i in range(40)]
    nodes = pl.DataFrame({"id": [f"{EVIL}{i}" for i in range(40)], "v": torch.rand(40, generator=generator).tolist()})
    nodes.with_columns(pl.Series("label", label)).write_csv(root / "nodes.csv")
    ends = torch.randint(40, (2, 60), generator=generator).tolist()
    edges = {name: [f"{EVIL}{i}" for i in end] for name, end in zip(("source", "target"), ends, strict=True)}
    pl.DataFrame(edges).write_csv(root / "edges.csv")
    own = DataConfig(nodes=root / "nodes.csv", edges=root / "edges.csv")
    own = replace(own, table=replace(own.table, target=("label",)))
    run.train(Recipe(data=own, model=ModelConfig(channels=4, steps=2), trainer=QUICK), root / "evil")
    return root


@pytest.fixture(scope="module")
def pages(runs: Path) -> Path:
    """A page of each, and one of all runs on Cora."""
    for name, folders in {"one": ["seeds/split-0-seed-0"], "all": ["seeds", "plain"]}.items():
        arguments = [str(runs / folder) for folder in folders]
        assert cli.main(["report", *arguments, "--out", str(runs / f"{name}.html")]) == 0
    for folder in ("molecules", "evil"):
        assert cli.main(["report", str(runs / folder)]) == 0
        shutil.copy(runs / folder / "report.html", runs / f"{folder}.html")
    return runs


def numbers(html: str) -> list[float]:
    return [float(value) for value in re.findall(r'<data value="([^"]+)">', html)]


def test_the_numbers_of_the_page_are_those_of_the_metrics_file(pages: Path):
    told = json.loads((pages / "seeds/split-0-seed-0/metrics.json").read_text())
    found = numbers((pages / "one.html").read_text())
    expected = [told[part][metric] for part in ("val", "test") for metric in told["val"]]
    assert found[: len(expected)] == expected


def test_the_lead_over_the_baseline_is_counted_in_cases(pages: Path):
    one = Evidence.gather(pages / "seeds/split-0-seed-0")
    answers, truth = one.answers
    lead = (answers.argmax(1) == truth).sum() - one.baseline.metrics["test"]["accuracy"] * len(truth)
    assert f", by {abs(round(float(lead)))} of {len(truth):,} nodes." in unescape((pages / "one.html").read_text())
    assert "by" not in unescape((pages / "molecules.html").read_text()).partition("the baseline")[2].partition(".")[0]


def test_several_runs_have_their_mean_and_spread(pages: Path):
    each = [json.loads(file.read_text())["test"]["accuracy"] for file in sorted(pages.glob("seeds/*/metrics.json"))]
    html = unescape((pages / "all.html").read_text())
    mean, spread = sum(each) / 2, abs(each[0] - each[1]) / 2**0.5
    assert f"graphcon-gcn, 3 steps: test accuracy {mean:.4f} ± {spread:.4f} over 2 runs" in html
    assert "The plain stack of the same layer, gcn, 3 layers, reaches" in html
    assert any(value == pytest.approx(mean) for value in numbers(html))


def test_runs_are_kin_wherever_and_however_fast_they_were_trained(runs: Path):
    one = Evidence.gather(runs / "plain")

    def kin(**trainer) -> str:
        recipe = one.trained.recipe
        other = replace(recipe, trainer=replace(recipe.trainer, **trainer))
        return replace(one, trained=replace(one.trained, recipe=other)).kin

    assert kin(threads=7, devices=2, checkpoint_seconds=1.0) == one.kin
    assert kin(epochs=5) != one.kin


def test_the_page_has_what_it_takes_to_make_the_run_again(pages: Path):
    html = unescape((pages / "one.html").read_text())
    folder = pages / "seeds/split-0-seed-0"
    assert f"graphcon train {folder / 'recipe.toml'}" in html
    assert (folder / "recipe.toml").read_text() in html
    assert json.loads((folder / "environment.json").read_text())["python"] in html


def test_strings_from_data_are_shown_and_not_run(pages: Path):
    html = (pages / "evil.html").read_text()
    assert EVIL not in html
    assert EVIL.replace("'", "&#39;").replace("<", "&lt;").replace(">", "&gt;") in html
    every = [Series(EVIL, [1.0], [2.0], points=True, labels=[f"</script>{EVIL}"])]
    table, matrix = Table(EVIL, [EVIL], [[EVIL]], EVIL), Matrix(EVIL, [EVIL], [[1]])
    page = Page(EVIL, [EVIL], [Panel(EVIL, [Words([EVIL]), table, matrix, Chart(EVIL, EVIL, EVIL, every, note=EVIL)])])
    assert "alert" not in "".join(re.findall(r"<script[^>]*>(.*?)</script>", render(page), flags=re.DOTALL)[1:])
    assert EVIL not in render(page)


def test_the_page_needs_nothing_from_elsewhere(pages: Path):
    for page in pages.glob("*.html"):
        assert not re.findall(r"""(?:src|href)=["'](?!data:)|url\(|@import|https?://""", page.read_text())


@pytest.mark.parametrize("name", ["plain", "molecules", "evil"])
def test_with_all_inputs_a_model_is_as_good_as_its_run_says(runs: Path, name: str):
    one = Evidence.gather(runs / name)
    (table,) = reliance(one)
    assert isinstance(table, Table)
    value = one.metrics["val"][one.metric]
    assert table.title.endswith(f"with all it is {value:.4f}")
    for _, without, change in table.rows:
        assert isinstance(without, Number)
        assert isinstance(change, Number)
        assert without.value - change.value == pytest.approx(value)


def test_what_a_model_relies_on_is_told_and_what_it_does_not(tmp_path: Path):
    """The label is whether one column is positive; another column, the edges and their weights tell nothing."""
    values = torch.rand(2, 200, generator=torch.Generator().manual_seed(0)) - 0.5
    label = ["up" if value > 0 else "down" for value in values[0].tolist()]
    nodes = {"id": range(200), "telling": values[0].tolist(), "idle": values[1].tolist(), "label": label}
    pl.DataFrame(nodes).write_csv(tmp_path / "nodes.csv")
    edges = {"source": range(199), "target": range(1, 200), "weight": [0.5] * 199}
    pl.DataFrame(edges).write_csv(tmp_path / "edges.csv")
    data = DataConfig(nodes=tmp_path / "nodes.csv", edges=tmp_path / "edges.csv")
    data = replace(data, table=replace(data.table, target=("label",)))
    trainer = replace(QUICK, epochs=40)
    run.train(Recipe(data=data, model=ModelConfig(name="mlp", steps=1), trainer=trainer), tmp_path / "run")
    (table,) = reliance(Evidence.gather(tmp_path / "run"))
    assert isinstance(table, Table)
    changes = {str(row[0]): row[2].value for row in table.rows if isinstance(row[2], Number)}
    assert list(changes)[-1] != "column telling"
    assert changes["column telling"] < -0.3
    assert changes["features of the nodes, all together"] < -0.3
    assert abs(changes["column idle"]) < 0.1
    assert changes["edges, taken away"] == changes["weights of the edges"] == 0.0


def test_looking_at_what_a_model_relies_on_leaves_its_data_as_they_are(runs: Path):
    one, told = Evidence.gather(runs / "evil"), []
    before = [graph.x.clone() for graph in one.dataset.graphs if graph.x is not None]
    (first,) = reliance(one, told.append)
    (second,) = reliance(one)
    assert before
    assert all(torch.equal(x, graph.x) for x, graph in zip(before, one.dataset.graphs, strict=True))
    assert first == second
    assert len(told) == len(first.rows)


def test_columns_are_found_where_the_table_puts_them(tmp_path: Path):
    nodes = {
        "id": range(30),
        "town": [f"t{i}" for i in range(30)],
        "size": [float(i) for i in range(30)],
        "kind": ["ab"[i % 2] for i in range(30)],
        "street": [f"s{i % 25}" for i in range(30)],
        "label": ["xy"[i % 2] for i in range(30)],
    }
    options = {"target": "label", "categorical": ("town", "street"), "one_hot_limit": 10, "degree": True}
    edges = pl.DataFrame({"source": range(29), "target": range(1, 30)})
    dataset, schema = read_tables(pl.DataFrame(nodes), edges, **options)
    numbers = dataset.num_features
    found = {name: (where, columns) for name, (where, columns) in columns_of(schema)}
    assert set(found) == {"town", "size", "kind", "street"}
    for name, (where, columns) in found.items():
        names = dataset.feature_names[:numbers] if where == "x" else dataset.feature_names[numbers:]
        assert {label.partition("=")[0] for label in names[columns]} == {name}


def test_stability_is_told_in_words(pages: Path):
    html = unescape((pages / "one.html").read_text())
    model = run.load(pages / "seeds/split-0-seed-0").model.net.core
    assert f"graphcon-gcn, 3 steps is {model.stability}" in html
    assert "of its 8 channels now" in (pages / "molecules.html").read_text()
    assert "it has no place on the map" in (pages / "all.html").read_text()


def test_the_baseline_is_learned_on_the_training_part_alone():
    cora = load("cora")
    spec = TaskSpec.of(cora)
    y, split = cora.data.y, cora.split
    common = int(y[split.train].bincount().argmax())
    found = baseline(cora, spec, "accuracy").metrics["test"]["accuracy"]
    assert found == pytest.approx(float((y[split.test] == common).float().mean()))


@pytest.mark.parametrize(
    ("metric", "centre", "words", "error"),
    [
        ("mae", statistics.median, "always the median of training", lambda errors: statistics.fmean(map(abs, errors))),
        (
            "rmse",
            statistics.fmean,
            "always the mean of training",
            lambda errors: statistics.fmean(e * e for e in errors) ** 0.5,
        ),
    ],
)
def test_the_baseline_of_values_is_the_number_that_is_best_by_the_metric(metric, centre, words, error):
    """By the mean a model that always says the median would seem to have learned something."""
    molecules = load("solubility")
    constant = centre([float(graph.y) for graph in molecules.part("train")])
    errors = [float(graph.y) - constant for graph in molecules.part("test")]
    found = baseline(molecules, TaskSpec.of(molecules), metric)
    assert found.words == words
    assert found.metrics["test"][metric] == pytest.approx(error(errors), rel=1e-4)


def test_labels_of_nodes_in_many_graphs_are_told_too():
    generator = torch.Generator().manual_seed(0)
    graphs = [
        Data(x=torch.rand(n, 3), edge_index=ring(n), y=torch.randint(2, (n, 4), generator=generator).float())
        for n in (5, 6, 7, 8)
    ]
    split = Split("own", torch.tensor([0, 1]), torch.tensor([2]), torch.tensor([3]), 4, "graph")
    dataset = convert.from_pyg(graphs, split=split)
    spec, recipe = TaskSpec.of(dataset), Recipe(model=ModelConfig(channels=4, steps=2))
    trained = run.Trained(build(recipe.model, spec).eval(), spec, recipe, None, Path("nowhere"))
    labels, worst = mistakes(Evidence(RunFolder(Path("nowhere")), trained, dataset, {}, []))
    truths = {row[0]: row[1].value for row in labels.rows}
    assert list(truths.values()) == [float(graphs[3].y[:, int(name.split()[-1])].sum()) for name in truths]
    assert {row[0] for row in worst.rows} <= {f"node {i} of graph 3" for i in range(8)}


def test_only_nodes_with_a_target_can_be_mistakes():
    dataset = synthetic.graph_transfer(4, num_graphs=30)  # of a graph's five nodes the first alone has a class
    spec, recipe = TaskSpec.of(dataset), Recipe(model=ModelConfig(channels=4, steps=2))
    trained = run.Trained(build(recipe.model, spec).eval(), spec, recipe, None, Path("nowhere"))
    evidence = Evidence(RunFolder(Path("nowhere")), trained, dataset, {}, [])
    assert evidence.ids == [f"node 0 of graph {graph}" for graph in dataset.split.test.tolist()]
    confusion = mistakes(evidence)[0]
    assert sum(map(sum, confusion.counts)) == len(dataset.split.test)


def test_answers_without_a_wrong_label_are_no_mistakes():
    y = torch.tensor([[1.0, 1.0], [0.0, 0.0], [0.0, 1.0], [0.0, 0.0], [1.0, 0.0], [0.0, 0.0]])
    graph = Data(x=torch.rand(6, 3), edge_index=ring(6), y=y)
    split = Split("own", torch.tensor([4]), torch.tensor([5]), torch.tensor([0, 1, 2, 3]), 6, "node")
    dataset = convert.from_pyg(graph, split=split)
    spec, recipe = TaskSpec.of(dataset), Recipe(model=ModelConfig(channels=4, steps=2))
    model = build(recipe.model, spec).eval()
    torch.nn.init.zeros_(model.net.decoder.weight)
    torch.nn.init.constant_(model.net.decoder.bias, -1.0)  # no label is ever answered
    trained = run.Trained(model, spec, recipe, None, Path("nowhere"))
    _, worst = mistakes(Evidence(RunFolder(Path("nowhere")), trained, dataset, {}, []))
    assert [(row[0], row[1].text) for row in worst.rows] == [("node 0", "2 of 2"), ("node 2", "1 of 2")]
    assert "2 of 4 answers" in worst.note


def test_a_regime_has_one_colour_on_all_maps(pages: Path):
    colours = {}
    for name in ("one", "molecules"):
        html = (pages / f"{name}.html").read_text()
        found = re.findall(r'<rect class="area a(\d)"[^>]*/></svg>(\w+):', html)
        assert len(found) >= 2
        for colour, regime in found:
            assert colours.setdefault(regime, colour) == colour


def test_a_model_that_does_not_tell_its_states_still_has_its_page(pages: Path):
    class Silent(torch.nn.Module):
        act = staticmethod(torch.relu)

        def forward(self, x, edge_index):
            return x

    (one,) = gather_all((pages / "plain",))
    one.trained.model.net.core = Silent()
    inside = build_page([one]).panels[2]
    assert "gcn cannot be seen inside: TaskModel has no message-passing layer" in inside.blocks[0].paragraphs[0]


def test_the_page_of_the_demo_tells_both_experiments():
    rows = [depth.Row(name, layers, 0.5, 1e-3, 1.0) for layers in (2, 4) for name in depth.MODELS]
    ends = {"GCN": 1.03e-5, "GraphCON-GCN": 13.8}
    energies = {name: Band([0.5, 0.1], [1.0, left], [2.0, 1.0]) for name, left in ends.items()}
    html = unescape(render(demo_page({"GCN": energies}, rows, 3, "relu")))
    assert "the squared difference between neighbours, by the median of 20 draws: GCN: 1/97,000; GraphCON" in html
    assert "Trained on Cora at 4 layers the accuracy on test data is 50.0 % in gcn and 50.0 % in graphcon-gcn." in html
    assert "graphcon demo --seed 3 --act relu" in html


def test_an_unfinished_run_and_runs_that_cannot_be_compared_are_refused(pages: Path, tmp_path: Path, capsys):
    shutil.copytree(pages / "plain", tmp_path / "unfinished")
    (tmp_path / "unfinished/metrics.json").unlink()
    cases = {
        (str(tmp_path / "unfinished"),): "graphcon train --resume",
        (str(tmp_path / "nothing"),): "there is no run in it",
        (str(pages / "plain"), str(pages / "molecules")): "compare runs of one set and one metric",
        (str(pages / "plain"), "--out", "page.txt"): "must be a file that ends in .html",
    }
    for arguments, message in cases.items():
        assert cli.main(["report", *arguments]) == 2
        assert message in capsys.readouterr().err


def test_diagnose_writes_what_it_measured(capsys, runs: Path, tmp_path: Path):
    assert cli.main(["diagnose", str(runs / "plain"), "--out", str(tmp_path / "run")]) == 0
    assert pl.read_csv(tmp_path / "run/diagnostics.csv")["step"].to_list() == [0, 1, 2, 3]
    command = ["diagnose", "--compare", "gcn,graphcon-gcn,gcn", "--depths", "4,2,4", "--channels", "4"]
    assert cli.main([*command, "--out", str(tmp_path / "both")]) == 0
    table = pl.read_csv(tmp_path / "both/diagnostics.csv")
    assert table.group_by("model", "depth", maintain_order=True).len()["len"].to_list() == [3, 3, 5, 5]
    assert {"steps.png", "depths.png"} <= {file.name for file in (tmp_path / "both").iterdir()}
    told = capsys.readouterr().out
    assert "effective" in told
    assert "…" not in told  # no heading is cut


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((), "name a run folder, or --compare"),
        (("--compare", "gcn", "--depths", "2,x"), "--depths 2,x: must be whole numbers"),
        (("--compare", "gnc", "--depths", "2"), "gnc"),
        (("nowhere",), "there is no run in it"),
    ],
)
def test_bad_input_to_diagnose_is_named(arguments, message, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert cli.main(["diagnose", *arguments]) == 2
    assert message in capsys.readouterr().err


@pytest.mark.parametrize("log", [False, True])
def test_scales_keep_order_and_have_ticks_inside(log):
    for values in ([1.0, 9.0], [0.02, 0.025], [1e-9, 1e4], [3.0, 3.0], [0.4, 12345.0]):
        scale = fit(values, 0.0, 100.0, log)
        assert 0 <= scale.at(values[0]) <= scale.at(values[1]) <= 100
        places = [place for place, _ in scale.ticks()]
        assert len(places) >= 2
        assert all(-1e-6 <= place <= 100 + 1e-6 for place in places)
    assert Scale(0.0, 2.0, 0.0, 100.0).ticks()[1] == (25.0, "0.5")


DIGITS = str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789")


@pytest.mark.parametrize("log", [False, True])
@pytest.mark.parametrize("size", [1e-9, 1e-5, 0.002, 0.02, 3.0, 800.0, 2e4, 4e5, 3e12])
def test_what_is_written_at_a_tick_is_short_and_true(size, log):
    for widest in (1.2, 1.7, 3.0):
        scale = fit([size, widest * size], 0.0, 100.0, log)
        unit = 10.0 ** int(scale.unit[2:].translate(DIGITS) or 0)
        for place, text in scale.ticks():
            assert len(text) <= 6
            assert scale.at(float(text) * unit) == pytest.approx(place, abs=0.02)


needs_browser = pytest.mark.skipif(bool(missing()), reason=missing() or "there is a browser")


@pytest.fixture(scope="module")
def browser():
    window = Browser()
    yield window
    window.close()


@needs_browser
@pytest.mark.parametrize("name", ["one", "all", "molecules", "evil"])
def test_in_a_browser_the_page_is_quiet_alone_and_fits_a_phone(pages: Path, browser: Browser, name: str):
    browser.log("browser"), browser.requests()
    page = pages / f"{name}.html"
    browser.resize(360, 740)
    browser.open(page)
    for tab in range(browser.run("document.querySelectorAll('[role=tab]').length")):
        browser.run(f"document.querySelectorAll('[role=tab]')[{tab}].click()")
        assert browser.run("document.documentElement.scrollWidth") <= 360
    assert browser.run("document.querySelectorAll('main script:not([type])').length") == 0
    assert browser.log("browser") == []
    assert browser.requests() == [page.resolve().as_uri()]


@needs_browser
def test_in_a_browser_tabs_and_charts_work_by_mouse_and_keyboard(pages: Path, browser: Browser):
    browser.resize(1100, 800)
    browser.open(pages / "one.html")
    visible = "[...document.querySelectorAll('section')].filter(s => s.offsetParent).map(s => s.id)"
    said = "document.querySelector('#result output').textContent"
    assert browser.run(visible) == ["result"]
    browser.point("#tab-inside", click=True)
    assert browser.run(visible) == ["inside"]
    browser.press("ArrowRight")
    assert browser.run(visible) == ["stability"]
    browser.press("Home")
    assert browser.run(visible) == ["result"]
    browser.point("#result svg", across=0.99)
    assert browser.run(said).startswith("epoch 4: graphcon-gcn, 3 steps ")
    browser.point("#tab-result")
    assert browser.run(said) == ""
    browser.press("Tab")  # from the tab to the table, which scrolls where it is wide,
    browser.press("Tab")  # and on to the first chart
    browser.press("ArrowRight")
    loss = json.loads((pages / "seeds/split-0-seed-0/log.jsonl").read_text().splitlines()[0])["loss"]
    assert browser.run(said) == f"epoch 1: graphcon-gcn, 3 steps {loss:.4g}"
    browser.press("End")
    assert browser.run(said).startswith("epoch 4:")


@needs_browser
def test_in_a_browser_paper_shows_all_parts_and_dark_screens_are_dark(pages: Path, browser: Browser):
    browser.open(pages / "one.html")
    ground = "getComputedStyle(document.body).backgroundColor"
    visible = "[...document.querySelectorAll('section')].filter(s => s.offsetParent).length"
    browser.media(prefers_color_scheme="dark")
    assert sum(map(int, re.findall(r"\d+", browser.run(ground)))) < 150
    browser.media("print", prefers_color_scheme="dark")
    assert browser.run(ground) == "rgb(255, 255, 255)"
    assert browser.run(visible) == 6
    browser.media()


@needs_browser
def test_in_a_browser_the_numbers_are_those_of_the_metrics_file(pages: Path, browser: Browser):
    browser.open(pages / "one.html")
    told = json.loads((pages / "seeds/split-0-seed-0/metrics.json").read_text())
    shown = browser.run("[...document.querySelectorAll('#result tbody tr')].slice(0, 2).map(r => r.innerText)")
    for part, row in zip(("val", "test"), shown, strict=True):
        for value in told[part].values():
            assert f"{value:.4f}" in row
