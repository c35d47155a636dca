"""Simulated expression data: shapes, seeds, and the structure they promise."""

import numpy as np
import pytest
import scipy.sparse as sp

from ispca import ISPCA, SPCA
from ispca.datasets import make_expression, make_text, make_toy


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
    with pytest.warns(UserWarning, match="No single feature"):
        assert ISPCA(random_state=0).fit(data.data, data.target).n_supervised_ == 0


@pytest.mark.parametrize(
    "bad", [{"n_relevant": 5, "n_modules": 4}, {"n_relevant": -1}, {"n_classes": 1}, {"n_classes": 30}]
)
def test_settings_that_make_no_sense(bad):
    with pytest.raises(ValueError, match="|".join(bad)):
        make_expression(20, 100, **bad)


def cosine(a, b):
    return abs(np.dot(a, b)) / np.linalg.norm(a) / np.linalg.norm(b)


@pytest.mark.parametrize("seed", range(5))
def test_toy_1_has_one_supervised_component_along_x2(seed):
    data = make_toy(1, random_state=seed)
    estimator = ISPCA(random_state=0).fit(data.data, data.target)
    assert estimator.n_supervised_ == 1
    assert cosine(estimator.components_[0], [0, 1]) > 1 - 1e-12


@pytest.mark.parametrize("seed", range(5))
def test_toy_2_has_a_second_one_near_the_papers(seed):
    data = make_toy(2, random_state=seed)
    assert abs(np.corrcoef(data.data[:, 0], data.target == "class 2")[0, 1]) < 0.2
    estimator = ISPCA(random_state=0).fit(data.data, data.target)
    assert estimator.n_supervised_ == 2
    assert cosine(estimator.components_[1], [1.6, -1]) > np.cos(np.deg2rad(6))
    np.testing.assert_array_equal(SPCA(random_state=0).fit(data.data, data.target).selected_, [1])


@pytest.mark.parametrize("bad", [{"case": 3}, {"case": "1"}, {"n_samples": 1}])
def test_toys_that_do_not_exist(bad):
    with pytest.raises(ValueError, match=next(iter(bad))):
        make_toy(**bad)


def test_text_is_sparse_counts_of_two_topics():
    data = make_text(200, 1500, probes=0.4, random_state=0)
    assert sp.issparse(data.data)
    assert data.data.shape == (200, 1500)
    assert data.data.nnz < 0.05 * 200 * 1500
    assert (data.data.data == np.round(data.data.data)).all()
    assert data.data.data.min() > 0
    assert (data.relevant.sum(), data.probe.sum()) == (60, 600)
    assert not (data.relevant & data.probe).any()
    assert np.ptp(np.unique(data.target, return_counts=True)[1]) == 0


def test_same_seed_same_text():
    one, same, other = (make_text(30, 200, probes=0.5, random_state=seed) for seed in (3, 3, 4))
    assert abs(one.data - same.data).max() == 0
    assert abs(one.data - other.data).max() > 0


def test_the_relevant_words_are_what_ispca_finds_first():
    data = make_text(400, 1500, signal=2.0, probes=0.3, random_state=1)
    estimator = ISPCA(random_state=0).fit(data.data, data.target)
    assert estimator.n_supervised_ >= 1
    assert data.relevant[estimator.steps_[0].features[:5]].mean() > 0.7


@pytest.mark.parametrize("bad", [{"n_samples": 1}, {"n_relevant": 600}, {"probes": 1.0}, {"probes": 0.99}])
def test_text_that_makes_no_sense(bad):
    with pytest.raises(ValueError, match="make_text needs"):
        make_text(**({"n_features": 500} | bad))
