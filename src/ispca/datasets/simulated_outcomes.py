"""Simulated gene expression with survival times or counts, and patients of different age, sex and batch."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from sklearn.utils import Bunch

from .._array_types import Floats, Mask
from ..families.survival_target import survival_target

N_MODULES, MODULE_SIZE = 10, 30
BATCHES = ("A", "B", "C")
# Effects on the linear predictor: of ten years of age, and of men compared with women.
AGE_EFFECT, SEX_EFFECT = 0.3, 0.4
# Weibull distribution of the survival times, in months.
SHAPE, SCALE = 1.3, 36.0
MEAN_COUNT, DISPERSION = 4.0, 5.0


class _Patients(NamedTuple):
    expression: Floats
    relevant: Mask
    covariates: dict[str, np.ndarray]
    predictor: Floats


def make_survival(
    n_samples: int = 150,
    n_features: int = 1000,
    *,
    n_relevant: int = 2,
    signal: float = 1.0,
    censored: float = 0.4,
    random_state: Any = None,
) -> Bunch:
    """Simulate gene expression and survival times of patients, some of which are censored.

    A few modules of correlated genes change the hazard, as do age and sex. The batch changes the expression of
    many genes, but not the hazard.

    Parameters
    ----------
    n_samples, n_features : int
        Number of patients and of genes.
    n_relevant : int, default=2
        Number of modules (of 10, with up to 30 genes each) that change the hazard.
    signal : float, default=1.0
        Standard deviation of the log hazard that is due to genes.
    censored : float, default=0.4
        Fraction of the patients who leave the study before the event.
    random_state : int, Generator or None, default=None
        Seed.

    Returns
    -------
    data : Bunch
        ``data`` (n_samples x n_features), ``target`` (structured array of event and time, in months),
        ``covariates`` (dict of ``age``, ``sex`` and ``batch``), ``feature_names``, and ``relevant`` (mask of genes
        in the relevant modules).

    Examples
    --------
    >>> from ispca.datasets import make_survival
    >>> data = make_survival(100, 200, random_state=0)
    >>> data.target.dtype.names, float(1 - data.target["event"].mean())
    (('event', 'time'), 0.4)
    """
    if not 0 <= censored < 1:
        raise ValueError(f"censored must be at least 0 and below 1, got {censored}.")
    rng = np.random.default_rng(random_state)
    patients = _patients(rng, n_samples, n_features, n_relevant, signal)
    death = SCALE * (rng.exponential(size=n_samples) * np.exp(-patients.predictor)) ** (1 / SHAPE)
    # Patients enter the study evenly; its end is where the wanted fraction is still alive.
    position = rng.uniform(0.05, 1.0, n_samples)
    end = position * np.quantile(death / position, 1 - censored, method="lower")
    target = survival_target((death <= end, np.minimum(death, end)))
    return _bunch(patients, target)


def make_counts(
    n_samples: int = 150,
    n_features: int = 1000,
    *,
    n_relevant: int = 2,
    signal: float = 0.7,
    random_state: Any = None,
) -> Bunch:
    """Simulate gene expression and counts of events during different lengths of observation.

    A few modules of correlated genes change the rate of events, as do age and sex. The batch changes the
    expression of many genes, but not the rate. Counts vary more than Poisson counts: they are negative binomial.

    Parameters
    ----------
    n_samples, n_features : int
        Number of patients and of genes.
    n_relevant : int, default=2
        Number of modules (of 10, with up to 30 genes each) that change the rate.
    signal : float, default=0.7
        Standard deviation of the log rate that is due to genes.
    random_state : int, Generator or None, default=None
        Seed.

    Returns
    -------
    data : Bunch
        ``data`` (n_samples x n_features), ``target`` (counts), ``offset`` (log of the years of observation),
        ``covariates`` (dict of ``age``, ``sex`` and ``batch``), ``feature_names``, and ``relevant`` (mask of genes
        in the relevant modules).

    Examples
    --------
    >>> from ispca.datasets import make_counts
    >>> data = make_counts(100, 200, random_state=0)
    >>> data.target.dtype.kind, sorted(set(data.covariates["batch"].tolist()))
    ('i', ['A', 'B', 'C'])
    """
    rng = np.random.default_rng(random_state)
    patients = _patients(rng, n_samples, n_features, n_relevant, signal)
    offset = np.log(rng.uniform(0.5, 3.0, n_samples))
    mean = MEAN_COUNT * np.exp(patients.predictor + offset)
    return _bunch(patients, rng.poisson(rng.gamma(DISPERSION, mean / DISPERSION)), offset=offset)


def _patients(
    rng: np.random.Generator, n_samples: int, n_features: int, n_relevant: int, signal: float
) -> _Patients:
    if not 0 <= n_relevant <= N_MODULES:
        raise ValueError(f"n_relevant must be between 0 and {N_MODULES}, got {n_relevant}.")
    if n_samples < 4 or n_features < N_MODULES:
        raise ValueError(f"n_samples must be at least 4 and n_features at least {N_MODULES}.")
    size = min(MODULE_SIZE, n_features // N_MODULES)
    module = np.full(n_features, -1)
    module[: N_MODULES * size] = np.repeat(np.arange(N_MODULES), size)
    module = rng.permutation(module)
    activity = rng.normal(size=(n_samples, N_MODULES))
    batch = rng.permutation(np.arange(n_samples) % len(BATCHES))
    expression = rng.normal(size=(n_samples, n_features))
    inside = module >= 0
    expression[:, inside] += activity[:, module[inside]] * rng.uniform(0.5, 1.5, inside.sum())
    shift = rng.normal(size=(len(BATCHES), n_features)) * (rng.random(n_features) < 0.3)
    expression += shift[batch]
    age, male = rng.normal(60, 10, n_samples).round(1), rng.random(n_samples) < 0.5
    predictor = signal * activity[:, :n_relevant].sum(axis=1) / np.sqrt(max(n_relevant, 1))
    predictor = predictor + AGE_EFFECT * (age - 60) / 10 + SEX_EFFECT * (male - 0.5)
    covariates = {
        "age": age,
        "sex": np.where(male, "male", "female"),
        "batch": np.array(BATCHES)[batch],
    }
    return _Patients(8 + expression, inside & (module < n_relevant), covariates, predictor)


def _bunch(patients: _Patients, target: np.ndarray, **more: Any) -> Bunch:
    return Bunch(
        data=patients.expression,
        target=target,
        covariates=patients.covariates,
        feature_names=np.array([f"gene {j + 1}" for j in range(patients.expression.shape[1])]),
        relevant=patients.relevant,
        **more,
    )
