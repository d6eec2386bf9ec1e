"""The benchmark of accuracy: its measures against other implementations, and its splits."""

import json
import math

import numpy as np
import pandas as pd
import pytest
from benchmarks.accuracy import ahead, copies, few, peers, standings, trial
from benchmarks.accuracy.__main__ import main
from sklearn.metrics import log_loss, roc_auc_score


def predicted(n, k, seed=0):
    rng = np.random.default_rng(seed)
    P = rng.dirichlet(np.ones(k) / 2, n)
    return P, np.array([rng.choice(k, p=p) for p in P])


@pytest.mark.parametrize("k", [2, 5])
def test_ece_is_that_of_rows_sorted_into_bins_one_by_one(k):
    P, y = predicted(200, k)
    P[0] = np.eye(k)[0]  # the last bin includes 1
    bins = [[] for _ in range(15)]
    for p, label in zip(P, y, strict=True):
        at = next(b for b in range(15) if p.max() < (b + 1) / 15 or b == 14)
        bins[at].append((p.max(), p.argmax() == label))
    gaps = [abs(np.mean(one, axis=0) @ [1, -1]) * len(one) for one in bins if one]
    assert trial.ece(P, y) == pytest.approx(sum(gaps) / len(y))


@pytest.mark.parametrize("k", [2, 5])
def test_log_loss_and_auc_are_scikit_learns(k):
    P, y = predicted(300, k)
    found = trial.measure(P, y)
    assert found["log_loss"] == pytest.approx(log_loss(y, P, labels=range(k)))
    many = {"multi_class": "ovr", "average": "weighted", "labels": range(k)}
    theirs = roc_auc_score(y, P, **many) if k > 2 else roc_auc_score(y, P[:, 1])
    assert found["auc"] == pytest.approx(theirs)
    assert found["accuracy"] == np.mean(P.argmax(axis=1) == y)


def test_a_calibrated_model_has_the_error_of_the_floor():
    P, _ = predicted(2_000, 3)
    rng = np.random.default_rng(1)
    drawn = [trial.ece(P, [rng.choice(3, p=p) for p in P]) for _ in range(20)]
    assert trial.ece_floor(P) == pytest.approx(np.mean(drawn), rel=0.15)


def test_rare_classes_and_unlabelled_rows_are_left_out_and_said(tmp_path):
    lines = ["x,y", *(f"{i},a" for i in range(20)), *(f"{i},b" for i in range(10))]
    (tmp_path / "t.csv").write_text("\n".join([*lines, "1,c", "2,"]), encoding="utf-8")
    [source] = trial.tables(tmp_path, {}, rows=24)
    task = trial.read_table(source)
    assert dict(zip(*np.unique(task.y, return_counts=True), strict=True)) == {"a": 16, "b": 8}
    assert len(task.splits) == 10
    assert [len(split[0]) for split in task.splits] == [12] * 10
    told = "; ".join(task.notes)
    assert "the last column, 'y'" in told
    assert "c (1)" in told
    assert "1 rows without a label" in told


def test_a_column_that_is_the_label_is_left_out_and_said(tmp_path):
    lines = ["age,alive,survived", *(f"{i},{i % 2},{i % 2}" for i in range(40))]
    (tmp_path / "titanic.csv").write_text("\n".join(lines), encoding="utf-8")
    task = trial.read_table(trial.tables(tmp_path, {"titanic": "survived"}, rows=40)[0])
    assert list(task.X) == ["age"]
    assert task.notes == ["column 'alive' left out: it is the label"]


def test_texts_join_subject_and_body_and_pair_training_with_test_files(tmp_path):
    for part, n in (("train", 12), ("test", 4)):
        records = [
            {"label": i % 2, "subject": f"s{i}", "text": "all", "body": f"b{i}"} for i in range(n)
        ]
        file = tmp_path / f"news_{part}.jsonl"
        file.write_text("\n".join(map(json.dumps, records)), encoding="utf-8")
    [source] = trial.texts(tmp_path, rows=8)
    task = trial.read_texts(source)
    train, test = task.splits[0]
    assert (source.name, len(train), len(test)) == ("news", 8, 4)
    assert task.take(test)[1] == "s1\nb1"
    assert sorted(np.unique(task.y[train], return_counts=True)[1]) == [4, 4]


def test_80_20_is_one_split_of_many_rows_and_three_of_fewer(tmp_path):
    for name, n in (("few", 1_499), ("many", 1_500)):
        lines = ["x,y", *(f"{i},{'ab'[i % 5 == 0]}" for i in range(n))]
        (tmp_path / f"{name}.csv").write_text("\n".join(lines), encoding="utf-8")
    for source in trial.tables(tmp_path, {}, 6_000, ["80/20"]):
        task = trial.read_table(source)
        assert len(task.splits) == {"few": 3, "many": 1}[source.name]
        for train, test in task.splits:
            assert sorted([*train, *test]) == list(range(len(task.y)))
            assert len(test) == 300
            assert np.sum(task.y[test] == "b") == 60
        assert len({tuple(sorted(test)) for _, test in task.splits}) == len(task.splits)


