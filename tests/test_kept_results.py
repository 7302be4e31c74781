"""What is kept under results/ is of the recipes that are packaged, and docs/results.md says what is there."""

import shutil
from pathlib import Path

import pytest

from graphcon.experiments import results
from graphcon.experiments.page import write_page
from graphcon.experiments.reproduce import facts
from graphcon.experiments.tables import TABLES, Table, jobs

ROOT = Path(__file__).parent.parent


@pytest.mark.parametrize("table", TABLES.values(), ids=TABLES)
def test_every_run_that_is_kept_had_the_settings_of_its_recipe(table: Table):
    kept = results.load(ROOT / "results", table.name)
    if not kept:
        pytest.skip(f"nothing of {table.name} was measured")
    wanted = jobs(table, table.budgets[facts(ROOT / "results", table.name)["budget"]], ())
    settings = {(job.dataset, job.model, job.variant, job.recipe.data.split, job.recipe.seed): job for job in wanted}
    for run in kept:
        assert run.recipe == results.settings(settings[run[:5]]), f"run it again: graphcon reproduce {table.name}"


def test_the_page_says_what_is_kept(tmp_path, monkeypatch):
    shutil.copytree(ROOT / "results", tmp_path / "results")
    monkeypatch.chdir(tmp_path)
    page = Path("docs", "results.md")
    write_page(Path("results"), page)
    assert page.read_text() == (ROOT / page).read_text(), "make it again: graphcon reproduce page"
