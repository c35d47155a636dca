"""One rule for the kind of a target, whoever asks."""

import numpy as np
import pandas as pd
import pytest

from ispca import ISPCA, feature_scores
from ispca.anndata import ispca as anndata_ispca
from ispca.plots.plot_arguments import all_classes
from ispca.readers.target_column import classify
from ispca.reduction.response import make_response
from ispca.stacking.candidates import default_candidates
from ispca.targets import CLASSES, FEW_VALUES, choose_family, guess_target, has_fractions, is_category
from ispca.validation import stability

FEW, MANY = np.arange(60) % FEW_VALUES, np.arange(60) % (FEW_VALUES + 1)
TARGETS = {
    "few integers": (FEW, "classification"),
    "few integers as floats": (FEW.astype(float), "classification"),
    "many integers": (MANY, "regression"),
    "many integers as floats": (MANY.astype(float), "regression"),
    "fractions": (FEW + 0.5, "regression"),
    "text": (MANY.astype(str), "classification"),
    "Booleans": (FEW > 4, "classification"),
    "beyond the integers of a float": (FEW * 1e300, "regression"),
}
EACH = pytest.mark.parametrize(("y", "kind"), TARGETS.values(), ids=TARGETS.keys())


@EACH
def test_the_rule(y, kind):
    assert guess_target(y)[0].name == kind


@EACH
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_transformers_follow_it(y, kind, rng):
    assert make_response(y).family.classification == (kind == "classification")
    model = ISPCA(1, alpha=None).fit(rng.normal(size=(60, 3)), y)
    assert hasattr(model, "classes_") == (kind == "classification")


@EACH
def test_plots_follow_it(y, kind):
    assert (all_classes(None, y) is not None) == (kind == "classification")


@pytest.mark.parametrize("name", ["few integers", "few integers as floats", "many integers", "fractions", "text"])
def test_readers_follow_it_for_arrays_and_for_cells_of_text(name):
    y, kind = TARGETS[name]
    if name != "text":
        assert classify(y, "target", None)[2] == kind
    # Labels of which there are too many are refused by name, so text here has few.
    cells = [f"class {item}" for item in FEW] if name == "text" else [str(item) for item in y]
    assert classify(cells, "target", None)[2] == kind


@pytest.mark.parametrize(("y", "kind"), [TARGETS["few integers"], TARGETS["many integers"]])
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_anndata_follows_it(y, kind, rng):
    anndata = pytest.importorskip("anndata")
    names = [str(i) for i in range(60)]
    adata = anndata.AnnData(rng.normal(size=(60, 4)), obs=pd.DataFrame({"y": y}, index=names))
    anndata_ispca(adata, "y", n_components=2)
    assert ("classes" in adata.uns["ispca"]) == (kind == "classification")


def test_stability_decides_for_all_samples_at_once(rng):
    # 11 values in all, fewer in most training parts: these must not become classes.
    X, y = rng.normal(size=(22, 5)), np.arange(22) % 11
    auto = stability(ISPCA(alpha=None), X, y, n_components=1, n_bags=3, n_jobs=1)
    named = stability(ISPCA(alpha=None, family="gaussian"), X, y, n_components=1, n_bags=3, n_jobs=1)
    assert np.array_equal(auto.table, named.table)


def test_integers_treated_as_a_quantity_are_warned_of_unless_named(rng, recwarn):
    X = rng.normal(size=(60, 3))
    with pytest.warns(UserWarning, match=r'11 distinct integers.*quantity.*family="multinomial".*"gaussian"'):
        feature_scores(X, MANY)
    recwarn.clear()
    feature_scores(X, MANY, family="gaussian")
    feature_scores(X, FEW)
    assert not recwarn.list


def test_categories_are_classes(rng):
    y = pd.Series(MANY, dtype="category")
    assert is_category(y)
    assert not is_category(pd.Series(MANY))
    assert not is_category(MANY)
    assert len(ISPCA(1, alpha=None).fit(rng.normal(size=(60, 3)), y).classes_) == 11


@pytest.mark.parametrize("n_classes", [2, 3, 15])
def test_candidates_of_a_classifier_name_their_family(n_classes):
    labels = np.arange(60) % n_classes
    for _, candidate in default_candidates("classification", n_classes):
        if hasattr(candidate, "named_steps"):
            family = choose_family(candidate["reduction"].family, labels)
            assert family.classification
            assert len(make_response(labels, family.name).classes) == n_classes


def test_missing_values_do_not_decide():
    assert guess_target(np.array([1.0, np.nan, 2.0])) == (CLASSES, "has 2 distinct integer values")
    assert not has_fractions(np.array([1.0, np.inf]))
    assert has_fractions(np.array([1.0, np.nan, 2.5]))
