"""Sample a posterior: choose the sampler, check convergence, continue or repeat the chains, and warn."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from .._array_types import Floats
from .._engine_loader import load_engine
from .._warnings import notify
from ..families import Family
from ..reduction.threads import available_threads
from .diagnostics import LARGEST_DIVERGENT_FRACTION, Diagnostics, r_hat_and_bulk_ess, tail_ess
from .posterior import Posterior, log_likelihood

# Chains that have not converged are extended up to this multiple of the requested draws.
LARGEST_EXTENSION = 4
RETRY_TARGET = 0.99
# Largest number of training samples on which the log predictive density is monitored.
WATCHED_SAMPLES = 500


class Problem(NamedTuple):
    """Data and prior of one model."""

    family: Family
    Z: Floats
    y: Any
    prior: dict[str, Any]  # its name and constants, as the engine names them


@dataclass(frozen=True)
class Settings:
    """How to sample, as the engine names it."""

    sampler: str
    n_chains: int
    n_warmup: int
    n_draws: int
    target_accept: float
    seed: int
    n_threads: int


def prior_scale(p0: float, n_features: int, n_samples: int, pseudo_deviation: float) -> float:
    """Return tau0 of Piironen and Vehtari: ``p0 / (K - p0) * pseudo_deviation / sqrt(n)``.

    For ``K <= p0``, common with a single component, ``K - p0`` is taken as 1.
    """
    irrelevant = n_features - p0
    return p0 / (irrelevant if irrelevant > 0 else 1.0) * pseudo_deviation / np.sqrt(n_samples)


def ridge_scale(Z: Floats, pseudo_deviation: float) -> float:
    """Return the scale of tau under the ridge prior: ``pseudo_deviation / sqrt(sum_j var(z_j))``.

    Over the training samples, ``sum_j (z_ij - mean_j) beta_j`` then has a standard deviation whose root mean
    square is half-Cauchy with scale ``pseudo_deviation``: signal and noise are equally large in the prior median.
    """
    spread = float(np.linalg.norm(Z.std(axis=0)))
    # Constant features carry no signal at any scale; the engine accepts no scales beyond these.
    return float(np.clip(pseudo_deviation / spread, 1e-30, 1e30)) if spread > 0 else pseudo_deviation


def sample_posterior(problem: Problem, settings: Settings, retry: bool) -> tuple[Posterior, Diagnostics]:
    """Draw until the chains have converged; if they never do, warn and say what to do."""
    first = second = settings.sampler
    if settings.sampler == "auto":
        first, second = problem.family.samplers(*problem.Z.shape)
    posterior, diagnostics = _run(problem, replace(settings, sampler=first), retry)
    if not diagnostics.converged and retry:
        # Smaller steps and a longer warm-up.
        target, n_warmup = max(RETRY_TARGET, settings.target_accept), 2 * settings.n_warmup
        cautious = replace(
            settings, sampler=second, target_accept=target, n_warmup=n_warmup, seed=settings.seed + 1
        )
        again = _run(problem, cautious, retry)
        # Draws that are not finite have no R-hat: anything is better.
        worst = np.nan_to_num(diagnostics.r_hat.max(), nan=np.inf)
        if again[1].converged or again[1].r_hat.max() < worst:
            posterior, diagnostics = again
    if not diagnostics.converged:
        # Under the ridge prior, features keep their own scale, and one scale of the coefficients serves them all.
        features = "" if problem.prior["prior"] == "ridge" else "use fewer or whitened features, "
        notify(
            f"{diagnostics.summary} Do not rely on this posterior: raise n_warmup and n_draws, "
            f"{features}or try another random_state."
        )
    return posterior, diagnostics


def _run(problem: Problem, settings: Settings, retry: bool) -> tuple[Posterior, Diagnostics]:
    """Run the chains, and continue them as long as more draws may help."""
    y = np.asarray(problem.y, dtype=np.float64)
    n_classes = int(y.max()) + 1 if problem.family.classification else 0
    options = asdict(settings) | problem.prior | {"n_classes": n_classes, "seed": settings.seed % 2**63}
    sample = partial(load_engine().sample, problem.family.sampler_model, problem.Z, y, **options)
    result = sample()
    posterior = Posterior.from_engine(result, problem.family)
    diagnostics = diagnose(problem, posterior, settings)
    for _ in range(LARGEST_EXTENSION - 1):
        divergent = diagnostics.n_divergent > LARGEST_DIVERGENT_FRACTION * diagnostics.n_draws
        if diagnostics.converged or divergent or not retry:
            break
        result = sample(state=result["state"])
        posterior = posterior.extended(Posterior.from_engine(result, problem.family))
        diagnostics = diagnose(problem, posterior, settings)
    return posterior, diagnostics


def diagnose(problem: Problem, posterior: Posterior, settings: Settings) -> Diagnostics:
    """Monitor what is identified: contrasts between classes, scales, and the fit to the data."""
    shape = posterior.tau.shape
    coef, intercept = posterior.contrasts()
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
        *r_hat_and_bulk_ess(draws),
        tail_ess(draws),
        names,
        posterior.n_draws,
        int(posterior.divergent.sum()),
        settings.sampler,
        settings.target_accept,
    )


def thread_count(n_jobs: int | None, n_chains: int) -> int:
    """Return how many chains run at a time: by default as many as BLAS has threads."""
    if n_jobs is None:
        return min(n_chains, available_threads())
    if n_jobs < 0:
        return n_chains
    return max(1, n_jobs)
