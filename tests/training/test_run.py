"""Runs: what is written, what is the same, what survives."""

import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest
import torch
from lightning_fabric import Fabric
from lightning_fabric.plugins import MixedPrecision

from graphcon.errors import InputError, LossError
from graphcon.training import loop, recipes, run
from graphcon.training.batches import Batches
from graphcon.training.config import OptimizerConfig, Recipe, ScheduleConfig, TrainerConfig
from graphcon.training.folder import RunFolder
from graphcon.training.load_data import load_dataset
from graphcon.training.model import build
from graphcon.training.schedule import Schedule, build_optimizer
from graphcon.training.spec import TaskSpec, targets_of


def _everything(folder: Path) -> dict[str, bytes]:
    log = [
        {key: value for key, value in json.loads(line).items() if key != "seconds"}
        for line in (folder / "log.jsonl").open()
    ]
    return {
        "metrics": (folder / "metrics.json").read_bytes(),
        "weights": (folder / "best.safetensors").read_bytes(),
        "log": json.dumps(log).encode(),
    }


@pytest.mark.parametrize("which", ["tiny", "molecules"])
def test_the_same_recipe_and_seed_give_the_same_run(which: str, request, tmp_path: Path):
    recipe = request.getfixturevalue(which)
    for name in "ab":
        run.train(recipe, tmp_path / name)
    run.train(replace(recipe, seed=1), tmp_path / "c")
    assert _everything(tmp_path / "a") == _everything(tmp_path / "b")
    assert _everything(tmp_path / "a")["weights"] != _everything(tmp_path / "c")["weights"]


def test_a_run_is_trained_by_one_process_at_a_time(tiny: Recipe, tmp_path: Path):
    run.train(tiny, tmp_path / "run")
    before = _everything(tmp_path / "run")
    holder = subprocess.Popen(
        [
            *(sys.executable, "-c"),
            "import sys, time; from pathlib import Path; from graphcon.training.folder import RunFolder\n"
            "with RunFolder(Path(sys.argv[1])).held():\n    print('held', flush=True)\n    time.sleep(600)",
            str(tmp_path / "run"),
        ],
        stdout=subprocess.PIPE,
        text=True,
    )
    assert holder.stdout is not None
    assert holder.stdout.readline() == "held\n"
    with pytest.raises(InputError, match="another process is training this run"):
        run.train(tiny, tmp_path / "run", resume=True)
    assert _everything(tmp_path / "run") == before
    holder.kill()
    holder.wait()
    run.train(tiny, tmp_path / "run", resume=True)  # who dies lets go


def test_a_run_folder_holds_all_that_is_promised(tiny: Recipe, tmp_path: Path):
    result = run.train(tiny, tmp_path / "run")
    names = {path.name for path in (tmp_path / "run").iterdir()}
    assert names == {
        "recipe.toml",
        "environment.json",
        "log.jsonl",
        "last.ckpt",
        "best.safetensors",
        "model.json",
        "metrics.json",
    }
    assert json.loads((tmp_path / "run/metrics.json").read_text()) == result
    assert result["metric"] == "accuracy"
    assert result["direction"] == "higher is better"
    assert recipes.load(tmp_path / "run/recipe.toml") == tiny
    assert len((tmp_path / "run/log.jsonl").read_text().splitlines()) == 6
    environment = json.loads((tmp_path / "run/environment.json").read_text())
    assert environment["packages"]["torch"] == torch.__version__


def test_the_model_with_the_smallest_log_loss_is_kept_where_that_selects(tiny: Recipe, tmp_path: Path):
    result = run.train(recipes.replace(tiny, {"trainer.metric": "log_loss"}), tmp_path / "run")
    assert result is not None
    assert result["direction"] == "lower is better"
    records = [json.loads(line) for line in (tmp_path / "run/log.jsonl").open()]
    assert result["val"]["log_loss"] == min(record["val"]["log_loss"] for record in records if "val" in record)