def labelled(n=400, seed=0):
    """Two columns, whose cells may be missing, and two classes that both tell of."""
    rng = np.random.default_rng(seed)
    y = rng.random(n) < 0.4
    number = np.where(rng.random(n) < 0.1, np.nan, rng.normal(y, 1.0))
    level = np.where(rng.random(n) < 0.5, np.array(["u", "v", "w"])[rng.integers(3, size=n)], "u")
    level = np.where(y & (rng.random(n) < 0.3), "w", level).astype(object)
    level[rng.random(n) < 0.1] = None
    return pd.DataFrame({"number": number, "level": level}), np.where(y, "yes", "no")


# Standings ---------------------------------------------------------------------------------------


def test_standings_are_counted_as_by_hand():
    def made_up(**by_contender):
        """Results of three tables: by contender accuracy and log loss of each."""
        return standings.Summary([
            trial.Trials(name, "80/20", "made up", 100, [
                trial.Trial(name, contender.replace("_", " "), skipped="two classes only")
                if of[at] is None
                else trial.Trial(name, contender.replace("_", " "), {
                    "accuracy": of[at][0], "log_loss": of[at][1], "assessed": 1.02 * of[at][1],
                })
                for contender, of in by_contender.items()
            ])
            for at, name in enumerate("abc")
        ])  # fmt: skip

    told = standings.beside(
        made_up(
            naively=[(0.85, 0.20), (0.90, 0.20), (0.69, 0.82)],
            random_forest=[(0.84, 0.40), (0.89, 0.20), (0.75, 0.80)],
            EBM=[(0.80, 0.20), (0.80, 0.10), None],
        )
    )
    # (1/2 · 1 · 41/40) ** (1/3) = .800; (1 + 1 - 6) / 3 points of accuracy.
    assert [line.split() for line in told.splitlines()[2:]] == [
        ["random", "forest", "0.800", "0.667", "-0.013", "0.667", "3"],
        ["EBM", "1.414", "0.500", "0.075", "1.000", "2"],
        ["0", "data", "sets", "with", "an", "error", "or", "a", "NaN"],
        ["log", "loss", "by", "assess()", "/", "on", "other", "rows:", "1.020"],
    ]


# A whole run -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "peer", [peers.FOREST, peers.STOPPED, peers.LIGHT, peers.ADDITIVE], ids=lambda one: one.name
)
def test_peers_take_missing_cells_strings_and_any_name_of_a_column(peer):
    if peer.missing:
        pytest.skip(f"{peer.missing} is not installed")
    X, y = labelled(80)
    X = X.rename(columns={"level": 'a, "b": [c]'})
    task = trial.Task("t", X, y, [(np.arange(60), np.arange(60, 80))], 80)
    found = trial.attempt(task, peer)
    assert (found.failed, found.skipped) == ("", "")
    assert found.means["log_loss"] < 1.5


@pytest.mark.slow
def test_both_splits_are_measured_reported_and_saved(tmp_path, capsys):
    X, _ = labelled(90)
    X.assign(y=np.arange(90) % 3).to_csv(tmp_path / "three.csv", index=False)
    file = tmp_path / "results" / "found.json"
    wanted = {"GaussianNB", "EBM", "naively"}
    skipped = [one.name for one in peers.ON_TABLES if one.name not in wanted]
    arguments = [str(tmp_path), "--jobs", "1", "--keep", str(tmp_path / "kept")]
    main([*arguments, "--save", str(file), "--skip", *skipped])
    told = capsys.readouterr().out
    found = json.loads(file.read_text("utf-8"))["results"]
    expected = [("three", "2-fold"), ("three", "80/20")]
    assert [(one["name"], one["split"]) for one in found] == expected
    for one in found:
        by_name = {of["contender"]: of for of in one["trials"]}
        assert {*by_name} == wanted
        assert {name for name, of in by_name.items() if of["means"]} == wanted - {"EBM"}
        assert [of["failed"] for of in by_name.values()] == [""] * 3
        assert f"three, {one['split']}: 90 rows" in told
    assert told.count("naively beside  ") == 2
    assert "EBM on 1 of 1 data sets: " in told
    if peers.ADDITIVE.missing is None:
        assert "EBM on 1 of 1 data sets: measured by 80/20 only" in told
        assert "EBM on 1 of 1 data sets: measured on data sets of 2 classes only" in told
    assert len([*(tmp_path / "kept").iterdir()]) == 2  # GaussianNB's, by split
    main([*arguments, "--split", "80/20", "--skip", *skipped])
    told = capsys.readouterr().out
    assert "80/20" in told
    assert "2-fold" not in told


