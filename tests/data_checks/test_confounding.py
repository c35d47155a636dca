"""Covariates that cannot be separated from the target."""

import warnings

import numpy as np
import pytest

import ispca
from ispca import ISPCA
from ispca.data_checks.confounding import (
    LIMIT,
    check_confounding,
    covariates_checked,
    explained_fractions,
    find_confounding,
    separated_classes,
)

N = 100


@pytest.fixture
def rng():
    return np.random.default_rng(0)


def indicators(values):
    return (np.asarray(values)[:, None] == np.unique(values)[1:]).astype(float)


def test_a_batch_that_is_the_class_is_refused(rng):
    y = rng.integers(0, 2, N)
    batch = np.where(y == 1, rng.integers(0, 2, N), rng.integers(2, 4, N))
    with pytest.raises(ValueError, match=r"Covariate 'batch' determines the class completely.*Remove 'batch'"):
        check_confounding({"age": rng.normal(size=(N, 1)), "batch": indicators(batch)}, y, True)


def test_an_age_that_separates_the_classes_is_refused(rng):
    y = rng.integers(0, 2, N)
    age = np.where(y == 1, 40.0, 30.0) + rng.exponential(15.0, N) * np.where(y == 1, 1, -1)
    assert explained_fractions(age[:, None], indicators(y))[0] < LIMIT, "a linear fit alone does not show it"
    with pytest.raises(ValueError, match="Covariate 'age' determines the class completely"):
        check_confounding({"age": age[:, None]}, y, True)


def test_covariates_that_determine_the_target_together(rng):
    first, noise = rng.normal(size=N), rng.normal(size=N)
    covariates = {"a": (first + noise)[:, None], "b": noise[:, None]}
    with pytest.raises(ValueError, match="'a', 'b' together determine the target completely"):
        check_confounding(covariates, first, False)
    with pytest.raises(ValueError, match="'a', 'b' together determine the class completely"):
        check_confounding(covariates, first > 0, True)


def test_a_warning_near_the_limit(rng):
    y = np.arange(N) % 2
    # With a fraction f of exceptions in each class, R^2 is (1 - 2 f)^2.
    for exceptions, warns in ((4, True), (6, False)):
        batch = y.copy()
        batch[:exceptions] = 1 - batch[:exceptions]
        covariates = {"batch": batch[:, None].astype(float), "age": rng.normal(size=(N, 1))}
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            check_confounding(covariates, y, True)
        assert [str(w.message)[:44] for w in caught] == (
            ["Covariate 'batch' explains 85% of the variat"] if warns else []
        )


def test_one_of_several_classes_is_only_a_warning(rng):
    y = rng.choice(["a", "b", "c"], N)
    with pytest.warns(UserWarning, match="Covariate 'batch' explains 100% of the variation of class 'c'"):
        check_confounding({"batch": (y == "c")[:, None].astype(float)}, y, True)


def test_a_single_class_is_left_to_the_family(rng):
    assert find_confounding({"age": rng.normal(size=(N, 1))}, np.repeat("a", N), True) is None
    with pytest.raises(ValueError, match="one class only"):
        ISPCA(adjust=[0], family="binomial").fit(rng.normal(size=(N, 5)), np.repeat("a", N))


def test_an_estimator_warns_unless_its_caller_has_checked(rng):
    X, y = rng.normal(size=(N, 5)), np.arange(N) % 2
    X[:, 0] = np.where(np.arange(N) < 4, 1 - y, y)
    reduction = ISPCA(2, adjust=[0], n_permutations=20, random_state=0)
    with pytest.warns(ispca.DataWarning, match="Covariate '0' explains") as caught:
        alone = reduction.fit_transform(X, y)
    assert [warning.message.kind for warning in caught if hasattr(warning.message, "kind")] == ["confounding"]
    with warnings.catch_warnings():
        warnings.simplefilter("error", ispca.DataWarning)
        with covariates_checked():
            checked = reduction.fit_transform(X, y)
    np.testing.assert_array_equal(alone, checked)


def test_separation_agrees_with_its_definition(rng):
    columns = rng.normal(size=(N, 3))
    inside = columns @ [1.0, -2.0, 0.5] > 0.3
    both = np.column_stack([inside, ~inside])
    assert separated_classes(columns, both).all()
    both[0] = ~both[0]
    assert not separated_classes(columns, both).any()


def test_constant_and_repeated_columns_do_no_harm(rng):
    y = rng.normal(size=N)
    age = rng.normal(size=(N, 1))
    check_confounding({"constant": np.ones((N, 1)), "age": age, "again": 2 * age}, y, False)
    np.testing.assert_allclose(
        explained_fractions(np.column_stack([age, 2 * age, np.ones(N)]), y[:, None]),
        np.corrcoef(age[:, 0], y)[0, 1] ** 2,
    )
