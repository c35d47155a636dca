"""All fits of a comparison: each once, kept at once, the same for any number of workers."""

import io
import json
import os
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
import sklearn
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, MinMaxScaler, StandardScaler

import odd_methods
from ispca import ISPCA, SPCA, HorseshoeClassifier
from ispca.fitting import runner
from ispca.fitting.fit_store import estimator_fingerprint
from ispca.fitting.runner import portions
from ispca.foundation import progress as _progress
from ispca.transformers import base as _transformer_base
from ispca.validation import StackedClassifier, compare
from odd_methods import Fragile, Impossible, Noted

SHORT = {"n_chains": 2, "n_warmup": 50, "n_draws": 50, "retry": False}
QUICK = {"lasso": LogisticRegression(), "bayes": GaussianNB()}


@pytest.fixture
def data(rng):
    """Sixty samples; the first feature is the number of the sample."""
    X = rng.normal(size=(60, 30))
    y = np.where(X[:, 1] + rng.normal(size=60) > 0, "sick", "healthy")
    X[:, 0] = np.arange(60)
    return X, y


@pytest.fixture
def log(tmp_path):
    return tmp_path / "fits.log"


def fits(log):
    return [line.split("|") for line in log.read_text().splitlines()] if log.exists() else []


def same(first, second):
    """All numbers of two comparisons are equal, but the seconds."""
    assert first.methods == second.methods
    assert first.errors == second.errors
    for name, scores in first.scores.items():
        np.testing.assert_array_equal(scores, second.scores[name], err_msg=name)
    for name in first.table.dtype.names:
        if not name.startswith("seconds"):
            np.testing.assert_array_equal(first.table[name], second.table[name], err_msg=name)


def methods():
    model = HorseshoeClassifier(**SHORT)
    return {
        "PCA": make_pipeline(ISPCA(5, n_supervised=0, whiten=True), model),
        "SPCA": make_pipeline(SPCA(5, whiten=True), model),
        "ISPCA": make_pipeline(ISPCA(5, whiten=True), model),
        "fragile": Fragile(3),
        **QUICK,
    }


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:.*could not be fitted")
def test_one_worker_or_several(data):
    one = compare(methods(), *data, cv=3, n_jobs=1)
    assert 0 < len(one.errors) <= 3
    same(one, compare(methods(), *data, cv=3, n_jobs=2))


@pytest.mark.filterwarnings("ignore:.*could not be fitted")
def test_methods_alone_or_together(data):
    together = compare(methods(), *data, cv=2, n_jobs=1, metrics="mlpd")
    alone = compare({"ISPCA": methods()["ISPCA"]}, *data, cv=2, n_jobs=1, metrics="mlpd")
    np.testing.assert_array_equal(together.scores["mlpd"][:, 2:3], alone.scores["mlpd"])


def test_the_reductions_of_a_split_share_a_design(data, monkeypatch):
    made, original = [], _transformer_base.make_design
    monkeypatch.setattr(_transformer_base, "make_design", lambda *a, **k: made.append(1) or original(*a, **k))
    reductions = {name: methods()[name] for name in ("PCA", "SPCA", "ISPCA")}
    compare(reductions, *data, cv=2, n_jobs=1)
    assert len(made) == 2


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_each_fit_once_in_a_worker_with_one_thread(data, log, n_jobs, monkeypatch):
    monkeypatch.setattr(runner, "SECONDS_WORTH_WORKERS", 0.0)
    named = {name: Noted(str(log), name) for name in "abc"}
    compare(named, *data, cv=4, n_jobs=n_jobs)
    done = fits(log)
    assert sorted(line[0] for line in done) == sorted("abc" * 4)
    assert {line[2] for line in done} == {"1"}
    if n_jobs == 2:
        # The first split is fitted here, to see whether workers are worth their start.
        assert 2 <= len({line[1] for line in done}) <= 3
    for line in done:
        assert len(line[3].split()) == 48


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_a_failing_fit_is_recorded_and_stops_nothing(data, log, n_jobs, tmp_path):
    named = {"broken": Fragile(), "some": Fragile(3), "fine": Noted(str(log))}
    with pytest.warns(
        UserWarning,
        match="broken could not be fitted in 4 of 4 splits, so it is not ranked: ArithmeticError: cannot",
    ):
        result = compare(named, *data, cv=4, n_jobs=n_jobs, resume=tmp_path / "fits")
    assert len(fits(log)) == 4
    failed = {"broken": 4, "some": sum(3 in split.train for split in result.splits), "fine": 0}
    assert dict(zip(result.table["method"], result.table["n_failed"], strict=True)) == failed
    assert (0, "broken", "ArithmeticError: cannot stand sample None") in result.errors
    assert np.isnan(result.scores["accuracy"][:, 0]).all()
    assert np.isfinite(result.scores["accuracy"][:, 2]).all()
    # Recorded failures are results: they come back, and are not tried again.
    with pytest.warns(UserWarning, match="could not be fitted"):
        same(result, compare(named, *data, cv=4, n_jobs=n_jobs, resume=tmp_path / "fits"))


