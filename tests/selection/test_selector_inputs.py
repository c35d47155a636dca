"""Bad input of a selection: one clear error before any long work."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.decomposition import PCA
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import BayesianRidge, LogisticRegression, PoissonRegressor
from sklearn.neighbors import KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC

from ispca import HorseshoeCounts, HorseshoeRegressor
from ispca.selection import ProjectionSelector
from odd_methods import Noted

NAMES = ["age", "GENE1", "GENE2", "GENE3"]


@pytest.fixture
def data(rng):
    X = pd.DataFrame(rng.normal(size=(30, 4)), columns=NAMES)
    return X, np.where(X["GENE1"] > 0, "yes", "no")


@pytest.fixture
def noted(tmp_path):
    return Noted(str(tmp_path / "fits.log"))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"always": "GENE9"}, "always contains names that are not features of X: 'GENE9'"),
        ({"never": ["GENE9"]}, "never contains names that are not features of X: 'GENE9'"),
        ({"always": [4]}, "always contains indices outside 0 to 3"),
        ({"always": ["GENE1"], "never": ["age", "GENE1"]}, "always and never both contain 'GENE1'"),
        ({"always": NAMES, "max_features": 2}, "always contains 4 features, but max_features is 2: raise it"),
        ({"never": NAMES}, "No feature is left to choose from"),
        ({"costs": {"GENE1": -1.0}}, "costs must be positive numbers"),
        ({"costs": {"GENE1": "cheap"}}, "costs must be positive numbers"),
        ({"costs": {"GENE": 2.0}}, "costs contains names that are not features of X: 'GENE'. Did you mean GENE"),
        ({"costs": [1, 2, 3]}, "costs has 3 entries, but X has 4 features"),
        ({"costs": [1, 2, 3, np.nan]}, "costs must be positive numbers"),
        ({"kind": "regression"}, "classifiers"),
        ({"kind": "counts"}, "The 'kind' parameter of ProjectionSelector must be"),
        ({"max_features": 0}, "The 'max_features' parameter of ProjectionSelector must be"),
        ({"cv": 1}, "The 'cv' parameter of ProjectionSelector must be"),
        ({"resume": "somewhere"}, "random_state"),
    ],
)
def test_bad_settings(data, noted, options, message):
    with pytest.raises(ValueError, match=message):
        ProjectionSelector(noted, **options).fit(*data)
    assert not Path(noted.path).exists()


def test_names_need_a_frame(data, noted):
    X, y = np.asarray(data[0]), data[1]
    with pytest.raises(ValueError, match="always contains names, but X has no feature names"):
        ProjectionSelector(noted, always="age").fit(X, y)
    with pytest.raises(ValueError, match=r"X has no feature names: 'age'\. Pass X as a data frame"):
        ProjectionSelector(noted, costs={"age": 2}).fit(X, y)


@pytest.mark.parametrize(
    ("reference", "kind", "name"),
    [
        (SVC(), None, "SVC"),
        (make_pipeline(PCA(), KNeighborsRegressor()), None, "KNeighborsRegressor"),
        (PoissonRegressor(), "count", "PoissonRegressor"),
    ],
)
def test_a_reference_without_a_distribution(data, reference, kind, name):
    X, labels = data
    y = labels if name == "SVC" else np.arange(30)
    with pytest.raises(ValueError, match=f"{name} cannot be a reference, because it predicts no distribution"):
        ProjectionSelector(reference, kind=kind).fit(X, y)


def test_what_cannot_predict(data):
    with pytest.raises(ValueError, match="The 'reference' parameter of ProjectionSelector must be"):
        ProjectionSelector(PCA()).fit(*data)
    with pytest.raises(ValueError, match=r"'reference' is .*not a scikit-learn estimator: pass an instance"):
        ProjectionSelector(LogisticRegression).fit(*data)


def test_a_reference_that_does_not_fit_the_data(data):
    X, y = data
    with pytest.raises(NotFittedError, match="With prefit=True, the reference must be fitted"):
        ProjectionSelector(LogisticRegression(), prefit=True).fit(X, y)
    fitted = LogisticRegression().fit(X, y)
    with pytest.raises(ValueError, match="The reference was fitted to 4 features, but X has 3"):
        ProjectionSelector(fitted, prefit=True).fit(X[NAMES[:3]], y)
    with pytest.raises(ValueError, match="fitted to the classes no, yes, but y contains maybe, yes"):
        ProjectionSelector(fitted, prefit=True).fit(X, np.where(y == "no", "maybe", y))


def test_missing_values(data, noted):
    X, y = data[0].copy(), data[1]
    X.loc[3:5, "GENE2"] = np.nan
    with pytest.raises(ValueError, match=r"GENE2.*rule these columns out with never"):
        ProjectionSelector(noted).fit(X, y)
    with pytest.raises(ValueError, match="rule these columns out with never"):
        ProjectionSelector(noted).fit(X.to_numpy(), y)
    # The reference may use a column that is no candidate.
    selector = ProjectionSelector(noted, never="GENE2", max_features=2, cv=2, n_jobs=1).fit(X, y)
    assert "GENE2" not in selector.path_.feature


def test_text_cannot_be_wanted(data, noted):
    X = data[0].assign(batch="A")
    with pytest.raises(ValueError, match="always contains columns not made of numbers: 'batch'"):
        ProjectionSelector(noted, always="batch").fit(X, data[1])


def test_weights_and_offsets(data, noted):
    X, y = data
    with pytest.raises(ValueError, match="offset"):
        ProjectionSelector(noted).fit(X, y, offset=np.ones(30))
    with pytest.raises(ValueError, match=r"cannot use sample_weight, because Noted\.fit does not take it"):
        ProjectionSelector(noted).fit(X, y, sample_weight=np.arange(30))
    with pytest.raises(ValueError, match="groups has 3 entries"):
        ProjectionSelector(noted).fit(X, y, groups=[1, 2, 3])
    with pytest.raises(ValueError, match="Counts"):
        ProjectionSelector(HorseshoeCounts(), kind="count").fit(X, X["age"])
    with pytest.raises(ValueError, match="requires y to be passed"):
        ProjectionSelector(HorseshoeRegressor()).fit(X, None)


def test_groups_stay_together(data):
    X, _ = data
    groups = np.repeat(np.arange(6), 5)
    y = X["GENE1"] + 0.1 * X["GENE2"]
    pairs = [(np.arange(3, 30), np.arange(3))]
    selector = ProjectionSelector(BayesianRidge(), cv=pairs, n_jobs=1, max_features=2)
    with pytest.raises(ValueError, match="divides 1 group"):
        selector.fit(X, y, groups=groups)
    assert selector.set_params(cv=3).fit(X, y, groups=groups).validated_
