"""Simulated expression data: shapes, seeds, and the structure they promise."""

import numpy as np
import pytest

from ispca import ISPCA
from ispca.datasets import make_expression


def test_shapes_and_names():
    data = make_expression(n_samples=31, n_features=400, n_classes=3, random_state=0)
    assert data.data.shape == (31, 400)
    assert data.target.shape == (31,)
    assert len(set(data.feature_names)) == len(data.module) == len(data.relevant) == 400
    assert sorted(set(data.target)) == ["class 1", "class 2", "class 3"]
    assert np.isfinite(data.data).all()


def test_classes_are_of_about_equal_size():
    _, counts = np.unique(
        make_expression(n_samples=31, n_features=50, n_classes=3, random_state=1).target, return_counts=True
    )
    assert np.ptp(counts) <= 1


def test_same_seed_same_data():
    one, same, other = (make_expression(20, 100, random_state=seed) for seed in (3, 3, 4))
    np.testing.assert_array_equal(one.data, same.data)
    np.testing.assert_array_equal(one.target, same.target)
    assert not np.array_equal(one.data, other.data)


def test_modules_have_their_size_and_the_relevant_ones_are_marked():
    data = make_expression(20, 600, n_modules=5, n_relevant=2, module_size=40, random_state=0)
    modules, sizes = np.unique(data.module, return_counts=True)
    np.testing.assert_array_equal(modules, [-1, 0, 1, 2, 3, 4])
    np.testing.assert_array_equal(sizes, [400, 40, 40, 40, 40, 40])
    np.testing.assert_array_equal(data.relevant, np.isin(data.module, [0, 1]))


def test_modules_shrink_where_the_features_do_not_hold_them():
    data = make_expression(20, 100, n_modules=10, module_size=50, random_state=0)
    assert np.bincount(data.module[data.module >= 0]).max() == 10


def test_genes_of_a_module_vary_together_and_others_do_not():
    data = make_expression(300, 400, n_modules=4, n_relevant=0, module_size=30, random_state=0)
    correlation = np.abs(np.corrcoef(data.data.T))
    inside = correlation[np.ix_(data.module == 1, data.module == 1)]
    outside = correlation[np.ix_(data.module == 1, data.module == -1)]
    assert np.median(inside) > 0.35
    assert np.median(outside) < 0.1


@pytest.mark.parametrize("n_classes", [2, 4])
def test_the_relevant_genes_are_what_ispca_finds_first(n_classes):
    data = make_expression(150, 1000, n_classes=n_classes, signal=2.0, random_state=2)
    estimator = ISPCA(random_state=0).fit(data.data, data.target)
    assert estimator.n_supervised_ >= 1
    best = estimator.steps_[0].features[:20]
    assert data.relevant.mean() < 0.2
    assert data.relevant[best].mean() > 0.9


def test_no_relevant_module_means_no_signal():
    data = make_expression(60, 500, n_relevant=0, random_state=0)
    with pytest.warns(UserWarning, match="No signal"):
        assert ISPCA(random_state=0).fit(data.data, data.target).n_supervised_ == 0


@pytest.mark.parametrize(
    "bad", [{"n_relevant": 5, "n_modules": 4}, {"n_relevant": -1}, {"n_classes": 1}, {"n_classes": 30}]
)
def test_settings_that_make_no_sense(bad):
    with pytest.raises(ValueError, match="|".join(bad)):
        make_expression(20, 100, **bad)
