"""Simulated data of latent factors whose true coefficients are known, and the best model of found components."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import special
from scipy.optimize import brentq

from ispca import ISPCA

N_FEATURES, N_FACTORS, FACTOR_SIZE, N_RELEVANT = 600, 10, 30, 2
# Nodes and weights for expectations over a standard normal variable.
NODES, WEIGHTS = np.polynomial.hermite_e.hermegauss(100)
WEIGHTS = WEIGHTS / WEIGHTS.sum()


@dataclass(frozen=True)
class Design:
    """One kind of data: the standard deviation of the linear predictor; a Gaussian target has variance 1."""

    name: str
    classes: bool
    signal: float
    # One supervised component without a test, as a test would refuse it in noise.
    forced: bool = False


@dataclass(frozen=True)
class Truth:
    """Features are ``factors @ loadings.T + noise``, and the linear predictor is ``X @ coef``."""

    design: Design
    loadings: np.ndarray
    coef: np.ndarray

    def draw(self, rng: np.random.Generator, n: int) -> tuple[np.ndarray, np.ndarray]:
        """Return n samples and their targets."""
        n_features, n_factors = self.loadings.shape
        X = rng.normal(size=(n, n_factors)) @ self.loadings.T + rng.normal(size=(n, n_features))
        eta = X @ self.coef
        y = (
            rng.uniform(size=n) < special.expit(eta)
            if self.design.classes
            else eta + self.noise * rng.normal(size=n)
        )
        return X, y

    @property
    def noise(self) -> float:
        return float(np.sqrt(1 - self.design.signal**2))

    def best(self, reduction: ISPCA) -> tuple[np.ndarray, float, float]:
        """Return coefficients and intercept of the best model of the components, and the fraction of signal kept.

        All variables are normal, so the best linear predictor of new samples is the projection of the true one.
        For classes it is shrunk: the part of the true predictor that the components miss acts like noise.
        """
        weights = (reduction.components_ / reduction.scale_).T
        by_factor = self.loadings.T @ weights
        covariance = by_factor.T @ by_factor + weights.T @ weights
        with_eta = by_factor.T @ (self.loadings.T @ self.coef) + weights.T @ self.coef
        coef = np.linalg.solve(covariance, with_eta)
        variance, signal = float(coef @ with_eta), self.design.signal
        if self.design.classes:
            coef = coef * shrinkage(np.sqrt(variance), signal)
        return coef, float(coef @ (reduction.mean_ @ weights)), variance / signal**2 if signal else np.nan


def shrinkage(kept: float, signal: float) -> float:
    """Return the factor c with which ``c * u`` is the best predictor if ``u`` is a part of the true logit.

    The standard deviations of u and of the logit are given. At the optimum, ``E[u p(c u)] = E[u p(logit)]``, and
    Stein's lemma makes expectations of the slope of the logistic function of both sides.
    """

    def slope(spread: float) -> float:
        p = special.expit(spread * NODES)
        return float(WEIGHTS @ (p * (1 - p)))

    return float(brentq(lambda c: c * slope(c * kept) - slope(signal), 0.0, 2.0))


def make_truth(design: Design, rng: np.random.Generator) -> Truth:
    """Draw the loadings; the coefficients are those of the best prediction of the first factors from X."""
    loadings = np.zeros((N_FEATURES, N_FACTORS))
    for factor in range(N_FACTORS):
        part = slice(factor * FACTOR_SIZE, (factor + 1) * FACTOR_SIZE)
        loadings[part, factor] = rng.uniform(0.5, 1.0, FACTOR_SIZE) * rng.choice([-1.0, 1.0], FACTOR_SIZE)
    covariance = loadings @ loadings.T + np.eye(N_FEATURES)
    coef = np.linalg.solve(covariance, loadings[:, :N_RELEVANT].sum(axis=1))
    return Truth(design, loadings, coef * design.signal / np.sqrt(coef @ covariance @ coef))