def test_a_loaded_model_gives_what_the_run_measured(tiny: Recipe, tmp_path: Path):
    result = run.train(tiny, tmp_path / "run")
    trained = run.load(tmp_path / "run")
    from graphcon.training.load_data import load_dataset

    dataset, _ = load_dataset(trained.recipe.data)
    measured = run.measure(trained.model, dataset, trained.spec, trained.recipe, run.make_fabric(trained.recipe))
    assert measured == {part: result[part] for part in ("val", "test")}


@pytest.mark.parametrize(("which", "batches"), [("tiny", 0), ("molecules", 0), ("molecules", 1), ("molecules", 3)])
@pytest.mark.parametrize("schedule", ["none", "one-cycle", "plateau"])
def test_a_run_resumed_from_any_checkpoint_gives_the_bits_of_an_undisturbed_one(
    which: str, batches: int, schedule: str, request, tmp_path: Path
):
    recipe = request.getfixturevalue(which)
    recipe = replace(
        recipe, schedule=ScheduleConfig(schedule, patience=1), trainer=replace(recipe.trainer, checkpoint_seconds=0)
    )
    whole = recipe.trainer.epochs
    run.train(recipe, tmp_path / "undisturbed")

    kept = RunFolder.save_checkpoint
    stop_after = 2

    def die(self: RunFolder, state: dict) -> None:
        kept(self, state)
        if (state["epoch"], state["batch"]) == (stop_after, batches):
            raise SystemExit  # the process is gone right after a checkpoint

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(RunFolder, "save_checkpoint", die)
        with pytest.raises(SystemExit):
            run.train(recipe, tmp_path / "disturbed")
    RunFolder(tmp_path / "disturbed").log({"epoch": stop_after + 1, "loss": 0.0})  # an epoch that was lost
    assert not (tmp_path / "disturbed/metrics.json").exists()
    run.train(recipe, tmp_path / "disturbed", resume=True)
    assert _everything(tmp_path / "disturbed") == _everything(tmp_path / "undisturbed")
    assert whole > stop_after


