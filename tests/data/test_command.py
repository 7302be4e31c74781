"""`graphcon data`, as a user types it."""

import json
import os
import subprocess
import sys

import networkx as nx
import pytest

from graphcon import cli, data
from graphcon.errors import InputError


def run(capsys, *arguments: str) -> tuple[int, str, str]:
    code = cli.main(["data", *arguments])
    streams = capsys.readouterr()
    return code, streams.out, streams.err


def test_the_list_has_every_set_with_its_facts(capsys):
    code, out, _ = run(capsys)
    assert code == 0
    for name in data.names():
        assert name in out
    assert "2,708" in out
    assert "in the package" in out
    assert "graphcon[ogb]" in out


def test_the_list_as_json_says_where_sets_are_and_how_they_are_got(capsys, benchmark_root):
    code, out, _ = run(capsys, "--json", "--data-root", str(benchmark_root))
    records = {record["name"]: record for record in json.loads(out)}
    assert code == 0
    assert records["texas"]["on_disk"] == str(benchmark_root / "webkb" / "texas" / "raw")
    assert records["texas"]["edge_homophily"] == pytest.approx(0.11, abs=0.005)
    assert records["ppi"]["on_disk"] is None
    assert records["ppi"]["obtain"] == "to fetch"
    assert records["ppi"]["protocols"] == {"published": "the published parts: 20 / 2 / 2 graphs"}


def test_one_set_shows_degrees_and_balance(capsys):
    code, out, _ = run(capsys, "cora")
    assert code == 0
    for part in ("Neural Networks", "726", "incoming edges", "140 / 1,360 / 985", "0.804 of edges"):
        assert part in out


def test_a_set_that_is_made_on_the_spot_is_shown_as_any_other(capsys):
    code, out, _ = run(capsys, "graph-transfer-ring-8")
    assert code == 0
    assert "random #0: 600 / 200 / 200 graphs" in out


def test_one_set_as_json(capsys):
    code, out, _ = run(capsys, "solubility", "--json", "--seed", "3")
    record = json.loads(out)["read"]
    assert code == 0
    assert record["split"] == {
        "name": "given-test", "seed": 3, "unit": "graph", "train": 923, "val": 102, "test": 257
    }  # fmt: skip
    assert record["statistics"]["graphs"] == 1282


def test_direction_can_be_taken_away_from_a_named_set(capsys, benchmark_root):
    options = ("texas", "--data-root", str(benchmark_root), "--json")
    _, directed, _ = run(capsys, *options)
    _, undirected, _ = run(capsys, *options, "--undirected")
    assert json.loads(directed)["read"]["statistics"]["undirected"] is False
    assert json.loads(undirected)["read"]["statistics"]["undirected"] is True
    code, _, err = run(capsys, *options, "--directed", "--undirected")
    assert (code, "say one of them" in err) == (2, True)


@pytest.mark.parametrize(
    ("name", "said", "named", "takes"),
    [
        ("cora", "--target nonsense --train 0.9 --words foo", "--target, --words, --train", "--seed"),
        ("ppi", "--split-column part", "--split-column", "--seed"),  # also where it is not here
        ("graph-transfer-ring-8", "--directed", "--directed", "--seed"),
        ("graph.npz", "--features age", "--features", "--train"),
        ("graph.graphml", "--target club --id name", "--id", "--target"),
    ],
)
def test_options_that_would_be_of_no_effect_are_refused(capsys, name, said, named, takes):
    code, _, err = run(capsys, name, *said.split())
    assert code == 2
    err = " ".join(err.split())
    assert f"{named}: of no effect for '{name}'" in err
    assert takes in err.split("it takes only")[1]


@pytest.mark.parametrize("name", ["graph-transfer-ring-8", "graph.npz", None])
def test_a_protocol_is_for_named_sets_alone(name, tmp_path):
    tables = {} if name else {"nodes": tmp_path / "nodes.csv", "edges": tmp_path / "edges.csv"}
    with pytest.raises(InputError, match=r"protocol 'public': of no effect for .* Leave it out"):
        data.open_data(name, **tables, protocol="public")


def test_a_set_that_is_not_here_tells_where_its_files_belong(capsys, tmp_path):
    code, out, _ = run(capsys, "ppi", "--data-root", str(tmp_path))
    assert code == 0
    assert "train_feats.npy" in out
    assert f"{tmp_path}/ppi/raw" in out.replace("\n", "")


