"""Covariates: features and target are adjusted for them, and new samples with the training coefficients."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

from family_targets import COVARIATES, N_FEATURES, N_SAMPLES, make_targets
from ispca import ISPCA, SPCA, feature_scores, score_test
from ispca.persistence import load_model, save_model
from ispca.reduction.reuse import share_results

X, TARGETS = make_targets(1)
C = X[:, COVARIATES]
CONTAINERS = {"dense": np.asarray, "sparse": sp.csr_array}
containers = pytest.mark.parametrize("container", CONTAINERS.values(), ids=CONTAINERS.keys())
families = pytest.mark.parametrize("family", TARGETS)
ESTIMATORS = {
    "ISPCA": lambda **options: ISPCA(6, n_supervised=3, alpha=None, **options),
    "whitened": lambda **options: ISPCA(6, n_supervised=3, alpha=None, whiten=True, **options),
    "SPCA": lambda **options: SPCA(5, n_features=12, n_supervised=3, **options),
    "PCA": lambda **options: ISPCA(5, n_supervised=0, **options),
}
estimators = pytest.mark.parametrize("make", ESTIMATORS.values(), ids=ESTIMATORS.keys())


def residuals(values, covariates=C):
    design = np.column_stack([np.ones(len(covariates)), covariates])
    return values - design @ np.linalg.lstsq(design, values, rcond=None)[0]


@containers
def test_scores_are_those_of_residuals(container):
    y = TARGETS["gaussian"]
    found = feature_scores(container(X), y, adjust=COVARIATES)
    expected = feature_scores(residuals(X[:, :N_FEATURES]), residuals(y))
    np.testing.assert_allclose(found[:N_FEATURES], expected, atol=1e-9)
    assert (found[N_FEATURES:] == 0).all()


@containers
@estimators
def test_components_are_those_of_residuals(container, make):
    """The residuals are scaled by the deviations of the features, which do not depend on the covariates."""
    y = TARGETS["gaussian"]
    estimator = make(adjust=COVARIATES)
    Z = estimator.fit_transform(container(X), y)
    left = residuals(X[:, :N_FEATURES]) / X[:, :N_FEATURES].std(axis=0, ddof=1)
    expected = make(scale=False)
    Z_expected = expected.fit_transform(left, residuals(y))
    np.testing.assert_allclose(Z, Z_expected, atol=1e-9)
    np.testing.assert_allclose(estimator.components_[:, :N_FEATURES], expected.components_, atol=1e-9)
    np.testing.assert_allclose(estimator.transform(container(X)), Z, atol=1e-9)
    assert not estimator.feature_mask_[COVARIATES].any()


@estimators
@families
def test_new_samples_are_adjusted_with_the_training_coefficients(make, family):
    train, new = np.arange(32), np.arange(32, N_SAMPLES)
    estimator = make(adjust=COVARIATES, family=family).fit(X[train], TARGETS[family][train])
    shifted = X[new].copy()
    coefficients = estimator.components_[:, COVARIATES] / estimator.scale_[COVARIATES]
    shifted[:, COVARIATES] += [1.0, 2.0]
    change = estimator.transform(shifted) - estimator.transform(X[new])
    np.testing.assert_allclose(change, np.tile(coefficients @ [1.0, 2.0], (len(new), 1)), atol=1e-10)
    assert np.abs(coefficients).max() > 1e-3


@containers
def test_dependent_and_constant_covariates_change_nothing(container):
    y = TARGETS["binomial"]
    more = np.column_stack([X, C @ [1.0, -2.0], np.ones(N_SAMPLES)])
    found = ISPCA(4, n_supervised=2, alpha=None, adjust=[*COVARIATES, N_FEATURES + 2, N_FEATURES + 3])
    Z = found.fit_transform(container(more), y)
    expected = ISPCA(4, n_supervised=2, alpha=None, adjust=COVARIATES).fit_transform(container(X), y)
    np.testing.assert_allclose(Z, expected, atol=1e-9)


@pytest.mark.parametrize("family", [name for name in TARGETS if name != "multinomial"])
@containers
def test_cross_fitting_refits_everything_without_the_held_out_samples(family, container):
    """The held-out scores are those of a fit to the other samples alone."""
    y = TARGETS[family]
    test = np.arange(0, N_SAMPLES, 4)
    splits = [(np.setdiff1d(np.arange(N_SAMPLES), test), test), (test, np.setdiff1d(np.arange(N_SAMPLES), test))]
    estimator = ISPCA(3, n_supervised=1, alpha=None, family=family, adjust=COVARIATES, cross_fit=splits)
    Z = estimator.fit_transform(container(X), y)
    train = splits[0][0]
    [step] = estimator.steps_
    alone = ISPCA(1, n_supervised=1, alpha=None, family=family, adjust=COVARIATES, max_features=step.n_features)
    alone = alone.set_params(n_thresholds=1, whiten=True).fit(container(X[train]), y[train])
    scores = alone.transform(container(X[test]))[:, 0] * np.sqrt(estimator.explained_variance_[0])
    sign = np.sign(scores @ Z[test, 0])
    np.testing.assert_allclose(sign * scores, Z[test, 0], atol=1e-8)


def test_names_and_masks_choose_the_same_covariates():
    frame = pd.DataFrame(X, columns=[f"gene {j}" for j in range(N_FEATURES)] + ["age", "sex"])
    y = TARGETS["binomial"]
    mask = np.zeros(X.shape[1], dtype=bool)
    mask[COVARIATES] = True
    options = {"n_supervised": 2, "alpha": None}
    expected = ISPCA(3, adjust=COVARIATES, **options).fit(X, y).components_
    for adjust in (["age", "sex"], mask, [-1, -2]):
        found = ISPCA(3, adjust=adjust, **options).fit(frame, y).components_
        # Data frames of pandas 3 are stored by column, which changes the order of sums.
        np.testing.assert_allclose(found, expected, atol=1e-12)
    with pytest.raises(ValueError, match="adjust contains names"):
        ISPCA(3, adjust=["batch"]).fit(frame, y)


def test_an_adjusted_reduction_survives_a_model_file(tmp_path):
    estimator = ISPCA(3, adjust=COVARIATES, family="cox", random_state=0).fit(X, TARGETS["cox"])
    save_model(estimator, tmp_path / "model.ispca")
    loaded = load_model(tmp_path / "model.ispca")
    assert loaded.adjust == COVARIATES
    np.testing.assert_array_equal(loaded.transform(X), estimator.transform(X))


def test_fits_that_share_results_do_not_mix_up_covariates_and_weights():
    y, weights = TARGETS["gaussian"], np.linspace(0.5, 2, N_SAMPLES)
    fits = [
        ({}, {}),
        ({"adjust": COVARIATES}, {}),
        ({"exclude": COVARIATES}, {}),
        ({"adjust": COVARIATES[:1], "exclude": COVARIATES[1:]}, {}),
        ({}, {"sample_weight": weights}),
        ({}, {"sample_weight": np.where(weights > 1, weights, 0)}),
        ({"adjust": COVARIATES}, {"sample_weight": weights}),
        ({}, {"groups": np.arange(N_SAMPLES) // 2}),
    ]
    seen = []
    with share_results(X):
        for parameters, extras in fits * 2:
            options = {"alpha": 0.5, "n_permutations": 50, "cross_fit": 3, "random_state": 0, **parameters}
            shared = ISPCA(3, **options).fit_transform(X, y, **extras)
            alone = ISPCA(3, **options).fit_transform(X.copy(), y, **extras)
            np.testing.assert_array_equal(shared, alone)
            seen.append(alone)
    assert np.abs(seen[1] - seen[2]).max() > 1e-3


def test_what_covariates_leave_nothing_of_is_refused():
    y = TARGETS["gaussian"]
    with pytest.raises(ValueError, match="together determine the target completely"):
        ISPCA(2, adjust=COVARIATES).fit(X, C @ [1.0, 2.0])
    with pytest.raises(ValueError, match="explain the target exactly"):
        ISPCA(2, adjust=COVARIATES).fit(X, y, offset=y - C @ [1.0, 2.0])
    for n_supervised in (0, None):
        with pytest.raises(ValueError, match="Adjusting 40 samples for 45 covariates leaves nothing"):
            ISPCA(2, n_supervised=n_supervised, adjust=np.arange(45)).fit(X, y)


def test_a_feature_that_the_covariates_explain_is_gone():
    more = np.column_stack([C @ [1.0, -2.0], X])
    y = TARGETS["gaussian"]
    adjust = [column + 1 for column in COVARIATES]
    assert feature_scores(more, y, adjust=adjust)[0] == 0
    assert score_test(more, y, adjust=adjust, n_permutations=20, random_state=0).p_values[0] == 1.0
