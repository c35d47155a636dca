"""A new user works in a notebook: warnings to filter, plots, and results that show themselves."""

import warnings

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning
from sklearn.pipeline import make_pipeline

import ispca
from ispca import ISPCA, HorseshoeClassifier, PenalizedClassifier, original_coefficients
from ispca.data_checks import check_data, warn
from ispca.validation import compare_with_baselines
from user_files import D, N, Study


def leak(study):
    study.X[:, 7] = 3.0 * (study.tissue == "tumour") + study.rng.normal(8, 0.01, size=N)
    return {}


def odd_features(study):
    study.X[:, 9] = study.rng.integers(20_000, 90_000, size=N)
    return {}


def outliers(study):
    study.X[5] += 25 * study.rng.normal(size=D)
    return {}


def duplicates(study):
    study.X[1] = study.X[0]
    return {}


def batch(study):
    return {"sheet": {"batch": np.where(study.tissue == "tumour", "A", "B")}}


def file_order(study):
    order = np.argsort(study.tissue, kind="stable")
    study.X, study.tissue = study.X[order] + np.linspace(0, 3, N)[:, None], study.tissue[order]
    return {}


def small_class(study):
    study.tissue[:] = "normal"
    study.tissue[[3, 9]] = "tumour"
    return {"n_folds": 5}


@pytest.mark.parametrize(
    "change",
    [leak, odd_features, outliers, duplicates, batch, file_order, small_class],
)
def test_a_warning_that_is_filtered(change):
    """Each finding is a warning with its kind, which stops the analysis or is silenced, as the user wants."""
    study = Study()
    options = change(study)
    findings = [
        finding
        for finding in check_data(study.X, study.tissue, "classification", **options)
        if finding.kind == change.__name__
    ]
    assert findings
    with pytest.warns(ispca.DataWarning) as caught:
        warn(findings)
    assert [warning.message.kind for warning in caught] == [change.__name__] * len(findings)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.filterwarnings("ignore", category=ispca.DataWarning)
        warn(findings)
        warnings.filterwarnings("error", category=ispca.DataWarning)
        with pytest.raises(ispca.DataWarning):
            warn(findings)


def test_clean_data_have_no_finding():
    study = Study()
    assert check_data(study.X, study.tissue, "classification", n_folds=5) == []


@pytest.fixture(scope="module")
def fitted():
    """The data of a study and a fitted model."""
    study = Study()
    model = make_pipeline(
        ISPCA(4, whiten=True, random_state=0), HorseshoeClassifier(n_warmup=100, n_draws=100, random_state=0)
    )
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", category=ConvergenceWarning)
        return study, model.fit(study.X, study.tissue)


@pytest.fixture(autouse=True)
def no_window():
    pyplot = pytest.importorskip("matplotlib.pyplot")
    pyplot.switch_backend("Agg")
    yield
    pyplot.close("all")


def words_in(ax):
    """Return all the text of a figure."""
    return " ".join(item.get_text() for item in ax.figure.findobj(lambda item: hasattr(item, "get_text")))


def test_training_samples_are_not_predictions(fitted):
    from ispca.plots import plot_probabilities

    study, model = fitted
    seen = words_in(plot_probabilities(model, study.X, study.tissue))
    assert "training" in seen
    assert "accuracy" not in seen.lower()
    new = Study(seed=1)
    assert "training" not in words_in(plot_probabilities(model, new.X, new.tissue, held_out=True))


def test_only_coefficients_that_matter_are_drawn(fitted):
    from ispca.plots import plot_coefficients

    study, _ = fitted
    lasso = PenalizedClassifier(random_state=0).fit(study.X, study.tissue)
    ax = plot_coefficients(lasso, n_features=30)
    used = np.count_nonzero(np.abs(lasso.coef_) > 0)
    assert 0 < len(ax.get_yticklabels()) <= used < 30


def test_axes_with_percentages_and_a_heatmap_with_names(fitted):
    from ispca.plots import plot_heatmap, plot_scores

    study, model = fitted
    ax = plot_scores(model, study.X, study.tissue)
    assert "%" in ax.get_xlabel()
    assert "%" in ax.get_ylabel()
    seen = words_in(plot_heatmap(model, study.X, study.tissue, feature_names=study.genes, sample_names=study.ids))
    assert "g4" in seen
    assert "s00" in seen


def test_results_show_themselves(fitted):
    """A notebook shows tables; pandas makes data frames of them."""
    pandas = pytest.importorskip("pandas")
    study, model = fitted
    table = original_coefficients(model)
    assert "<table" in table._repr_html_()
    frame = table.to_frame()
    assert isinstance(frame, pandas.DataFrame)
    assert len(frame) == D + 1
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", category=ConvergenceWarning)
        comparison = compare_with_baselines(model, study.X, study.tissue, cv=3, n_jobs=1)
    assert "this model" in comparison._repr_html_()
    assert len(comparison.table.to_frame()) == 3
    assert "<table" in model[-1].posterior_._repr_html_()
    assert "r_hat" in model[-1].posterior_.summary().to_frame()
