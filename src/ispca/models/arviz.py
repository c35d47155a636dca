"""The posterior in the containers of ArviZ, before and since version 1."""

from __future__ import annotations

from typing import Any

from .._extras import load_extra
from ..families import FAMILIES
from .posterior import Posterior


def to_arviz(posterior: Posterior, features: Any, classes: Any = None) -> Any:
    """Return InferenceData (ArviZ 0.x) or a DataTree (ArviZ 1.x) with named dimensions."""
    arviz = load_extra("Exporting to ArviZ", "arviz")
    draws = {name: getattr(posterior, name) for name in ("intercept", "coef", "tau", "local_scale", "slab")}
    if posterior.sigma is not None:
        draws["sigma"] = posterior.sigma
    by_class = ["class"] if FAMILIES[posterior.family].per_class else []
    dims = {"intercept": by_class, "coef": [*by_class, "feature"], "local_scale": [*by_class, "feature"]}
    coords = {"feature": list(features)} | ({"class": list(classes)} if by_class else {})
    groups = {"posterior": draws, "sample_stats": {"diverging": posterior.divergent}}
    from_dict: Any = arviz.from_dict
    if int(arviz.__version__.partition(".")[0]) == 0:
        return from_dict(**groups, coords=coords, dims=dims)
    return from_dict(groups, coords=coords, dims=dims)
