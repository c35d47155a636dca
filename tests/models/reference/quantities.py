"""What is compared between programs, computed from draws in one common form.

Draws are a dictionary of arrays, chains and draws first: intercept (C, D, H), coef (C, D, H, K), log_tau, log_c2
and, for the Gaussian model, sigma (C, D). H is 1 except for the softmax.
"""

from __future__ import annotations

import numpy as np
from scipy.special import logsumexp


def quantities(draws: dict, Z: np.ndarray, y: np.ndarray, n_classes: int) -> dict[str, np.ndarray]:
    """Return each identified quantity by its name, as an array of chains and draws.

    The softmax is identified up to a shift per feature: its coefficients stand less their mean over classes.
    """
    intercept, coef = draws["intercept"], draws["coef"]
    if n_classes > 2:
        intercept, coef = (values - values.mean(axis=2, keepdims=True) for values in (intercept, coef))
    found = {}
    for h in range(intercept.shape[2]):
        label = f"{h}, " if n_classes > 2 else ""
        found[f"intercept[{h}]" if n_classes > 2 else "intercept"] = intercept[:, :, h]
        found |= {f"coef[{label}{j}]": coef[:, :, h, j] for j in range(coef.shape[3])}
    found |= {"log_tau": draws["log_tau"], "log_c2": draws["log_c2"]}
    if n_classes == 0:
        found["log_sigma"] = np.log(draws["sigma"])
    return found | {"log_lik": log_likelihood(draws, Z, y, n_classes)}


def log_likelihood(draws: dict, Z: np.ndarray, y: np.ndarray, n_classes: int, block: int = 500) -> np.ndarray:
    """Return the log density of all y for each draw."""
    chains, n_draws = draws["log_tau"].shape
    total = np.empty((chains, n_draws))
    for c in range(chains):
        for start in range(0, n_draws, block):
            part = np.s_[c, start : start + block]
            eta = draws["coef"][part] @ Z.T + draws["intercept"][part][:, :, None]  # draws x H x n
            if n_classes == 0:
                sigma = draws["sigma"][part][:, None]
                terms = -0.5 * ((y - eta[:, 0]) / sigma) ** 2 - np.log(sigma) - 0.5 * np.log(2 * np.pi)
            elif n_classes == 2:
                terms = -np.logaddexp(0, np.where(y == 1, -1, 1) * eta[:, 0])
            else:
                terms = eta[:, y, np.arange(len(y))] - logsumexp(eta, axis=1)
            total[part] = terms.sum(axis=1)
    return total