def test_a_run_killed_at_a_random_moment_goes_on_to_the_same_bits(tiny: Recipe, tmp_path: Path):
    recipe = replace(tiny, trainer=replace(tiny.trainer, epochs=40, patience=0, checkpoint_seconds=0.0))
    (tmp_path / "r.toml").write_text(recipes.to_toml(recipe))
    run.train(recipe, tmp_path / "undisturbed")
    command = [
        sys.executable,
        "-m",
        "graphcon.cli",
        "train",
        str(tmp_path / "r.toml"),
        "--out",
        str(tmp_path / "killed"),
    ]
    log = tmp_path / "killed/log.jsonl"
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    while process.poll() is None and (not log.exists() or log.read_text().count("\n") < 5):
        time.sleep(0.01)
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    assert log.read_text().count("\n") < 40
    done = subprocess.run(
        [*command[:4], "--resume", str(tmp_path / "killed")], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert _everything(tmp_path / "killed") == _everything(tmp_path / "undisturbed")


@pytest.mark.parametrize("asked_in", [(0, 1), (1, 3)])
def test_who_is_asked_to_stop_within_an_epoch_does_not_wait_for_its_end(
    molecules: Recipe, asked_in: tuple[int, int], tmp_path: Path
):
    class Teller:
        """Asks once the batch has come."""

        asked, told = False, ()

        def __call__(self, *_) -> "Teller":
            return self

        def epoch(self, record: dict) -> None:
            pass

        def running(self, record: dict) -> None:
            self.told += (record["epoch"],)
            self.asked = record["epoch"] == asked_in[0] + asked_in[1] / 4

    recipe = replace(molecules, model=replace(molecules.model, dropout=0.5, options={"norm": "batch"}))
    teller = Teller()
    run.train(recipe, tmp_path / "undisturbed", reporter=teller)
    assert teller.told == (0.25, 0.5, 0.75, 1.25, 1.5, 1.75, 2.25, 2.5, 2.75)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(loop, "stop_requested", lambda: teller.asked)
        assert run.train(recipe, tmp_path / "stopped", reporter=teller) is None
    state = RunFolder(tmp_path / "stopped").load_checkpoint()
    assert state is not None
    assert (state["epoch"], state["batch"]) == asked_in
    assert run.load(tmp_path / "stopped").model is not None  # what there is can be used
    run.train(recipe, tmp_path / "stopped", resume=True)
    assert _everything(tmp_path / "stopped") == _everything(tmp_path / "undisturbed")


def test_who_prepares_the_batches_changes_nothing_not_even_for_a_run_that_goes_on(molecules: Recipe, tmp_path: Path):
    helped = replace(molecules, data=replace(molecules.data, workers=1))
    run.train(molecules, tmp_path / "alone")
    asked = iter([False] * 5 + [True])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(loop, "stop_requested", lambda: next(asked))
        assert run.train(helped, tmp_path / "helped") is None
    run.train(helped, tmp_path / "helped", resume=True)
    assert _everything(tmp_path / "helped") == _everything(tmp_path / "alone")


def test_a_loss_that_explodes_within_an_epoch_is_told_at_once(molecules: Recipe, tmp_path: Path):
    told = []
    reporter = SimpleNamespace(epoch=told.append, running=told.append)
    wild = recipes.replace(molecules, {"optimizer.name": "sgd", "optimizer.lr": 1e5, "data.batch_size": 8})
    with pytest.raises(LossError, match="the loss became (inf|nan) in epoch 1"):
        run.train(wild, tmp_path / "run", reporter=lambda *_: reporter)
    assert len(told) < 100


def test_the_scale_of_half_precision_goes_on_too(molecules: Recipe, tmp_path: Path, monkeypatch):
    def fabric(_: Recipe) -> Fabric:  # as on a GPU, where Fabric makes it so itself
        scaler = torch.amp.GradScaler("cpu", init_scale=2.0, growth_interval=3)
        return Fabric(accelerator="cpu", plugins=MixedPrecision("16-mixed", "cpu", scaler))

    monkeypatch.setattr(run, "make_fabric", fabric)
    run.train(molecules, tmp_path / "undisturbed")
    asked = iter([False] * 5 + [True])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(loop, "stop_requested", lambda: next(asked))
        assert run.train(molecules, tmp_path / "stopped") is None
    run.train(molecules, tmp_path / "stopped", resume=True)
    assert _everything(tmp_path / "stopped") == _everything(tmp_path / "undisturbed")
    ends = [RunFolder(tmp_path / name).load_checkpoint() for name in ("undisturbed", "stopped")]
    assert ends[0]["precision"] == ends[1]["precision"]
    assert ends[0]["precision"]["scale"] > 2.0


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM], ids=["Ctrl-C", "SIGTERM"])
def test_who_is_asked_to_stop_saves_and_says_how_to_go_on(tiny: Recipe, tmp_path: Path, how: signal.Signals):
    recipe = replace(tiny, trainer=replace(tiny.trainer, epochs=100_000, patience=0))
    (tmp_path / "r.toml").write_text(recipes.to_toml(recipe))
    command = [sys.executable, "-m", "graphcon.cli", "train", str(tmp_path / "r.toml"), "--out", str(tmp_path / "run")]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    log = tmp_path / "run/log.jsonl"
    while process.poll() is None and (not log.exists() or log.read_text().count("\n") < 3):
        time.sleep(0.01)
    process.send_signal(how)
    out, error = process.communicate(timeout=60)
    assert process.returncode == 130, error
    assert f"graphcon train --resume {tmp_path / 'run'}" in out
    state = RunFolder(tmp_path / "run").load_checkpoint()
    assert state is not None
    assert state["epoch"] == log.read_text().count("\n")


