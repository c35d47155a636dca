"""Simulated data that look like the paper's situations."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils import Bunch


def make_expression(
    n_samples: int = 100,
    n_features: int = 5000,
    *,
    n_modules: int = 20,
    n_relevant: int = 3,
    module_size: int = 50,
    n_classes: int = 2,
    signal: float = 1.0,
    random_state: Any = None,
) -> Bunch:
    """Simulate gene expression: modules of correlated genes, a few of which differ between classes.

    Parameters
    ----------
    n_samples, n_features : int
        Size of the data.
    n_modules : int, default=20
        Number of modules of genes that vary together; all other genes are noise.
    n_relevant : int, default=3
        Number of modules whose activity depends on the class.
    module_size : int, default=50
        Genes per module (fewer when ``n_features`` does not hold so many).
    n_classes : int, default=2
        Number of classes, of about equal size.
    signal : float, default=1.0
        How far, in standard deviations of a module's activity, each class lies from the common centre.
    random_state : int, Generator or None, default=None
        Seed.

    Returns
    -------
    data : Bunch
        ``data`` (n_samples x n_features, log intensities), ``target`` (class names),
        ``feature_names``, ``module`` (module of each gene, -1 for none) and ``relevant`` (mask of genes
        in the relevant modules).

    Examples
    --------
    >>> from ispca.datasets import make_expression
    >>> data = make_expression(n_samples=30, n_features=200, random_state=1)
    >>> data.data.shape, sorted(set(data.target.tolist()))
    ((30, 200), ['class 1', 'class 2'])
    """
    if not 0 <= n_relevant <= n_modules:
        raise ValueError(f"n_relevant={n_relevant} must lie between 0 and n_modules={n_modules}.")
    if n_classes < 2 or n_samples < n_classes:
        raise ValueError("n_classes must be at least 2 and at most n_samples.")
    rng = np.random.default_rng(random_state)
    module_size = min(module_size, n_features // max(n_modules, 1))
    module = np.full(n_features, -1)
    module[: n_modules * module_size] = np.repeat(np.arange(n_modules), module_size)
    module = rng.permutation(module)
    target = rng.permutation(np.arange(n_samples) % n_classes)
    activity = rng.normal(size=(n_samples, n_modules))
    # Each class pushes each relevant module up or down; centred over classes, so that none is the rest.
    push = rng.normal(size=(n_classes, n_relevant))
    push -= push.mean(axis=0)
    push *= signal / np.sqrt((push**2).mean(axis=0))
    activity[:, :n_relevant] += push[target]
    strength = rng.uniform(0.5, 1.5, n_features) * rng.choice([-1.0, 1.0], n_features, p=[0.3, 0.7])
    expression = rng.normal(size=(n_samples, n_features))
    inside = module >= 0
    expression[:, inside] += activity[:, module[inside]] * strength[inside]
    # Genes differ in level and spread, as on an array.
    expression = rng.normal(8.0, 2.0, n_features) + expression * rng.gamma(4.0, 0.1, n_features)
    return Bunch(
        data=expression,
        target=np.array([f"class {c + 1}" for c in target]),
        feature_names=np.array([f"gene {j + 1}" for j in range(n_features)]),
        module=module,
        relevant=inside & (module < n_relevant),
    )
