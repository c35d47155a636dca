"""Projections of posterior draws against those of R's projpred, stored in reference."""

from pathlib import Path

import numpy as np
import pytest
from scipy.special import expit

from ispca.families import FAMILIES
from ispca.selection.projection import project
from ispca.selection.reference import ReferencePredictions

FOLDER = Path(__file__).parent / "reference"
TOLERANCES = {
    "gaussian": 1e-11,
    "binomial": 1e-6,
}  # projpred's binomial optimizer stops a little earlier than ours


@pytest.mark.parametrize("size", [0, 2, 5])
@pytest.mark.parametrize("name", list(TOLERANCES))
def test_same_coefficients(name, size):
    tolerance = TOLERANCES[name]
    with np.load(FOLDER / f"projpred-{name}.npz") as file:
        stored = dict(file)
    predictor, sigma = stored["predictor"], stored.get("sigma")
    n_draws = predictor.shape[1]
    predictions = ReferencePredictions(
        family=FAMILIES[name],
        mean=predictor if name == "gaussian" else expit(predictor),
        extra=sigma,
        offset=None,
        sample_weight=None,
        weights=np.full(n_draws, 1 / n_draws),
        y=stored["y"],
    )
    found = project(stored["X"][:, :size], predictions)
    theirs = stored[f"coef{size}"]
    np.testing.assert_allclose(found.intercept, theirs[:, 0], atol=tolerance)
    np.testing.assert_allclose(found.coef, theirs[:, 1:], atol=tolerance)
    if name == "gaussian":
        np.testing.assert_allclose(found.extra, stored[f"sigma{size}"], rtol=tolerance)