def test_two_processes_that_are_stopped_through_one_of_them_go_on_to_the_same_bits(molecules: Recipe, tmp_path: Path):
    recipe = replace(
        molecules,
        data=replace(molecules.data, limit=40, batch_size=8),
        trainer=replace(molecules.trainer, epochs=20, patience=0, devices=2),
    )
    (tmp_path / "r.toml").write_text(recipes.to_toml(recipe))
    command = [sys.executable, "-m", "graphcon.cli", "train"]
    fresh = [*command, str(tmp_path / "r.toml"), "--out"]
    subprocess.run([*fresh, str(tmp_path / "undisturbed")], check=True, capture_output=True)
    process = subprocess.Popen([*fresh, str(tmp_path / "stopped")], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    log = tmp_path / "stopped/log.jsonl"
    while process.poll() is None and (not log.exists() or log.read_text().count("\n") < 3):
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    _, error = process.communicate(timeout=120)
    assert process.returncode == 130, error
    assert log.read_text().count("\n") < 20
    subprocess.run([*command, "--resume", str(tmp_path / "stopped")], check=True, capture_output=True)
    assert _everything(tmp_path / "stopped") == _everything(tmp_path / "undisturbed")


def test_a_loss_that_is_no_number_in_one_process_ends_all_with_that_word(molecules: Recipe, tmp_path: Path):
    (tmp_path / "r.toml").write_text(recipes.to_toml(replace(molecules, data=replace(molecules.data, limit=40))))
    (tmp_path / "program.py").write_text(
        "import os, sys\n"
        "from graphcon.cli import main\n"
        "from graphcon.training import metrics\n"
        "build = metrics.build_loss\n"
        "worse = float('nan') if os.environ.get('LOCAL_RANK') == '1' else 1.0\n"
        "metrics.build_loss = lambda *a: lambda out, y: worse * build(*a)(out, y).detach() + 0 * out.sum()\n"
        "sys.exit(main(sys.argv[1:]))\n"
    )
    line = [sys.executable, "program.py", "train", "r.toml", "--devices", "2", "--out", "run"]
    done = subprocess.run(line, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "graphcon: the loss became nan in epoch 1. Smaller optimizer.lr" in done.stderr
    assert "Traceback" not in done.stderr


def test_each_of_two_processes_has_its_share_in_the_order_of_the_seed_and_the_epoch(molecules: Recipe):
    dataset, _ = load_dataset(replace(molecules.data, limit=40))

    def shares(seed: int, *epochs: int) -> list[torch.Tensor]:
        """The targets that each process sees in the last of some epochs."""
        seen = []
        for rank in range(2):
            one = SimpleNamespace(world_size=2, global_rank=rank, to_device=lambda data: data)
            batches = Batches(dataset, molecules.data, seed, cast(Fabric, one))
            every = [torch.cat([batch.targets for batch in batches.of("train", epoch)]) for epoch in epochs]
            seen.append(every[-1].flatten())
        return seen

    first = shares(0, 3)
    assert torch.cat(first).sort().values.equal(targets_of(dataset, "train").flatten().sort().values)
    assert all(map(torch.equal, first, shares(0, 0, 1, 2, 3)))
    for other in (shares(0, 4), shares(1, 3), shares(1, 2)):
        assert not any(map(torch.equal, first, other))


def test_a_finished_run_goes_on_with_more_epochs(tiny: Recipe, tmp_path: Path):
    run.train(replace(tiny, trainer=replace(tiny.trainer, epochs=5)), tmp_path / "run")
    longer = replace(tiny, trainer=replace(tiny.trainer, epochs=9))
    run.train(longer, tmp_path / "run", resume=True)
    run.train(longer, tmp_path / "at once")
    assert _everything(tmp_path / "run") == _everything(tmp_path / "at once")


def test_a_run_that_goes_on_and_is_stopped_keeps_no_metrics_of_older_weights(tiny: Recipe, tmp_path: Path, monkeypatch):
    run.train(tiny, tmp_path / "run")
    monkeypatch.setattr(loop, "stop_requested", lambda: True)
    assert run.train(replace(tiny, trainer=replace(tiny.trainer, epochs=20)), tmp_path / "run", resume=True) is None
    assert not (tmp_path / "run" / "metrics.json").exists()


def test_training_stops_when_validation_has_not_improved(tiny: Recipe, tmp_path: Path):
    still = replace(
        tiny, optimizer=replace(tiny.optimizer, lr=1e-12), trainer=TrainerConfig(epochs=50, patience=3, threads=1)
    )
    result = run.train(still, tmp_path / "run")
    assert result["stopped"] == "patience"
    assert result["epochs"] == result["best_epoch"] + 3


def test_a_run_that_has_ended_is_not_trained_on_when_it_is_resumed(tiny: Recipe, tmp_path: Path):
    still = replace(
        tiny, optimizer=replace(tiny.optimizer, lr=1e-12), trainer=TrainerConfig(epochs=50, patience=3, threads=1)
    )
    run.train(still, tmp_path / "run")
    before = _everything(tmp_path / "run")
    result = run.train(still, tmp_path / "run", resume=True)
    assert result is not None
    assert result["stopped"] == "patience"
    assert _everything(tmp_path / "run") == before
    more = replace(still, trainer=replace(still.trainer, patience=5))
    result = run.train(more, tmp_path / "run", resume=True)
    assert result is not None
    assert result["epochs"] == result["best_epoch"] + 5


def test_a_loss_that_explodes_is_told_and_nothing_is_lost(tiny: Recipe, tmp_path: Path):
    wild = replace(tiny, optimizer=replace(tiny.optimizer, name="sgd", lr=9e5))
    with pytest.raises(LossError, match="the loss became .* in epoch"):
        run.train(wild, tmp_path / "run")


def test_weights_that_explode_in_the_last_step_are_told_where_no_validation_would_tell(tiny: Recipe):
    dataset, _ = load_dataset(tiny.data)
    unvalidated = replace(dataset, split=replace(dataset.split, val=dataset.split.val[:0]))
    recipe, spec = replace(tiny, trainer=replace(tiny.trainer, epochs=1)), TaskSpec.of(dataset)
    model = build(recipe.model, spec)
    next(model.parameters()).register_hook(lambda gradient: gradient + torch.inf)
    with pytest.raises(LossError, match="the weights became infinite in the last epoch, 1. Smaller optimizer.lr"):
        loop.fit_loop(model, unvalidated, spec, recipe, run.make_fabric(recipe))


def test_a_folder_that_is_taken_is_left_alone(tiny: Recipe, tmp_path: Path):
    run.train(tiny, tmp_path / "run")
    before = _everything(tmp_path / "run")
    with pytest.raises(InputError, match="there is a run in it already. Go on with: graphcon train --resume"):
        run.train(tiny, tmp_path / "run")
    assert _everything(tmp_path / "run") == before
    (tmp_path / "file").write_text("mine")
    with pytest.raises(InputError, match="is a file, but a folder is needed"):
        run.train(tiny, tmp_path / "file")
    with pytest.raises(InputError, match="is no run, but holds 1 run. Name one, such as .*run"):
        run.load(tmp_path)
    (tmp_path / "empty").mkdir()
    with pytest.raises(InputError, match="there is no run in it"):
        run.load(tmp_path / "empty")


@pytest.mark.parametrize("optimizer", ["adam", "adamw", "adamax", "sgd"])
@pytest.mark.parametrize("schedule", ["none", "cosine", "one-cycle", "plateau"])
def test_every_optimiser_and_schedule_lowers_the_loss(tiny: Recipe, tmp_path: Path, optimizer: str, schedule: str):
    recipe = replace(
        tiny,
        optimizer=replace(tiny.optimizer, name=optimizer, lr=0.5 if optimizer == "sgd" else 0.02, clip=1.0),
        schedule=ScheduleConfig(schedule),
        trainer=replace(tiny.trainer, epochs=12, class_weights=True),
    )
    run.train(recipe, tmp_path / "run")
    losses = [json.loads(line)["loss"] for line in (tmp_path / "run/log.jsonl").open()]
    assert losses[-1] < losses[0]


@pytest.mark.parametrize("every", [1, 5, 8])
def test_plateau_waits_for_its_patience_in_epochs_however_seldom_it_is_told_of_one(every: int):
    optimizer = torch.optim.SGD([torch.zeros(1, requires_grad=True)], 0.1)
    schedule = Schedule(ScheduleConfig("plateau", patience=20), optimizer, "min")
    rates = {}
    for epoch in range(every, 80, every):
        schedule.validated(1.0, epoch)
        rates[epoch - every] = schedule.lr  # by the epochs since the first, which was the best
    waited = next(epochs for epochs, rate in rates.items() if rate < 0.1)
    assert 20 < waited <= 20 + every


def test_mixed_precision_trains_too(tiny: Recipe, tmp_path: Path):
    result = run.train(replace(tiny, trainer=replace(tiny.trainer, precision="bf16-mixed")), tmp_path / "run")
    assert result["val"]["accuracy"] > 0.1


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"model.name": "graphcon-gnc"}, "model.name: model 'graphcon-gnc' is unknown"),
        ({"model.heads": 4}, "has no heads"),
        ({"model.dt": -1.0}, "model.dt = -1.0, but must be above 0"),
        ({"model.edge_features": True}, "these data have no edge features"),
        ({"trainer.metric": "mae"}, "trainer.metric = 'mae', but the target is for classification"),
        ({"trainer.loss": "l1"}, "trainer.loss = 'l1', but the target is for classification"),
        ({"data.name": "coraa"}, "Did you mean 'cora'"),
        ({"trainer.devices": 2}, "one graph"),
    ],
)
def test_a_setting_that_does_not_fit_is_refused(tiny: Recipe, tmp_path: Path, changes: dict, message: str):
    with pytest.raises(InputError, match=message):
        run.train(recipes.replace(tiny, changes), tmp_path / "run")


