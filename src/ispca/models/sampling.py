"""Sample a posterior: choose the sampler, check convergence, continue or repeat the chains, and warn."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from ..families import Family
from ..foundation.arrays import Floats, Mask
from ..foundation.extras import load_engine
from ..foundation.messages import notify
from ..reduction.threads import usable_threads, workers
from ..targets.samples import Samples
from .diagnostics import LARGEST_DIVERGENT_FRACTION, Diagnostics, r_hat_and_bulk_ess, tail_ess
from .posterior import Posterior, log_likelihood, part_of

# Chains that have not converged are extended up to this multiple of the requested draws.
LARGEST_EXTENSION = 4
RETRY_TARGET = 0.99
# Largest number of training samples on which the log predictive density is monitored.
WATCHED_SAMPLES = 500
# Quantities whose chains a thread diagnoses at a time, at least.
DIAGNOSED_TOGETHER = 12


def spreads(values: Floats, weights: Floats | None) -> Any:
    """Return the standard deviations over the samples, the first axis."""
    if weights is None:
        return values.std(axis=0)
    centered = values - np.average(values, axis=0, weights=weights)
    return np.sqrt(np.average(centered**2, axis=0, weights=weights))


def keep_posterior(posterior: Posterior) -> Posterior:
    """Return the draws as they are."""
    return posterior


class Problem(NamedTuple):
    """Data and prior of one model."""

    family: Family
    data: Samples
    prior: dict[str, Any]  # its name and constants, as the engine names them
    # Adds what the likelihood needs and the engine does not draw.
    complete: Callable[[Posterior], Posterior] = keep_posterior


@dataclass(frozen=True)
class SamplerSettings:
    """How to sample, as the engine names it."""

    sampler: str
    n_chains: int
    n_warmup: int
    n_draws: int
    target_accept: float
    seed: int
    n_threads: int


def prior_scale(p0: float, n_features: int, n_samples: float, pseudo_deviation: float) -> float:
    """Return tau0 of Piironen and Vehtari: ``p0 / (K - p0) * pseudo_deviation / sqrt(n)``.

    K counts the penalized features, and n is the sum of the sample weights. For ``K <= p0``, common with a single
    component, ``K - p0`` is taken as 1.
    """
    irrelevant = n_features - p0
    return p0 / (irrelevant if irrelevant > 0 else 1.0) * pseudo_deviation / np.sqrt(n_samples)


def ridge_scale(feature_spreads: Floats, pseudo_deviation: float) -> float:
    """Return the scale of tau under the ridge prior: ``pseudo_deviation / sqrt(sum_j var(z_j))``.

    Over the training samples, ``sum_j (z_ij - mean_j) beta_j`` then has a standard deviation whose root mean
    square is half-Cauchy with scale ``pseudo_deviation``: signal and noise are equally large in the prior median.
    """
    spread = float(np.linalg.norm(feature_spreads))
    # Constant features carry no signal at any scale; the engine accepts no scales beyond these.
    return float(np.clip(pseudo_deviation / spread, 1e-30, 1e30)) if spread > 0 else pseudo_deviation


def unpenalized_scales(unpenalized: Mask, feature_spreads: Floats, intercept_scale: float) -> Floats | None:
    """Return the standard deviations of the normal priors, 0 for penalized features; None if all are penalized.

    Per standard deviation of the feature, the prior is that of the intercept.
    """
    if not unpenalized.any():
        return None
    # A constant feature is another intercept.
    return np.where(unpenalized, intercept_scale / np.where(feature_spreads > 0, feature_spreads, 1.0), 0.0)


def sample_posterior(problem: Problem, settings: SamplerSettings, retry: bool) -> tuple[Posterior, Diagnostics]:
    """Draw until the chains have converged; if they never do, warn and say what to do."""
    first = second = settings.sampler
    if settings.sampler == "auto":
        first, second = problem.family.samplers(*problem.data.X.shape)
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
            f"{features}or try another random_state.",
            ConvergenceWarning,
        )
    return posterior, diagnostics


def _run(problem: Problem, settings: SamplerSettings, retry: bool) -> tuple[Posterior, Diagnostics]:
    """Run the chains, and continue them as long as more draws may help."""
    family, data = problem.family, problem.data
    y = np.asarray(family.engine_target(data.y), dtype=np.float64)
    n_classes = int(y.max()) + 1 if family.classification or family.ordered else 0
    options = asdict(settings) | problem.prior | {"n_classes": n_classes, "seed": settings.seed % 2**63}
    options |= {"weights": data.sample_weight, "offset": data.offset}
    sample = partial(load_engine().sample, family.sampler_model, data.X, y, **options)
    result = sample()
    posterior = Posterior.from_engine(result, family)
    diagnostics = diagnose(problem, posterior, settings)
    for _ in range(LARGEST_EXTENSION - 1):
        divergent = diagnostics.n_divergent > LARGEST_DIVERGENT_FRACTION * diagnostics.n_draws
        if diagnostics.converged or divergent or not retry:
            break
        result = sample(state=result["state"])
        posterior = posterior.extended(Posterior.from_engine(result, family))
        diagnostics = diagnose(problem, posterior, settings)
    return problem.complete(posterior), diagnostics


def diagnose(problem: Problem, posterior: Posterior, settings: SamplerSettings) -> Diagnostics:
    """Monitor what is identified: contrasts between classes, scales, and the fit to the data."""
    assert posterior.tau is not None
    assert posterior.divergent is not None
    shape = posterior.tau.shape
    coef, intercept = posterior.contrasts()
    watched = {"coefficient": coef.reshape(*shape, -1)}
    if problem.family.intercept:
        watched["intercept"] = intercept.reshape(*shape, -1)
    scales = {"log tau": np.log(posterior.tau)[:, :, None]}
    if problem.family.monitored is not None:
        name, monitor = problem.family.monitored
        draws = monitor(getattr(posterior, problem.family.extra))
        # Like intercepts, thresholds come before the scales.
        (watched if draws.ndim == 3 else scales)[name] = draws.reshape(*shape, -1)
    watched |= scales
    Z, y, offset = problem.data.X, problem.data.y, problem.data.offset
    some = slice(None, None, -(-len(Z) // WATCHED_SAMPLES))
    density = log_likelihood(problem.complete(posterior), Z[some], y[some], part_of(offset, some)).sum(axis=0)
    watched["log predictive density"] = density.reshape(*shape, 1)
    draws = np.concatenate(list(watched.values()), axis=2)
    names = tuple(name for name, values in watched.items() for _ in range(values.shape[2]))
    parts = np.array_split(draws, max(1, draws.shape[2] // DIAGNOSED_TOGETHER), axis=2)
    with workers() as threads:
        found = threads.map(lambda part: (*r_hat_and_bulk_ess(part), tail_ess(part)), parts, 100.0 * draws.size)
    r_hat, bulk, tail = map(np.concatenate, zip(*found, strict=True))
    return Diagnostics(
        r_hat,
        bulk,
        tail,
        names,
        posterior.n_draws,
        int(posterior.divergent.sum()),
        settings.sampler,
        settings.target_accept,
    )


def thread_count(n_jobs: int | None, n_chains: int) -> int:
    """Return how many chains run at a time: by default as many as BLAS has threads."""
    if n_jobs is None:
        return min(n_chains, usable_threads())
    if n_jobs < 0:
        return n_chains
    return max(1, n_jobs)