def test_each_of_several_targets_has_its_own_figures(capsys, tmp_path):
    (tmp_path / "n.csv").write_text("id,f,a,b\n" + "".join(f"{i},{i},{i}.5,{1000 + i}.5\n" for i in range(12)))
    (tmp_path / "e.csv").write_text("source,target\n0,1\n")
    tables = ("--nodes", str(tmp_path / "n.csv"), "--edges", str(tmp_path / "e.csv"))
    code, out, _ = run(capsys, *tables, "--target", "a", "b")
    assert code == 0
    shown = [line.split() for line in out.splitlines()]
    assert ["a", "0.5", "6", "3.606", "11.5"] in shown
    assert ["b", "1000", "1006", "3.606", "1012"] in shown
    _, out, _ = run(capsys, *tables, "--target", "a", "b", "--json")
    figures = dict(json.loads(out)["statistics"]["balance"])
    assert (figures["minimum of a"], figures["maximum of b"]) == (0.5, 1011.5)
    _, out, _ = run(capsys, *tables, "--target", "b", "--json")
    assert dict(json.loads(out)["statistics"]["balance"])["minimum"] == 1000.5


def test_own_tables_are_checked_and_explained(capsys, tmp_path):
    (tmp_path / "n.csv").write_text("id,f,c,label\n" + "".join(f"{i},{i},{'xy'[i % 2]},{i % 3}\n" for i in range(9)))
    (tmp_path / "e.csv").write_text("source;target\n0;1\n1;1\n")
    paths = ("--nodes", str(tmp_path / "n.csv"), "--edges", str(tmp_path / "e.csv"), "--target", "label")
    assert run(capsys, *paths)[0] == 2
    (tmp_path / "e.csv").write_text("source,target\n0,1\n1,1\n")
    code, out, _ = run(capsys, *paths)
    assert code == 0
    for part in (
        "node classification, 3 outputs",
        "1 self-loop, kept",
        "7 isolated nodes",
        "2 categories: x, y",
    ):
        assert part in out
    code, out, _ = run(capsys, *paths, "--json")
    assert json.loads(out)["schema"]["target"]["classes"] == ["0", "1", "2"]


def test_a_mean_below_zero_is_shown_as_a_sum(capsys, tmp_path):
    rows = "".join(f"{i},{(-1) ** i - 0.5},{i % 3}\n" for i in range(12))
    (tmp_path / "n.csv").write_text("id,f,label\n" + rows)
    (tmp_path / "e.csv").write_text("source,target\n0,1\n")
    paths = ("--nodes", str(tmp_path / "n.csv"), "--edges", str(tmp_path / "e.csv"), "--target", "label")
    _, out, _ = run(capsys, *paths, "--train", "1", "--val", "0")
    assert "(x + 0.5) / 1 " in out


def test_tabs_can_be_named_from_a_shell(capsys, tmp_path):
    (tmp_path / "n.txt").write_text("id\tf\tlabel\n" + "".join(f"{i}\t{i}\t{i % 2}\n" for i in range(9)))
    (tmp_path / "e.txt").write_text("source\ttarget\n0\t1\n")
    paths = ("--nodes", str(tmp_path / "n.txt"), "--edges", str(tmp_path / "e.txt"), "--target", "label")
    assert run(capsys, *paths, "--delimiter", "\\t")[0] == 0
    assert run(capsys, *paths, "--delimiter", "tab")[0] == 0


def test_graphml_is_shown_too(capsys, tmp_path):
    graph = nx.karate_club_graph()
    nx.set_node_attributes(graph, {node: float(node) for node in graph}, "f")
    nx.write_graphml(graph, tmp_path / "club.graphml")
    code, out, _ = run(capsys, str(tmp_path / "club.graphml"), "--target", "club")
    assert code == 0
    assert "Mr. Hi" in out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["coar"], "Did you mean 'cora'"),
        (["cora", "texas"], "takes one name"),
        (["build", "cora"], "can build mnist-superpixels"),
        (["cora", "--nodes", "n.csv"], "not both"),
        (["--nodes", "n.csv"], "--edges is missing"),
        (["--nodes", "no.csv", "--edges", "no.csv", "--target", "y"], "no.csv: there is no such file"),
        (["--nodes", "/", "--edges", "no.csv", "--target", "y"], "/: is a folder, and a table is a file"),
        (["texas", "--data-root", "/no/such"], "/no/such: there is no such folder"),
        (["cora", "--protocol", "fixed"], "It has: random-development, public"),
    ],
)
def test_bad_usage_ends_in_exit_code_2(capsys, arguments, message):
    code, _, err = run(capsys, *arguments)
    assert code == 2
    assert message in err
    assert "Traceback" not in err


def test_a_missing_set_without_a_network_is_exit_code_2_in_a_process_of_its_own(tmp_path):
    """The network is taken away by a proxy that is not there."""
    environment = os.environ | {"GRAPHCON_CACHE": str(tmp_path), "HTTPS_PROXY": "http://127.0.0.1:9"}
    environment |= {"https_proxy": "http://127.0.0.1:9"}
    command = [sys.executable, "-m", "graphcon.cli", "data", "ppi", "--fetch"]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 2
    assert "ppi is not on this machine" in done.stderr
    assert f"{tmp_path}/ppi/raw" in done.stderr
    assert "Traceback" not in done.stderr