@pytest.mark.parametrize(
    ("trainer", "message"),
    [
        (TrainerConfig(threads=0), "trainer.threads = 0, but must be at least 1"),
        (TrainerConfig(epochs=0), "trainer.epochs = 0, but must be at least 1"),
    ],
)
def test_a_number_out_of_range_is_refused_before_anything_is_written(
    tiny: Recipe, tmp_path: Path, trainer: TrainerConfig, message: str
):
    with pytest.raises(InputError, match=message):
        run.train(replace(tiny, trainer=trainer), tmp_path / "run")
    assert not (tmp_path / "run").exists()


WITH_LITTLE_ROOM = """
import resource, sys
from graphcon import kernels
from graphcon.cli import main

resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))
with kernels.disabled():  # nothing of ours is compiled, and put on the disk
    sys.exit(main(sys.argv[1:]))
"""


def test_where_a_checkpoint_cannot_be_written_the_run_says_so_and_goes_on_later(tmp_path: Path):
    pytest.importorskip("resource", reason="this system sets no limits")
    settings = "cora-gcn --model.steps 2 --trainer.epochs 3 --trainer.threads 1 --out run"
    line = [sys.executable, "-c", WITH_LITTLE_ROOM, "train", *settings.split()]
    done = subprocess.run(line, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 2, done.stderr
    assert "run/last.ckpt: File too large. Raise the limit" in done.stderr
    assert "Traceback" not in done.stderr
    assert [path.name for path in (tmp_path / "run").iterdir() if path.name.startswith(".")] == []
    measured = run.train(RunFolder(tmp_path / "run").recipe(), tmp_path / "run", resume=True)
    assert measured is not None
    assert measured["epochs"] == 3


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"trainer.loss": "l1"}, "trainer.loss = 'l1', but the target is for classification"),
        ({"trainer.metric": "mae"}, "trainer.metric = 'mae', but the target is for classification"),
        ({"data.batching": "vr-gcn"}, "'vr-gcn' trains a plain gcn"),
        ({"data.batching": "cluster-gcn", "data.clusters": 5000}, "data.clusters = 5000"),
        ({"trainer.tensorboard": True}, "--tensorboard needs TensorBoard"),
    ],
)
def test_settings_that_do_not_fit_together_leave_no_folder(tiny: Recipe, tmp_path: Path, changes, message, monkeypatch):
    monkeypatch.setitem(sys.modules, "torch.utils.tensorboard", None)
    with pytest.raises(InputError, match=message):
        run.train(recipes.replace(tiny, changes), tmp_path / "run")
    assert list(tmp_path.iterdir()) == []


