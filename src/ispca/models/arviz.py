"""The posterior in the containers of ArviZ, before and since version 1."""

from __future__ import annotations

from typing import Any

from .._extras import load_extra
from ..families import FAMILIES
from .posterior import Posterior


def to_arviz(posterior: Posterior, features: Any, classes: Any = None) -> Any:
    """Return InferenceData (ArviZ 0.x) or a DataTree (ArviZ 1.x) with named dimensions."""
    arviz = load_extra("Exporting to ArviZ", "arviz")
    family = FAMILIES[posterior.family]
    names = ["intercept"] if family.intercept else []
    names += ["coef", "tau", "local_scale", "slab", "sigma", "dispersion", "thresholds"]
    draws = {name: getattr(posterior, name) for name in names if getattr(posterior, name) is not None}
    by_class = ["class"] if family.per_class else []
    dims = {"intercept": by_class, "coef": [*by_class, "feature"], "local_scale": [*by_class, "feature"]}
    dims = {name: axes for name, axes in (dims | {"thresholds": ["class_below"]}).items() if name in draws}
    coords = {"feature": list(features)} | ({"class": list(classes)} if by_class else {})
    if posterior.thresholds is not None:
        coords["class_below"] = list(classes[:-1])
    groups: dict[str, Any] = {"posterior": draws}
    if posterior.divergent is not None:
        groups["sample_stats"] = {"diverging": posterior.divergent}
    from_dict: Any = arviz.from_dict
    if int(arviz.__version__.partition(".")[0]) == 0:
        return from_dict(**groups, coords=coords, dims=dims)
    return from_dict(groups, coords=coords, dims=dims)
