"""Fitted models of two classes, three classes and a numeric target."""

import numpy as np
import pytest

from ispca import HorseshoeClassifier, HorseshoeRegressor
from model_data import make_data


@pytest.fixture(scope="module")
def two():
    Z, y = make_data(2)
    return HorseshoeClassifier(random_state=1).fit(Z, np.array(["healthy", "sick"])[y])


@pytest.fixture(scope="module")
def three():
    Z, y = make_data(3)
    return HorseshoeClassifier(random_state=1, n_draws=500).fit(Z, y + 5)


@pytest.fixture(scope="module")
def numeric():
    rng = np.random.default_rng(2)
    Z = rng.normal(size=(200, 4))
    y = 10 + 3 * Z[:, 0] - Z[:, 1] + 2 * rng.normal(size=200)
    return HorseshoeRegressor(random_state=1).fit(Z, y)
