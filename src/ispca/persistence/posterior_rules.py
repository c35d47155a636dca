"""Rules for the attributes of models with posterior draws in a model file: horseshoe models and submodels."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..families import COX, GAUSSIAN, ORDINAL, Family, class_family
from ..families.piecewise_hazard import PiecewiseHazard
from ..models import (
    Diagnostics,
    HorseshoeClassifier,
    HorseshoeCounts,
    HorseshoeOrdinal,
    HorseshoeRegressor,
    HorseshoeSurvival,
    Posterior,
)
from ..models.base import Horseshoe
from ..models.baseline_hazard import CumulativeHazard
from ..models.posterior_classifier import PosteriorClassifier
from ..models.posterior_counts import COUNT_FAMILIES, PosteriorCounts
from ..models.posterior_ordinal import PosteriorOrdinal
from ..models.posterior_regressor import PosteriorRegressor
from ..models.posterior_survival import PosteriorSurvival
from ..selection import (
    ProjectedClassifier,
    ProjectedCounts,
    ProjectedOrdinal,
    ProjectedRegressor,
    ProjectedSurvival,
)
from . import rules
from .limits import ContentError
from .rules import CLASSIFIER, REGRESSOR, WIDTH, Rule, Sizes, check_attributes

DIAGNOSTICS = {
    "quantities": rules.several(tuple, str, 1),
    **dict.fromkeys(("r_hat", "bulk_ess", "tail_ess"), rules.numbers("quantities")),
    "n_draws": rules.count(1),
    "n_divergent": rules.count(0),
    "sampler": rules.TEXT,
    "target_accept": rules.NUMBER,
}
PROJECTED = {"posterior_": rules.instance(Posterior)}
HORSESHOE = PROJECTED | {"diagnostics_": rules.instance(Diagnostics)}
THRESHOLDS = {"thresholds_": rules.NUMBERS}
CURVES = {"unique_times_": rules.TIMES, "cumulative_hazard_": rules.instance(CumulativeHazard)}
POSTERIOR_MODELS: dict[type, dict[str, Rule]] = {
    HorseshoeClassifier: CLASSIFIER | HORSESHOE,
    HorseshoeRegressor: REGRESSOR | HORSESHOE,
    HorseshoeCounts: REGRESSOR | HORSESHOE,
    HorseshoeOrdinal: REGRESSOR | HORSESHOE | THRESHOLDS,
    HorseshoeSurvival: REGRESSOR | HORSESHOE | CURVES,
    ProjectedClassifier: CLASSIFIER | PROJECTED,
    ProjectedRegressor: REGRESSOR | PROJECTED,
    ProjectedCounts: REGRESSOR | PROJECTED,
    ProjectedOrdinal: REGRESSOR | PROJECTED | THRESHOLDS,
    ProjectedSurvival: REGRESSOR | PROJECTED | CURVES,
}


def _count_family(model: Any) -> Family:
    """Return the family that a model was told to have; a submodel has that of its draws."""
    if isinstance(model, HorseshoeCounts):
        return COUNT_FAMILIES[model.family]
    name = model.posterior_.family
    return COUNT_FAMILIES[name if name in list(COUNT_FAMILIES) else "poisson"]


# The family of a fitted model, by what the file says about it.
FAMILY_OF: dict[type, Callable[[Any], Family]] = {
    PosteriorClassifier: lambda model: class_family(len(model.classes_)),
    PosteriorRegressor: lambda model: GAUSSIAN,
    PosteriorCounts: _count_family,
    PosteriorOrdinal: lambda model: ORDINAL,
    PosteriorSurvival: lambda model: COX,
}


def check_posterior(estimator: Any, sizes: Sizes) -> None:
    """Refuse draws that do not belong to the model."""
    posterior = estimator.posterior_
    many = sizes.get("classes_", 0)
    family = next(find for kind, find in FAMILY_OF.items() if isinstance(estimator, kind))(estimator)
    if posterior.family != family.name:
        raise ContentError(f"its posterior draws are not those of a {family.name} model")
    sampled = isinstance(estimator, Horseshoe)
    draws = getattr(posterior.tau if sampled else posterior.intercept, "shape", ())[:2]
    if len(draws) != 2 or 0 in draws:
        raise ContentError("it has no posterior draws")
    outputs = (*draws, many) if family.per_class else draws
    horseshoe = sampled and estimator.prior == "horseshoe"
    expected = {
        "intercept": rules.finite(*outputs),
        "coef": rules.finite(*outputs, WIDTH),
        # These are not used for prediction, and a prior scale may have overflowed.
        "local_scale": rules.numbers(*outputs, WIDTH) if horseshoe else rules.among(None),
        "tau": rules.numbers(*draws) if sampled else rules.among(None),
        "slab": rules.numbers(*draws) if horseshoe else rules.among(None),
        "divergent": rules.flags(*draws) if sampled else rules.among(None),
    }
    extras: dict[str, Rule] = {
        "sigma": rules.finite(*draws),
        "dispersion": rules.positive(*draws),
        "thresholds": rules.ascending(*draws, many - 1),
        "hazard": rules.instance(PiecewiseHazard),
    }
    expected |= {name: rule if name == family.extra else rules.among(None) for name, rule in extras.items()}
    check_attributes(posterior, expected, sizes)
    if sampled:
        check_attributes(estimator.diagnostics_, DIAGNOSTICS, sizes)
    if posterior.thresholds is not None:
        check_attributes(estimator, {"thresholds_": rules.ascending(many - 1)}, sizes)
    if posterior.hazard is not None:
        _check_hazards(estimator, posterior, sizes)


def _check_hazards(estimator: Any, posterior: Posterior, sizes: Sizes) -> None:
    n_draws = posterior.n_draws
    hazard, sizes = posterior.hazard, sizes | {"all draws": n_draws}
    check_attributes(hazard, {"starts": rules.TIMES, "log_rates": rules.finite(n_draws, "starts")}, sizes)
    expected = {
        "times": rules.TIMES,
        "draws": rules.indices("all draws"),
        "log_values": rules.finite("draws", "times"),
    }
    check_attributes(estimator.cumulative_hazard_, expected, sizes)
    if not len(estimator.cumulative_hazard_.draws):
        raise ContentError("its baseline hazard has no draws")
