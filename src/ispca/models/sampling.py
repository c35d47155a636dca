"""Sampling with a conscience: choose the sampler, check the chains, go on, try harder, and say so."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from .._engine_loader import load_engine
from ..families import Family
from ..reduction.records import Floats
from ..reduction.threads import available_threads
from ..reduction.user_warnings import notify
from .diagnostics import LARGEST_DIVERGENT_SHARE, Diagnostics, bulk_ess, r_hat, tail_ess
from .posterior import Posterior, log_likelihood

# Chains that have not converged are extended up to this multiple of the requested draws.
LARGEST_EXTENSION = 4
RETRY_TARGET = 0.99
# Largest number of training samples on which the log predictive density is monitored.
WATCHED_SAMPLES = 500


@dataclass(frozen=True)
class Problem:
    """Data and prior of one model."""

    family: Family
    Z: Floats
    y: Any
    prior: dict[str, float]


@dataclass(frozen=True)
class Settings:
    """How to sample."""

    sampler: str
    n_chains: int
    n_warmup: int
    n_draws: int
    target_accept: float
    seed: int
    n_threads: int
    retry: bool = True


def prior_scale(p0: float, n_features: int, n_samples: int, pseudo_deviation: float) -> float:
    """Return tau0 of Piironen and Vehtari: ``p0 / (K - p0) * pseudo_deviation / sqrt(n)``.

    For ``K <= p0``, common with a single component, ``K - p0`` is taken as 1.
    """
    irrelevant = n_features - p0
    return p0 / (irrelevant if irrelevant > 0 else 1.0) * pseudo_deviation / np.sqrt(n_samples)


def sample_posterior(problem: Problem, settings: Settings) -> tuple[Posterior, Diagnostics]:
    """Draw until the chains have converged; after all else, warn and say what to do."""
    sampler = second = settings.sampler
    if sampler == "auto":
        sampler, second = problem.family.samplers(*problem.Z.shape)
    posterior, diagnostics = _run(
        problem, settings, sampler, settings.target_accept, settings.n_warmup, settings.seed
    )
    if not diagnostics.converged and settings.retry:
        # Small steps and a longer warm-up.
        target = max(RETRY_TARGET, settings.target_accept)
        again = _run(problem, settings, second, target, 2 * settings.n_warmup, settings.seed + 1)
        # Draws that are not finite have no R-hat: anything is better.
        worst = np.nan_to_num(diagnostics.r_hat.max(), nan=np.inf)
        if again[1].converged or again[1].r_hat.max() < worst:
            posterior, diagnostics = again
    if not diagnostics.converged:
        notify(
            f"{diagnostics.summary} Do not rely on this posterior: raise n_warmup and n_draws, "
            "use fewer or whitened features, or another random_state."
        )
    return posterior, diagnostics


def _run(
    problem: Problem, settings: Settings, sampler: str, target: float, n_warmup: int, seed: int
) -> tuple[Posterior, Diagnostics]:
    """Run the chains, and continue them while only more draws are wanting."""
    y = np.asarray(problem.y, dtype=np.float64)
    options = dict(
        n_classes=int(problem.y.max()) + 1 if problem.family.classification else 0,
        sampler=sampler,
        n_chains=settings.n_chains,
        n_warmup=n_warmup,
        n_draws=settings.n_draws,
        target_accept=target,
        seed=seed % 2**63,
        n_threads=settings.n_threads,
        **problem.prior,
    )
    sample = partial(load_engine().sample, problem.family.sampler_model, problem.Z, y, **options)
    result = sample()
    posterior = Posterior.from_engine(result, problem.family)
    diagnostics = diagnose(problem, posterior, sampler, target)
    for _ in range(LARGEST_EXTENSION - 1):
        divergent = diagnostics.n_divergent > LARGEST_DIVERGENT_SHARE * diagnostics.n_draws
        if diagnostics.converged or divergent or not settings.retry:
            break
        result = sample(state=result["state"])
        posterior = posterior.extended(Posterior.from_engine(result, problem.family))
        diagnostics = diagnose(problem, posterior, sampler, target)
    return posterior, diagnostics


def diagnose(problem: Problem, posterior: Posterior, sampler: str, target: float) -> Diagnostics:
    """Watch what is identified: contrasts between classes, scales, and the fit to the data."""
    shape = posterior.tau.shape
    coef, intercept = posterior.coef, posterior.intercept
    if problem.family.per_class:
        # A shift common to all classes changes no prediction and mixes slowly: it is taken out.
        coef = coef - coef.mean(axis=2, keepdims=True)
        intercept = intercept - intercept.mean(axis=2, keepdims=True)
    watched = {"coefficient": coef.reshape(*shape, -1), "intercept": intercept.reshape(*shape, -1)}
    watched["log tau"] = np.log(posterior.tau)[:, :, None]
    if posterior.sigma is not None:
        watched["log sigma"] = np.log(posterior.sigma)[:, :, None]
    some = slice(None, None, -(-len(problem.Z) // WATCHED_SAMPLES))
    density = log_likelihood(posterior, problem.Z[some], problem.y[some]).sum(axis=0)
    watched["log predictive density"] = density.reshape(*shape, 1)
    draws = np.concatenate(list(watched.values()), axis=2)
    names = tuple(name for name, values in watched.items() for _ in range(values.shape[2]))
    return Diagnostics(
        r_hat(draws),
        bulk_ess(draws),
        tail_ess(draws),
        names,
        posterior.n_draws,
        int(posterior.divergent.sum()),
        sampler,
        target,
    )


def thread_count(n_jobs: int | None, n_chains: int) -> int:
    """Return how many chains run at a time: by default as many as BLAS has threads."""
    if n_jobs is None:
        return min(n_chains, available_threads())
    if n_jobs < 0:
        return n_chains
    return max(1, n_jobs)
