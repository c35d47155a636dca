"""Item 8: the number of supervised components on real data, as the authors' program finds it."""

import numpy as np
import pytest

from ispca import ISPCA, SPCA

EXPECTED = {
    "colon": {1},
    "leukemia": {1},
    "ovarian": {1},
    "prostate": {1},
    "glioma-4c": {2},
    "arcene": {2},
    "pcmac": {5, 6},
    "basehock": {10, 11, 12},
}


@pytest.mark.grid(3)
@pytest.mark.parametrize("name", EXPECTED)
def test_number_of_supervised_components(real_data, name):
    X, y = real_data(name)
    n_components = 20 if len(np.unique(y)) > 2 else 50
    estimator = ISPCA(n_components=n_components, random_state=0)
    Z = estimator.fit_transform(X, y)
    assert estimator.n_supervised_ in EXPECTED[name]
    assert Z.shape == (X.shape[0], n_components)
    cosines = Z.T @ Z / np.outer(*2 * [np.linalg.norm(Z, axis=0)])
    assert np.abs(cosines - np.eye(n_components)).max() <= 1e-8
    np.testing.assert_allclose(estimator.transform(X), Z, atol=1e-8 * np.abs(Z).max())


@pytest.mark.slow
@pytest.mark.parametrize("name", ["pcmac", "dexter"])
def test_sparse_equals_dense(real_data, name):
    X, y = real_data(name)
    sparse = ISPCA(n_components=10, random_state=0)
    dense = ISPCA(n_components=10, random_state=0)
    Z, Z_dense = sparse.fit_transform(X, y), dense.fit_transform(X.toarray(), y)
    assert sparse.n_supervised_ == dense.n_supervised_
    assert [s.p_value for s in sparse.steps_] == [s.p_value for s in dense.steps_]
    np.testing.assert_array_equal(sparse.feature_mask_, dense.feature_mask_)
    np.testing.assert_allclose(Z, Z_dense, atol=1e-6 * np.abs(Z).max())
    np.testing.assert_allclose(sparse.components_, dense.components_, atol=1e-6)


@pytest.mark.slow
def test_the_residual_test_finds_more_in_text(real_data):
    X, y = real_data("pcmac")
    estimator = ISPCA(test="residual", random_state=0).fit(X, y)
    # design.md, section 3: about 16 instead of 7.
    assert 12 <= estimator.n_supervised_ <= 20


def test_spca_screens_real_data(real_data):
    X, y = real_data("colon")
    estimator = SPCA(n_components=10, random_state=0).fit(X, y)
    # About two false ones are expected of 2000 features at p < 0.001.
    assert 20 < len(estimator.selected_) < 500
    assert estimator.n_supervised_ == 10


def test_constant_features_of_arcene_are_left_out(real_data):
    X, y = real_data("arcene")
    constant = np.ptp(X, axis=0) == 0
    assert constant.sum() == 39
    assert not ISPCA(alpha=None, n_components=1).fit(X, y).feature_mask_[constant].any()