@pytest.mark.parametrize("container", [np.asarray, pd.DataFrame], ids=["array", "frame"])
def test_nothing_is_fitted_again(data, log, tmp_path, container):
    X, y = container(data[0]), data[1]
    named = {"a": Noted(str(log), "a"), "b": Noted(str(log), "b")}
    first = compare(named, X, y, cv=4, n_jobs=2, resume=tmp_path / "fits")
    assert len(fits(log)) == 8
    again = compare(named, container(data[0].copy()), y.copy(), cv=4, n_jobs=1, resume=str(tmp_path / "fits"))
    assert len(fits(log)) == 8
    same(first, again)
    np.testing.assert_array_equal(first.table.seconds_model, again.table.seconds_model)
    # A new method and a new split bring the fits that are new.
    more = {**named, "c": Noted(str(log), "c")}
    compare(more, X, y, cv=4, n_jobs=1, resume=tmp_path / "fits")
    assert [line[0] for line in fits(log)[8:]] == ["c"] * 4
    renamed = {"A": named["a"], "B": named["b"]}
    compare(renamed, X, y, cv=4, n_jobs=1, resume=tmp_path / "fits")
    assert len(fits(log)) == 12


def test_used_and_fitted_objects_are_recognized(data, tmp_path):
    X, y = sp.csr_array(data[0]), data[1]
    model = LogisticRegression(max_iter=500)
    compare(model, X, y, cv=2, n_jobs=1, resume=tmp_path)
    before = {path: path.stat().st_mtime_ns for path in tmp_path.iterdir()}
    model.fit(X, y)
    assert X.has_sorted_indices
    assert X.has_canonical_format
    compare(model, X, y, cv=2, n_jobs=1, resume=tmp_path)
    assert {path: path.stat().st_mtime_ns for path in tmp_path.iterdir()} == before


def other_data(X, y):
    X = X.copy()
    X[5, 5] += 1e-9
    return X, y


@pytest.mark.parametrize(
    ("change", "options"),
    [
        (other_data, {}),
        (lambda X, y: (X, np.roll(y, 1)), {}),
        (lambda X, y: (X, y), {"random_state": 1}),
        (lambda X, y: (X, y), {"estimators": {"a": GaussianNB(var_smoothing=0.1)}}),
    ],
    ids=["X", "y", "seed", "parameter"],
)
def test_results_of_other_work_are_not_taken(data, tmp_path, change, options):
    """Whatever differs, the numbers are those of a comparison with an empty directory."""
    compare({"a": GaussianNB()}, *data, cv=3, n_jobs=1, resume=tmp_path)
    options = {"estimators": {"a": GaussianNB()}, "cv": 3, "n_jobs": 1, **options}
    X, y = change(*data)
    mixed = compare(X=X, y=y, resume=tmp_path, **options)
    same(mixed, compare(X=X, y=y, **options))
    assert len(list(tmp_path.iterdir())) == 6


def test_damaged_files_are_fitted_again(data, tmp_path):
    first = compare(QUICK, *data, cv=3, n_jobs=1, resume=tmp_path)
    cut, foreign, gone, *_ = sorted(tmp_path.iterdir())
    cut.write_bytes(cut.read_bytes()[:-20])
    foreign.write_text('{"format": 1, "kind": "Prediction", "value": [1]}')
    gone.unlink()
    (tmp_path / "notes.txt").write_text("mine")
    same(first, compare(QUICK, *data, cv=3, n_jobs=1, resume=tmp_path))
    assert len(list(tmp_path.iterdir())) == 7


