"""Features that do not vary, data of low rank, and no signal."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline

from ispca import ISPCA, SPCA
from refusals import BOTH, assert_refused


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
    with pytest.warns(UserWarning, match="No single feature"):
        estimator = kind(alpha=0.001, n_permutations=1000, random_state=0).fit(X, y)
    assert (estimator.n_supervised_, estimator.n_components_) == (0, 1)
    expected = ISPCA(n_components=1, n_supervised=0).fit(X)
    np.testing.assert_allclose(estimator.components_, expected.components_, atol=1e-10)


@BOTH
def test_cross_validation_goes_on_without_signal(kind, X, y):
    model = make_pipeline(kind(random_state=0), LogisticRegression())
    with pytest.warns(UserWarning, match="No single feature"):
        scores = cross_val_score(model, X, y, cv=4, error_score="raise")
    assert np.isfinite(scores).all()


def test_the_warning_points_at_the_users_line(X, y):
    with pytest.warns(UserWarning, match="No single feature") as caught:
        ISPCA(alpha=0.001, random_state=0).fit(X, y)
    assert caught[0].filename == __file__


# Rank.


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
