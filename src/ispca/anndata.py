"""ISPCA for AnnData objects: components, loadings and what was found, where scanpy users look for them."""

from __future__ import annotations

from typing import Any

import numpy as np

from .containers import wrap_container
from .foundation.messages import suggestion
from .foundation.parameters import integer_seed
from .inputs.checks import check_container
from .reduction.reduction_result import Step
from .targets import choose_family
from .transformers.ispca_transformer import ISPCA
from .transformers.linear_projection import has_cross_fitted_scores


def ispca(
    adata: Any,
    target: str,
    *,
    n_components: int | None = 50,
    layer: str | None = None,
    use_raw: bool = False,
    key_added: str = "ispca",
    copy: bool = False,
    random_state: Any = 0,
    **options: Any,
) -> Any:
    """Find iterative supervised principal components of the cells (or samples) of an AnnData object.

    Parameters
    ----------
    adata : AnnData
        Observations in rows; X may be sparse and stays so. X in a file (``backed``) is read in blocks; the results
        are put into the object, and reach the file only if you write it.
    target : str
        Column of ``adata.obs``: class labels (categories, text, booleans, or integers with at most ten distinct
        values) or a quantity. Observations without a value take no part in the fit, but get components.
    n_components : int or None, default=50
        Number of components; fewer, with a warning, if X has a lower rank. None for supervised components only.
    layer : str, optional
        Layer to use instead of X.
    use_raw : bool, default=False
        Whether to use ``adata.raw``; the loadings then go into ``uns``, as the genes may be others.
    key_added : str, default="ispca"
        The results are in ``obsm["X_ispca"]``, ``varm["ISPCA"]`` and ``uns["ispca"]``; another key gives
        ``obsm["X_key"]``, ``varm["KEY"]`` and ``uns["key"]``.
    copy : bool, default=False
        Whether to leave ``adata`` as it is and return a copy with the results; not for X in a file.
    random_state : int, Generator, RandomState or None, default=0
        Seed of the permutations.
    **options
        Other parameters of `ispca.ISPCA`.

    Returns
    -------
    adata : AnnData or None
        The copy, if asked for. ``obsm`` holds the components of all observations, ``varm`` a column of weights per
        component, ``uns`` the parameters, ``n_supervised``, ``variance``, the ``steps`` as arrays, and whether the
        supervised components of the observations in the fit are ``cross_fitted`` (option ``cross_fit``).

    Examples
    --------
    >>> import anndata, numpy, pandas
    >>> from ispca.anndata import ispca
    >>> from ispca.datasets import make_expression
    >>> data = make_expression(n_samples=60, n_features=200, n_modules=4, signal=2.0, random_state=0)
    >>> adata = anndata.AnnData(data.data, obs=pandas.DataFrame({"group": data.target}).set_index(
    ...     numpy.arange(60).astype(str)))
    >>> ispca(adata, target="group", n_components=5)
    >>> adata.obsm["X_ispca"].shape, adata.varm["ISPCA"].shape
    ((60, 5), (200, 5))
    """
    _refuse_backed(adata, copy)
    adata = adata.copy() if copy else adata
    X = wrap_container(check_container(_matrix(adata, layer, use_raw)))
    y, present = _target(adata, target)
    # Named, so that the results record how the target was treated.
    options.setdefault("family", choose_family("auto", y[present]).name)
    seed = integer_seed(random_state)
    model = ISPCA(n_components, random_state=seed, **options)
    model.fit(X if present.all() else X[present], y[present])
    scores = model.transform(X)
    if hasattr(model, "training_scores_"):
        scores[present] = model.training_scores_
    adata.obsm[f"X_{key_added}"] = scores
    found = _summary(model, target, layer, use_raw, seed, int(np.count_nonzero(~present)))
    loadings = np.ascontiguousarray(model.components_.T)
    if use_raw:
        found["loadings"] = loadings
    else:
        adata.varm[key_added.upper()] = loadings
    adata.uns[key_added] = found
    return adata if copy else None