def test_another_version_of_a_package_counts(monkeypatch):
    before = estimator_fingerprint(GaussianNB())
    assert estimator_fingerprint(GaussianNB()) == before
    assert estimator_fingerprint(GaussianNB(var_smoothing=0.1)) != before
    own = make_pipeline(FunctionTransformer(odd_methods.note), GaussianNB())
    for module, estimator in ((sklearn, GaussianNB()), (odd_methods, own), (odd_methods, Noted("log"))):
        before = estimator_fingerprint(estimator)
        monkeypatch.setattr(module, "__version__", "99", raising=False)
        assert estimator_fingerprint(estimator) != before
        monkeypatch.undo()


@pytest.mark.slow
@pytest.mark.parametrize("seed", ["1", "2"])
def test_the_fingerprint_is_the_same_in_every_process(seed):
    code = "from odd_methods import *; from ispca.fitting.fit_store import estimator_fingerprint as f; "
    code += "print(f(Impossible('a')), f(Noted('log')))"
    environment = {**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": os.pathsep.join(sys.path)}
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment)
    expected = [estimator_fingerprint(item) for item in (Impossible("a"), Noted("log"))]
    assert found.stdout.split() == expected, found.stderr


def test_an_altered_record_is_fitted_again(data, tmp_path):
    first = compare(QUICK, *data, cv=3, n_jobs=1, resume=tmp_path)
    for path in tmp_path.iterdir():
        content = json.loads(path.read_text())
        content["record"]["log_density"] = [0.0] * 12
        path.write_text(json.dumps(content))
    same(first, compare(QUICK, *data, cv=3, n_jobs=1, resume=tmp_path))


def test_a_file_as_resume_is_refused_before_any_fit(data, log, tmp_path):
    path = tmp_path / "file"
    path.touch()
    with pytest.raises(ValueError, match=r"resume=.*existing directory"):
        compare(Noted(str(log)), *data, cv=2, n_jobs=1, resume=path)
    assert not fits(log)


def test_resume_needs_a_seed(data, tmp_path):
    with pytest.raises(ValueError, match="resume requires a fixed random_state"):
        compare(QUICK, *data, cv=2, resume=tmp_path, random_state=None)


def test_the_same_estimator_under_two_names_is_one_fit(data, log):
    result = compare({"a": Noted(str(log)), "b": Noted(str(log))}, *data, cv=3, n_jobs=1)
    assert len(fits(log)) == 3
    np.testing.assert_array_equal(result.scores["mlpd"][:, 0], result.scores["mlpd"][:, 1])


def test_functions_without_a_name(data):
    named = {"twice": make_pipeline(FunctionTransformer(lambda X: 2 * X), GaussianNB())}
    with pytest.raises(ValueError, match=r"'twice' cannot be pickled.*Replace lambdas"):
        compare(named, *data, cv=2, n_jobs=1)


def test_a_method_that_works_in_place_harms_no_other(data):
    careless = make_pipeline(MinMaxScaler(copy=False), StandardScaler(copy=False), LogisticRegression())
    together = compare({"careless": careless, **QUICK}, *data, cv=2, n_jobs=1)
    assert not together.errors
    alone = compare(QUICK, *data, cv=2, n_jobs=1)
    np.testing.assert_array_equal(together.scores["mlpd"][:, 1:], alone.scores["mlpd"])


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_one_progress_line_for_all(data, monkeypatch):
    monkeypatch.setattr(sys, "stderr", Terminal())
    monkeypatch.setattr(_progress, "SECONDS_BEFORE", 0.0)
    compare({"stack": StackedClassifier(QUICK, n_jobs=1), **QUICK}, *data, cv=2, n_jobs=1)
    shown = sys.stderr.getvalue()
    assert "Comparing" in shown
    assert "6/6" in shown
    assert "Stacking" not in shown


@pytest.mark.parametrize("n_workers", [1, 2, 3, 7])
@pytest.mark.parametrize("n_splits", [1, 2, 5, 20])
def test_portions_hold_every_fit_once(n_workers, n_splits):
    places = [(number, name) for number in range(n_splits) for name in "abc"]
    pieces = list(portions(places, n_workers))
    assert sorted(place for piece in pieces for place in piece) == places
    assert all(len({number for number, _ in piece}) == 1 for piece in pieces)
    if n_workers == 1:
        assert len(pieces) == n_splits
    else:
        assert [len(piece) for piece in pieces[-2:]] == [2, 1]


def test_on_a_cluster_each_fit_is_a_piece():
    places = [(number, name) for number in range(2) for name in "abc"]
    assert list(portions(places, 2, elsewhere=True)) == [[place] for place in places]
