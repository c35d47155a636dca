"""Rules for the attributes of horseshoe models in a model file."""

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
from ..models.baseline_hazard import CumulativeHazard
from ..models.posterior_counts import COUNT_FAMILIES
from . import rules
from .limits import ContentError
from .rules import Rule, Sizes, check_attributes

WIDTH = "n_features_in_"
DIAGNOSTICS = {
    "quantities": rules.several(tuple, str, 1),
    **dict.fromkeys(("r_hat", "bulk_ess", "tail_ess"), rules.numbers("quantities")),
    "n_draws": rules.count(1),
    "n_divergent": rules.count(0),
    "sampler": rules.TEXT,
    "target_accept": rules.NUMBER,
}
HORSESHOE = {"posterior_": rules.instance(Posterior), "diagnostics_": rules.instance(Diagnostics)}
SURVIVAL = {"unique_times_": rules.TIMES, "cumulative_hazard_": rules.instance(CumulativeHazard)}
# The family of a fitted model, by what the file says about it.
FAMILY_OF: dict[type, Callable[[Any], Family]] = {
    HorseshoeClassifier: lambda model: class_family(len(model.classes_)),
    HorseshoeRegressor: lambda model: GAUSSIAN,
    HorseshoeCounts: lambda model: COUNT_FAMILIES[model.family],
    HorseshoeOrdinal: lambda model: ORDINAL,
    HorseshoeSurvival: lambda model: COX,
}


def check_horseshoe(estimator: Any, sizes: Sizes) -> None:
    """Refuse draws that do not belong to the model."""
    posterior = estimator.posterior_
    many = sizes.get("classes_", 0)
    family = FAMILY_OF[type(estimator)](estimator)
    if posterior.family != family.name:
        raise ContentError(f"its posterior draws are not those of a {family.name} model")
    draws = getattr(posterior.tau, "shape", ())
    if len(draws) != 2 or 0 in draws:
        raise ContentError("it has no posterior draws")
    outputs = (*draws, many) if family.per_class else draws
    ridge = estimator.prior == "ridge"
    expected = {
        "intercept": rules.finite(*outputs),
        "coef": rules.finite(*outputs, WIDTH),
        # These are not used for prediction, and a prior scale may have overflowed.
        "local_scale": rules.among(None) if ridge else rules.numbers(*outputs, WIDTH),
        "tau": rules.numbers(*draws),
        "slab": rules.among(None) if ridge else rules.numbers(*draws),
        "divergent": rules.flags(*draws),
    }
    extras: dict[str, Rule] = {
        "sigma": rules.finite(*draws),
        "dispersion": rules.positive(*draws),
        "thresholds": rules.ascending(*draws, many - 1),
        "hazard": rules.instance(PiecewiseHazard),
    }
    expected |= {name: rule if name == family.extra else rules.among(None) for name, rule in extras.items()}
    check_attributes(posterior, expected, sizes)
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