def test_a_class_is_thinned_to_learn_from_and_weighs_as_much_in_the_test():
    rng = np.random.default_rng(0)
    y = rng.choice(["a", "b", "c"], 20_000, p=[0.5, 0.3, 0.2])
    task = trial.Task("t", pd.DataFrame({"x": np.arange(20_000.0)}), y, [], 20_000)
    draws = [*few.RareClass.draws(task, 3)]
    assert len({draw.rows.train.tobytes() for draw in draws}) == 3
    for draw in draws:
        train, test = draw.rows.train, draw.rows.test
        assert not set(train) & set(test)
        assert len(train) + len(test) == 20_000
        assert draw.rows.task.y.tolist() == (y == "b").tolist()
        assert (y[train] == "b").mean() == pytest.approx(few.RARE, rel=0.05)
        assert np.average(y[test] == "b", weights=draw.weight) == pytest.approx(few.RARE)
        assert set(draw.weight[y[test] != "b"]) == {1.0}


@pytest.mark.slow
def test_rows_in_time_are_measured_and_saved(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(ahead, "ROWS", 400)
    monkeypatch.setattr(ahead, "BLOCKS", 4)
    monkeypatch.setattr(ahead, "WINDOWS", (1, math.inf))
    main([str(tmp_path), "--time", "--save", str(tmp_path / "found.json")])
    assert "slow drift: 400 rows in 4 blocks" in capsys.readouterr().out
    found = json.loads((tmp_path / "found.json").read_text())
    assert found["command"] == "make bench-accuracy ARGS=--time"
    assert len(found["results"]) == 2 * (1 + 3 * 3)


def test_a_dose_is_chosen_by_the_blocks_before():
    losses = {1.0: np.array([9.0, 1.0, 1.0, 5.0]), math.inf: np.array([2.0, 3.0, 11.0, 2.0])}
    assert ahead.chosen(losses) == (2 + 3 + 11 + 5) / 4


@pytest.mark.slow
def test_copies_are_measured_and_saved(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(copies, "DRAWS", 1)
    monkeypatch.setattr(copies, "TESTED", 200)
    (tmp_path / "text").mkdir()
    records = [{"label": i % 2, "text": f"note {i} of class c{i % 2}"} for i in range(400)]
    lines = "\n".join(map(json.dumps, records))
    (tmp_path / "text" / "sms_spam.jsonl").write_text(lines, encoding="utf-8")
    main([str(tmp_path), "--copies", "--save", str(tmp_path / "found.json")])
    told = capsys.readouterr().out
    found = json.loads((tmp_path / "found.json").read_text("utf-8"))
    assert found["command"] == "make bench-accuracy ARGS=--copies"
    assert [one["name"] for one in found["results"]][-1] == "one text a thousand times, sms_spam"
    for one in found["results"]:
        assert one["name"] in told
        assert one["given"] < 1.5 * one["plain"] + 0.1


def test_few_rows_are_measured_reported_and_saved(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(few, "SIZES", (6, 10))
    monkeypatch.setattr(few, "LEAST", 800)
    monkeypatch.setattr(few, "RARE", 0.02)
    for name, n in (("large", 900), ("small", 90)):
        X, y = labelled(n)
        (tmp_path / "tables").mkdir(exist_ok=True)
        X.assign(y=y).to_csv(tmp_path / "tables" / f"{name}.csv", index=False)
    (tmp_path / "text").mkdir()
    records = [{"label": i % 2, "text": f"word{i % 3} all"} for i in range(60)]
    lines = "\n".join(map(json.dumps, records))
    (tmp_path / "text" / "notes.jsonl").write_text(lines, encoding="utf-8")
    file = tmp_path / "found.json"
    arguments = [str(tmp_path), "--few", "--draws", "1", "--jobs", "1"]
    main([*arguments, "--save", str(file)])
    told, found = capsys.readouterr().out, json.loads(file.read_text("utf-8"))
    for line in ("2 tables\n", "1 texts\n", "3 tables and texts\n", "A class of one row in 50"):
        assert line in told
    assert found["command"] == "make bench-accuracy ARGS='--few --draws 1'"
    assert {one["table"] for one in found["results"] if "table" in one} == {"large"}
    drawn = [one for one in found["results"] if "table" not in one]
    assert {one["rows"] for one in drawn} == {6, 10}
    main([*arguments, "--only", "notes"])
    told = capsys.readouterr().out
    assert "1 texts\n" in told
    assert "random forest" not in told
    assert "rare class" not in told
