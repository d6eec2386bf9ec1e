"""The measures that the benchmark of accuracy reports, against other implementations."""

import json

import numpy as np
import pytest
from benchmarks.accuracy import aims, data, measures
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
    assert measures.ece(P, y) == pytest.approx(sum(gaps) / len(y))


@pytest.mark.parametrize("k", [2, 5])
def test_log_loss_and_auc_are_scikit_learns(k):
    P, y = predicted(300, k)
    found = measures.measure(P, y)
    assert found["log_loss"] == pytest.approx(log_loss(y, P, labels=range(k)))
    many = {"multi_class": "ovr", "average": "weighted", "labels": range(k)}
    theirs = roc_auc_score(y, P, **many) if k > 2 else roc_auc_score(y, P[:, 1])
    assert found["auc"] == pytest.approx(theirs)
    assert found["accuracy"] == np.mean(P.argmax(axis=1) == y)


def test_a_calibrated_model_has_the_error_of_the_floor():
    P, _ = predicted(2_000, 3)
    rng = np.random.default_rng(1)
    drawn = [measures.ece(P, [rng.choice(3, p=p) for p in P]) for _ in range(20)]
    assert measures.ece_floor(P) == pytest.approx(np.mean(drawn), rel=0.15)


def test_rare_classes_and_unlabelled_rows_are_left_out_and_said(tmp_path):
    lines = ["x,y", *(f"{i},a" for i in range(20)), *(f"{i},b" for i in range(10))]
    (tmp_path / "t.csv").write_text("\n".join([*lines, "1,c", "2,"]), encoding="utf-8")
    [source] = data.tables(tmp_path, {}, rows=24)
    task = data.read_table(source)
    assert dict(zip(*np.unique(task.y, return_counts=True), strict=True)) == {"a": 16, "b": 8}
    assert len(task.splits) == 10
    assert [len(split[0]) for split in task.splits] == [12] * 10
    told = "; ".join(task.notes)
    assert "the last column, 'y'" in told
    assert "c (1)" in told
    assert "1 rows without a label" in told


def test_label_column_is_the_readmes_unless_named(tmp_path):
    folder = tmp_path / "tables"
    folder.mkdir()
    (folder / "t.csv").write_text("y,x\n1,2\n", encoding="utf-8")
    table = "| file | label column |\n|---|---|\n| tables/t.csv | y |\n"
    (tmp_path / "README.md").write_text(table, encoding="utf-8")
    assert data.tables(folder, {}, 10)[0].label == "y"
    assert data.tables(folder, {"t": "x"}, 10)[0].label == "x"


def test_texts_join_subject_and_body_and_pair_training_with_test_files(tmp_path):
    for part, n in (("train", 12), ("test", 4)):
        records = [
            {"label": i % 2, "subject": f"s{i}", "text": "all", "body": f"b{i}"} for i in range(n)
        ]
        file = tmp_path / f"news_{part}.jsonl"
        file.write_text("\n".join(map(json.dumps, records)), encoding="utf-8")
    [source] = data.texts(tmp_path, rows=8)
    task = data.read_texts(source)
    train, test = task.splits[0]
    assert (source.name, len(train), len(test)) == ("news", 8, 4)
    assert task.take(test)[1] == "s1\nb1"
    assert sorted(np.unique(task.y[train], return_counts=True)[1]) == [4, 4]


def test_ratio_and_share_are_over_what_both_have():
    ours, theirs = {"a": 0.1, "b": 0.4, "c": 9.0}, {"a": 0.2, "b": 0.2}
    assert aims.ratio(ours, theirs) == pytest.approx(1)
    assert aims.share(ours, theirs) == 0.5
    assert np.isnan(aims.share({}, theirs))
