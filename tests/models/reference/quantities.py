"""What is compared between programs, computed from draws in one common form.

Draws are a dictionary of arrays, chains and draws first: coef (C, D, H, K), log_tau and log_c2 (C, D); intercept
(C, D, H) where the model has one; sigma (C, D) of the Gaussian model, dispersion (C, D) of the negative binomial
model, and thresholds (C, D, classes - 1) of the ordinal model. H is 1 except for the softmax.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
from scipy.special import logsumexp

sys.path.append(str(Path(__file__).parents[2]))
from log_densities import LOG_DENSITIES

# Models whose intercept is identified, and the parameters that others have besides.
WITH_INTERCEPT = ("gaussian", "logistic", "softmax", "poisson", "negative_binomial")
EXTRA = {"gaussian": "sigma", "negative_binomial": "dispersion", "ordinal": "thresholds"}


def quantities(draws: dict, problem) -> dict[str, np.ndarray]:
    """Return each identified quantity by its name, as an array of chains and draws.

    The softmax is identified up to a shift per feature: its coefficients stand less their mean over classes.
    """
    coef, model = draws["coef"], problem.model
    several = model == "softmax"
    intercept = draws["intercept"] if model in WITH_INTERCEPT else None
    if several:
        intercept, coef = (values - values.mean(axis=2, keepdims=True) for values in (intercept, coef))
    found = {}
    for h in range(coef.shape[2]):
        label = f"{h}, " if several else ""
        if intercept is not None:
            found[f"intercept[{h}]" if several else "intercept"] = intercept[:, :, h]
        found |= {f"coef[{label}{j}]": coef[:, :, h, j] for j in range(coef.shape[3])}
    found |= {"log_tau": draws["log_tau"], "log_c2": draws["log_c2"]}
    if model == "ordinal":
        found |= {f"threshold[{k}]": values for k, values in enumerate(np.moveaxis(draws["thresholds"], 2, 0))}
    elif model in EXTRA:
        found[f"log_{EXTRA[model]}"] = np.log(draws[EXTRA[model]])
    return found | {"log_lik": log_likelihood(draws, problem)}


def log_likelihood(draws: dict, problem, block: int = 500) -> np.ndarray:
    """Return the weighted log likelihood of each draw."""
    chains, n_draws = draws["log_tau"].shape
    weights = np.ones(len(problem.Z)) if problem.weights is None else problem.weights
    offset = 0.0 if problem.offset is None else problem.offset
    total = np.empty((chains, n_draws))
    for c in range(chains):
        for start in range(0, n_draws, block):
            part = np.s_[c, start : start + block]
            eta = draws["coef"][part] @ problem.Z.T + offset  # draws x H x n
            if problem.model in WITH_INTERCEPT:
                eta += draws["intercept"][part][:, :, None]
            name = EXTRA.get(problem.model)
            total[part] = log_densities(problem, eta, None if name is None else draws[name][part]) @ weights
    return total


def log_densities(problem, eta: np.ndarray, extra: np.ndarray | None) -> np.ndarray:
    """Return the log density of every y (draws x n), given the linear predictors."""
    y = problem.y
    if problem.model == "gaussian":
        sigma = extra[:, None]
        return -0.5 * ((y - eta[:, 0]) / sigma) ** 2 - np.log(sigma) - 0.5 * np.log(2 * np.pi)
    if problem.model == "logistic":
        return -np.logaddexp(0, np.where(y == 1, -1, 1) * eta[:, 0])
    if problem.model == "softmax":
        return eta[:, y, np.arange(len(y))] - logsumexp(eta, axis=1)
    if problem.model == "cox":
        y = signed_times(y)
    return LOG_DENSITIES[problem.model](eta[:, 0], y, extra)


def signed_times(y: np.ndarray) -> np.ndarray:
    """Return survival times as the engine takes them: negative where the sample is censored."""
    return np.where(y["event"], y["time"], -y["time"])
