"""Item 9: bad input gets one clear error that names the problem and the fix, before any work."""

import os
import re
import signal
import subprocess
import sys
import textwrap
import time
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline

from ispca import ISPCA, SPCA, feature_scores, score_test

BOTH = pytest.mark.parametrize("kind", [ISPCA, SPCA])


@pytest.fixture
def X(rng):
    return rng.normal(size=(20, 6))


@pytest.fixture
def y():
    return np.tile(["a", "b"], 10)


def assert_refused(estimator, X, y, *words, error=ValueError):
    """Fitting fails with every word in one message and leaves the estimator unfitted."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(error) as caught:
            estimator.fit(X, y)
    for word in words:
        assert re.search(word, str(caught.value)), f"{word!r} is not in: {caught.value}"
    assert "np." not in str(caught.value), "values are shown as the user wrote them"
    assert not hasattr(estimator, "components_")
    with pytest.raises(NotFittedError):
        estimator.transform(np.zeros((3, 6)))


@pytest.fixture
def no_work(monkeypatch):
    """Fail where the reduction is begun at all."""

    def begun(*args, **kwargs):
        raise AssertionError("work was begun before the input was refused")

    users = [m for name, m in sys.modules.items() if name.startswith("ispca") and hasattr(m, "make_design")]
    assert users
    for module in users:
        monkeypatch.setattr(module, "make_design", begun)


# NaN and infinity.


@BOTH
@pytest.mark.parametrize("wrap", [np.asarray, sp.csr_array, sp.csc_matrix])
def test_nan_and_infinity_are_counted_and_located(no_work, kind, wrap, X, y):
    X[3, 1], X[4, 1], X[5, 4] = np.nan, np.inf, -np.inf
    words = r"NaN", r"infinity", r"\b3 value", r"2 column", r"1 \(2\)", r"4 \(1\)", r"[Ii]mpute|drop"
    assert_refused(kind(), wrap(X), y, *words)


@BOTH
@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_nan_in_a_frame_is_located_by_name(no_work, kind, frame, X, y):
    X[3, 1] = np.nan
    assert_refused(kind(), frame({f"gene {j}": X[:, j] for j in range(6)}), y, "NaN", r"gene 1 \(1\)")


def test_a_missing_value_of_polars_is_found(no_work, X, y):
    frame = pl.DataFrame({f"gene {j}": X[:, j] for j in range(6)})
    frame = frame.with_columns(pl.Series("gene 3", [None, *X[1:, 3]]))
    assert_refused(ISPCA(), frame, y, "NaN", r"gene 3 \(1\)")


def test_many_bad_columns_are_not_all_listed(y, rng):
    X = rng.normal(size=(20, 300))
    X[0] = np.nan
    with pytest.raises(ValueError, match=r"300 columns.* and \d+ more") as caught:
        ISPCA().fit(X, y)
    assert len(str(caught.value)) < 400


@BOTH
@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_nan_or_infinity_in_y(no_work, kind, X, bad):
    y = np.linspace(0.1, 1.2, 20)
    y[2] = bad
    assert_refused(kind(), X, y, "y", "NaN|infinity")


# The target.


@BOTH
@pytest.mark.parametrize("label", ["a", 1])
def test_one_class_only(no_work, kind, X, label):
    assert_refused(kind(), X, np.array([label] * 20), "one class", repr(label), "2 classes")


@BOTH
def test_a_constant_numeric_target(no_work, kind, X):
    assert_refused(kind(), X, np.full(20, 0.5), "constant|one value", "var|differ")


@BOTH
def test_a_constant_target_of_family_gaussian(no_work, kind, X):
    assert_refused(kind(family="gaussian"), X, np.full(20, 3), "constant", "varies")


@BOTH
def test_labels_where_numbers_are_needed(no_work, kind, X, y):
    assert_refused(kind(family="gaussian"), X, y, "gaussian", "numeric", "labels", "auto")


@BOTH
def test_three_classes_where_two_are_needed(no_work, kind, X):
    assert_refused(kind(family="binomial"), X, np.arange(20) % 3, "binomial", "2 classes", "3", "multinomial")


@BOTH
def test_a_class_with_one_member_is_allowed_but_warned_of(kind, X, y):
    y = np.where(np.arange(20) == 7, "rare", y)
    with pytest.warns(UserWarning, match=r"rare.*one member"):
        estimator = kind(n_components=2, random_state=0).fit(X, y)
    assert list(estimator.classes_) == ["a", "b", "rare"]


def test_many_whole_numbers_taken_as_classes_are_warned_of(X):
    with pytest.warns(UserWarning, match=r'class labels.*family="gaussian"'):
        ISPCA(n_components=2, random_state=0).fit(X, np.arange(20))


@BOTH
@pytest.mark.parametrize("columns", [2, 6])
def test_a_target_of_several_columns(no_work, kind, X, columns, rng):
    assert_refused(kind(), X, rng.integers(0, 2, (20, columns)), r"y|1d|column")


@BOTH
def test_no_target(no_work, kind, X):
    assert_refused(kind(), X, None, "y")


# Shapes.


@BOTH
@pytest.mark.parametrize("n", [1, 2])
def test_fewer_than_three_samples(no_work, kind, X, y, n):
    assert_refused(kind(), X[:n], y[:n], rf"{n} sample", "minimum of 3")


@BOTH
def test_lengths_that_differ(no_work, kind, X, y):
    assert_refused(kind(), X, y[:-1], "20", "19")


@BOTH
@pytest.mark.parametrize(("shape", "most"), [((20, 6), 6), ((5, 6), 4)])
def test_more_components_than_the_data_can_have(kind, rng, shape, most):
    X = rng.normal(size=shape)
    y = np.arange(shape[0]) % 2
    exact = kind(n_components=most, random_state=0).fit(X, y)
    with pytest.warns(
        UserWarning, match=rf"n_components={most + 5}, .*only rank {most}: returning {most}"
    ) as caught:
        capped = kind(n_components=most + 5, random_state=0).fit(X, y)
    assert len([w for w in caught if "rank" in str(w.message)]) == 1
    np.testing.assert_array_equal(capped.components_, exact.components_)


@BOTH
def test_cross_validation_with_more_components_than_a_training_set_has(kind, X, y):
    model = make_pipeline(kind(n_components=50, random_state=0), LogisticRegression())
    with pytest.warns(UserWarning, match="n_components=50"):
        assert np.isfinite(cross_val_score(model, X, y, cv=4, error_score="raise")).all()


@pytest.mark.parametrize(("shape", "most"), [((20, 6), 6), ((5, 6), 4)])
def test_as_many_components_as_the_data_can_have_are_fine(rng, shape, most):
    estimator = ISPCA(n_components=most, n_supervised=0)
    assert estimator.fit_transform(rng.normal(size=shape)).shape == (shape[0], most)


@BOTH
def test_one_dimensional_x(no_work, kind, y):
    assert_refused(kind(), np.arange(20.0), y, "2D|1D", "[Rr]eshape")


# Types.


@BOTH
def test_complex_numbers(no_work, kind, X, y):
    assert_refused(kind(), X + 1j, y, "[Cc]omplex")


@BOTH
def test_text_in_an_object_array(no_work, kind, X, y):
    X = X.astype(object)
    X[3, 2] = "high"
    assert_refused(kind(), X, y, "high|float")


@BOTH
@pytest.mark.parametrize(
    "column",
    [["low", "high"] * 10, [1 + 1j] * 20, list("ab" * 10), pd.Categorical(["x", "y"] * 10)],
    ids=["object", "complex", "text", "category"],
)
def test_pandas_columns_that_are_no_numbers_are_named(no_work, kind, X, y, column):
    frame = pd.DataFrame(X, columns=list("ABCDEF")).assign(stage=column)
    assert_refused(kind(), frame, y, r"1 column", "'stage'", "Drop|numbers")


@BOTH
def test_polars_columns_that_are_no_numbers_are_named(no_work, kind, X, y):
    frame = pl.DataFrame(X, schema=list("ABCDEF")).with_columns(pl.lit("high").alias("stage"))
    assert_refused(kind(), frame, y, r"1 column", "'stage'", "Drop|numbers")


# Options.


@BOTH
@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("family", "poisson"),
        ("max_features", 0),
        ("max_features", 2.5),
        ("n_permutations", 0),
        ("n_components", 0),
        ("n_components", 1.5),
        ("n_supervised", -1),
        ("alpha", 0.0),
        ("alpha", 1.5),
        ("whiten", "yes"),
        ("memory_budget", 10),
        ("random_state", "seed"),
    ],
)
def test_options_out_of_range(no_work, kind, X, y, option, value):
    assert_refused(kind(**{option: value}), X, y, f"'{option}'", kind.__name__, "must be", re.escape(str(value)))


@pytest.mark.parametrize(
    ("option", "value"), [("test", "bootstrap"), ("n_thresholds", 0), ("n_thresholds", "ten")]
)
def test_options_of_ispca_out_of_range(no_work, X, y, option, value):
    assert_refused(ISPCA(**{option: value}), X, y, f"'{option}'", "must be", str(value))


def test_unknown_options_name_the_choices(no_work, X, y):
    assert_refused(ISPCA(test="bootstrap"), X, y, "paper", "residual")
    assert_refused(ISPCA(family="poisson"), X, y, "gaussian", "binomial", "multinomial", "auto")
    assert_refused(SPCA(statistic="cosine"), X, y, "pearson", "spearman", "kendall", "runs")


@pytest.mark.parametrize(
    ("option", "value"),
    [("statistic", "cosine"), ("n_features", 0), ("threshold", 1.5), ("threshold", -0.1), ("alpha", None)],
)
def test_options_of_spca_out_of_range(no_work, X, y, option, value):
    assert_refused(SPCA(**{option: value}), X, y, f"'{option}'", "must be", str(value))


def test_two_ways_to_screen(no_work, X, y):
    assert_refused(SPCA(n_features=3, threshold=0.5), X, y, "n_features", "threshold", "one")


@BOTH
@pytest.mark.parametrize(
    ("exclude", "words"),
    [
        ([6], ["exclude", "0 to 5"]),
        ([True, False], ["exclude", "mask", "6"]),
        (["age"], ["exclude", "names"]),
    ],
)
def test_exclude_that_does_not_fit(no_work, kind, X, y, exclude, words):
    assert_refused(kind(exclude=exclude), X, y, *words)


def test_exclude_names_that_x_does_not_have(no_work, X, y):
    assert_refused(ISPCA(exclude=["age", "A"]), pd.DataFrame(X, columns=list("ABCDEF")), y, "exclude", "'age'")


def test_an_unknown_parameter_is_no_parameter():
    with pytest.raises(TypeError, match="n_component"):
        ISPCA(n_component=3)


# The functions.


@pytest.mark.parametrize("function", [feature_scores, score_test])
def test_the_functions_refuse_the_same(function, X, y):
    with pytest.raises(ValueError, match=r"statistic must be one of 'pearson'.*'runs', got 'cosine'"):
        function(X, y, statistic="cosine")
    with pytest.raises(ValueError, match=r"family must be one of.*'gaussian'.*got 'poisson'"):
        function(X, y, family="poisson")
    with pytest.raises(ValueError, match="one class"):
        function(X, ["a"] * 20)
    with pytest.raises(ValueError, match=r"20.*19|19.*20"):
        function(X, y[:-1])
    X[0, 5] = np.nan
    with pytest.raises(ValueError, match=r"NaN.*1 value.*5 \(1\)"):
        function(X, y)


def test_score_test_names_its_kinds(X, y):
    with pytest.raises(ValueError, match="kind must be one of 'each', 'maximum', got 'all'"):
        score_test(X, y, kind="all")
    with pytest.raises(ValueError, match="n_permutations must be a positive integer, got 0"):
        score_test(X, y, n_permutations=0)


# Degenerate features, and no signal.


@BOTH
def test_all_features_constant(kind, y):
    assert_refused(kind(), np.full((20, 6), 2.5), y, "[Nn]o feature", "constant", "at least one")


def test_all_features_decided_by_one_sample(y):
    X = np.zeros((20, 6))
    X[np.arange(6), np.arange(6)] = 1.0
    assert_refused(ISPCA(), X, y, "[Nn]o feature", "one sample")


@BOTH
def test_all_features_excluded(kind, X, y):
    assert_refused(kind(exclude=np.arange(6)), X, y, "[Nn]o feature", "exclude")


@BOTH
@pytest.mark.parametrize("wrap", [np.asarray, sp.csr_array])
def test_constant_features_are_left_out_and_never_an_error(kind, wrap, X, y):
    X[:, 1], X[:, 4], X[:, 5] = 0.0, 7.3, 1e6 + 0.1
    estimator = kind(n_components=2, random_state=0, alpha=0.9).fit(wrap(X), y)
    np.testing.assert_array_equal(estimator.feature_mask_, [1, 0, 1, 1, 0, 0])
    assert (~estimator.feature_mask_).sum() == 3
    assert not estimator.components_[:, ~estimator.feature_mask_].any()
    assert np.isfinite(estimator.transform(wrap(X))).all()


def test_ispca_leaves_out_what_one_sample_decides_and_spca_does_not(X, y):
    X[:, 1] = 0.0
    X[3, 1] = 1.0
    assert not ISPCA(alpha=None, n_components=1).fit(X, y).feature_mask_[1]
    assert SPCA(n_features=2, n_components=1).fit(X, y).feature_mask_[1]


@BOTH
def test_no_signal_gives_one_unsupervised_component_and_a_warning(kind, X, y):
    with pytest.warns(UserWarning, match="[Nn]o signal"):
        estimator = kind(alpha=0.001, n_permutations=1000, random_state=0).fit(X, y)
    assert (estimator.n_supervised_, estimator.n_components_) == (0, 1)
    expected = ISPCA(n_components=1, n_supervised=0).fit(X)
    np.testing.assert_allclose(estimator.components_, expected.components_, atol=1e-10)


@BOTH
def test_cross_validation_goes_on_without_signal(kind, X, y):
    model = make_pipeline(kind(random_state=0), LogisticRegression())
    with pytest.warns(UserWarning, match="[Nn]o signal"):
        scores = cross_val_score(model, X, y, cv=4, error_score="raise")
    assert np.isfinite(scores).all()


def test_the_warning_points_at_the_users_line(X, y):
    with pytest.warns(UserWarning, match="[Nn]o signal") as caught:
        ISPCA(alpha=0.001, random_state=0).fit(X, y)
    assert caught[0].filename == __file__


def test_fewer_components_than_asked_for_are_warned_of(rng, y):
    X = rng.normal(size=(20, 2)) @ rng.normal(size=(2, 6))
    with pytest.warns(UserWarning, match=r"n_components=5.*only rank 2.*2 components"):
        estimator = ISPCA(n_components=5, alpha=None).fit(X, y)
    assert estimator.n_components_ == 2


def test_supervised_components_that_use_everything_up_leave_no_noise_behind(rng):
    # Two features that vary and one that does not: there is no third component, not even a tiny one.
    X = np.column_stack([rng.normal(size=(8, 2)), np.full(8, 3.0)])
    with pytest.warns(UserWarning, match="rank 2"):
        estimator = ISPCA(n_components=3, alpha=None).fit(X, rng.normal(size=8))
    assert estimator.n_components_ == 2
    assert estimator.explained_variance_.min() > 1e-6


# transform.


@BOTH
@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_wrong_or_reordered_names_at_transform(kind, frame, X, y):
    names = list("ABCDEF")

    def make(columns):
        return frame({name: X[:, j] for j, name in enumerate(columns)})

    estimator = kind(n_components=2, random_state=0, alpha=0.9).fit(make(names), y)
    with pytest.raises(ValueError, match=r"feature names[\s\S]*same order"):
        estimator.transform(make(names[::-1]))
    with pytest.raises(ValueError, match=r"feature names[\s\S]*G"):
        estimator.transform(make([*"ABCDEG"]))
    with pytest.raises(ValueError, match="feature names"):
        estimator.transform(frame({name: X[:, j] for j, name in enumerate("ABCDE")}))


@BOTH
def test_bad_data_at_transform(kind, X, y):
    estimator = kind(n_components=2, random_state=0, alpha=0.9).fit(X, y)
    with pytest.raises(ValueError, match=r"5 features.*6 features"):
        estimator.transform(X[:, :5])
    X[2, 3] = np.inf
    with pytest.raises(ValueError, match=r"infinity.*3 \(1\)"):
        estimator.transform(X)
    with pytest.raises(ValueError, match=r"[Cc]omplex"):
        estimator.transform(X + 1j)


@BOTH
def test_bad_data_at_inverse_transform_and_original_coefficients(kind, X, y):
    estimator = kind(n_components=2, random_state=0, alpha=0.9).fit(X, y)
    with pytest.raises(ValueError, match="2"):
        estimator.inverse_transform(np.zeros((4, 3)))
    with pytest.raises(ValueError, match="2"):
        estimator.original_coefficients(np.zeros(3))


@BOTH
@pytest.mark.parametrize(
    "method", ["transform", "inverse_transform", "original_coefficients", "get_feature_names_out"]
)
def test_methods_before_fit(kind, method, X):
    arguments = () if method == "get_feature_names_out" else (X,)
    with pytest.raises(NotFittedError, match="not fitted"):
        getattr(kind(), method)(*arguments)


# Ctrl-C.

LONG_FITS = {
    "the paper's test": "ISPCA(n_permutations=10**6, alpha=1.0, random_state=0).fit(X, y)",
    "the residual test": "ISPCA(n_permutations=10**6, alpha=1.0, test='residual', random_state=0).fit(X, y)",
    "SPCA": "SPCA(n_permutations=10**6, alpha=1.0, random_state=0).fit(X, y)",
    "score_test": "score_test(X, y, n_permutations=10**6, statistic='kendall', random_state=0)",
    "sparse": "ISPCA(n_permutations=10**6, alpha=1.0, random_state=0).fit(sp.csr_array(X * (X > 1)), y)",
}


@pytest.mark.skipif(os.name == "nt", reason="no SIGINT to another process on Windows")
@pytest.mark.parametrize("call", LONG_FITS.values(), ids=LONG_FITS.keys())
def test_ctrl_c_stops_within_a_second(call):
    program = textwrap.dedent(f"""
        import time
        import numpy as np, scipy.sparse as sp
        from ispca import ISPCA, SPCA, score_test
        rng = np.random.default_rng(0)
        X, y = rng.normal(size=(300, 20000)), np.arange(300) % 2
        X[:, 0] += 3 * y
        print("begun", flush=True)
        try:
            {call}
        except KeyboardInterrupt:
            print("stopped", flush=True)
        else:
            print("finished", flush=True)
    """)
    # A busy machine may delay any one signal: the best of three tries counts.
    assert any(_seconds_to_stop(program) < 1.0 for _ in range(3))


def _seconds_to_stop(program):
    with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout.readline() == "begun\n"
            time.sleep(1.0)
            process.send_signal(signal.SIGINT)
            sent = time.perf_counter()
            assert process.stdout.readline() == "stopped\n"
            seconds = time.perf_counter() - sent
            # Nor does a thread go on working.
            process.wait(timeout=20)
            return seconds
        finally:
            process.kill()