def _refuse_backed(adata: Any, copy: bool) -> None:
    """Raise an error if the object is backed by a file in such a way that it cannot take the results."""
    if not adata.isbacked:
        return
    if adata.is_view:
        raise ValueError(
            "adata is a view of an AnnData object backed by a file, which cannot take the results. Pass the whole "
            "object, or view.to_memory()."
        )
    if copy:
        raise ValueError(
            "copy=True, but adata is backed by a file and cannot be copied. Omit copy: the file stays as it is "
            "unless you write adata."
        )


def _matrix(adata: Any, layer: str | None, use_raw: bool) -> Any:
    if use_raw and layer is not None:
        raise ValueError("use_raw and layer exclude each other. Pass only one of them.")
    if use_raw:
        if adata.raw is None:
            raise ValueError("use_raw=True, but adata.raw is None. Set adata.raw, or omit use_raw.")
        return adata.raw.X
    if layer is None:
        if adata.X is None:
            raise ValueError("adata.X is None. Pass layer.")
        return adata.X
    if layer not in adata.layers:
        # From anndata 0.13 on, X is a layer without a name.
        names = ", ".join(name for name in adata.layers if name is not None)
        raise ValueError(f"adata has no layer {layer!r}. Its layers are {names or 'none'}.")
    return adata.layers[layer]


def _target(adata: Any, target: str) -> tuple[np.ndarray, np.ndarray]:
    """Return the target and which observations have one; categories become text."""
    if target not in adata.obs:
        raise ValueError(f"adata.obs has no column {target!r}. {suggestion(target, list(adata.obs))}")
    column = adata.obs[target]
    present = column.notna().to_numpy()
    if not present.any():
        raise ValueError(f"adata.obs[{target!r}] has no values.")
    values = column.to_numpy(dtype=object)
    known = values[present]
    numeric = column.dtype.kind in "fiu" or (hasattr(column.dtype, "numpy_dtype") and column.dtype.kind in "fiu")
    y = np.zeros(len(values), dtype=np.float64) if numeric else np.full(len(values), "", dtype=object)
    y[present] = known.astype(np.float64) if numeric else [str(item) for item in known]
    return (y if numeric else y.astype(str)), present


def _summary(
    model: ISPCA, target: str, layer: str | None, use_raw: bool, seed: int, n_left_out: int
) -> dict[str, Any]:
    """Return what h5ad files can hold: no None, no objects."""
    params = model.get_params() | {"target": target, "layer": layer, "use_raw": use_raw, "random_state": seed}
    storable = bool | int | float | str | np.number | np.ndarray
    params = {name: value for name, value in params.items() if isinstance(value, storable)}
    found: dict[str, Any] = {
        "params": params,
        "n_components": int(model.n_components_),
        "n_supervised": int(model.n_supervised_),
        "n_obs_left_out": n_left_out,
        "cross_fitted": has_cross_fitted_scores(model),
        "variance": model.explained_variance_,
        "mean": model.mean_,
        "scale": model.scale_,
        "steps": _steps(model.steps_),
    }
    if hasattr(model, "classes_"):
        found["classes"] = np.asarray(model.classes_)
    return found


def _steps(steps: list[Step]) -> dict[str, Any]:
    """Return the steps as one array per quantity, NaN where there is none, and the features of each step."""
    kinds: dict[str, Any] = dict.fromkeys(("score", "p_value", "threshold", "component_score"), np.float64)
    kinds |= {"n_permutations": np.int64, "n_features": np.int64}
    kinds |= dict.fromkeys(("accepted", "limit_reached", "borderline"), np.bool_)
    # None becomes NaN.
    result: dict[str, Any] = {n: np.array([getattr(s, n) for s in steps], dtype=kind) for n, kind in kinds.items()}
    nothing = (np.nan, np.nan)
    intervals = [nothing if step.p_value_interval is None else step.p_value_interval for step in steps]
    result["p_value_interval"] = np.array(intervals, dtype=np.float64).reshape(-1, 2)
    classes = ["" if step.target_class is None else str(step.target_class) for step in steps]
    result["target_class"] = np.array(classes, dtype=str)
    result["features"] = {f"{k + 1}": np.asarray(s.features, np.int64) for k, s in enumerate(steps) if s.accepted}
    return result