def test_the_step_before_a_training_changes_nothing_of_it(molecules: Recipe, tmp_path: Path, monkeypatch):
    recipe = recipes.replace(molecules, {"model.options.norm": "batch", "model.dropout": 0.5})
    run.train(recipe, tmp_path / "a")
    monkeypatch.setattr(run, "rehearse", lambda *_: None)
    run.train(recipe, tmp_path / "b")
    assert _everything(tmp_path / "a") == _everything(tmp_path / "b")


def test_kernels_are_loaded_before_the_seconds_of_a_training_are_counted(tiny: Recipe, tmp_path: Path):
    (tmp_path / "r.toml").write_text(recipes.to_toml(tiny))
    program = (
        "import sys; from pathlib import Path; from graphcon.training import recipes, run\n"
        "tell = lambda *_: print('graphcon.kernels.loops.walk' in sys.modules)\n"
        "run.train(recipes.load('r.toml'), Path('run'), reporter=tell)"
    )
    done = subprocess.run([sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.stdout == "True\n", done.stderr


def test_a_log_for_tensorboard_holds_every_epoch(tiny: Recipe, tmp_path: Path):
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    run.train(replace(tiny, trainer=replace(tiny.trainer, tensorboard=True)), tmp_path / "run")
    events = EventAccumulator(str(tmp_path / "run/tensorboard"))
    events.Reload()
    assert [event.step for event in events.Scalars("loss")] == [1, 2, 3, 4, 5, 6]
    assert set(events.Tags()["scalars"]) == {"loss", "lr", "val/accuracy"}


def test_weights_between_encoder_and_decoder_can_decay_in_another_way(tiny: Recipe):
    recipe = replace(tiny, optimizer=replace(tiny.optimizer, weight_decay=0.5, core_weight_decay=0.0))
    dataset, _ = load_dataset(recipe.data)
    model = build(recipe.model, TaskSpec.of(dataset))
    outside, core = build_optimizer(recipe.optimizer, model).param_groups
    assert (outside["weight_decay"], core["weight_decay"]) == (0.5, 0.0)
    assert {id(p) for p in core["params"]} == {id(p) for p in model.net.core.parameters()}
    assert len(outside["params"]) + len(core["params"]) == len(list(model.parameters()))


def test_another_decay_for_a_core_that_is_not_there_is_refused():
    config = OptimizerConfig(core_weight_decay=0.0)
    with pytest.raises(InputError, match="no weights between encoder and decoder"):
        build_optimizer(config, torch.nn.Linear(2, 2))


def test_nodes_without_a_target_do_not_count_in_batches_of_graphs(tmp_path: Path):
    recipe = recipes.replace(
        recipes.load("transfer-8-gcn"),
        {"data.limit": 20, "data.batch_size": 5, "model.channels": 4, "trainer.epochs": 1},
    )
    dataset, _ = load_dataset(recipe.data)
    assert len(targets_of(dataset, "train")) == 20
    measured = run.train(recipe, tmp_path / "run")
    assert measured is not None
    assert 20 * measured["test"]["accuracy"] == pytest.approx(round(20 * measured["test"]["accuracy"]))
