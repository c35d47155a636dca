"""Small data sets under the names of the paper's, and made-up scores."""

import os
from dataclasses import replace

import numpy as np
import pytest

from ispca.datasets import make_expression, make_text
from ispca.datasets.arrays import Arrays, checksum
from ispca.datasets.registry import all_datasets
from paper.download import write_npz
from paper.scores import SetScores

SHAPES = {"ovarian": 2, "colon": 2, "glioma-4c": 4, "leukemia": 2, "lung-5c": 5, "lung-5c-1543": 5, "gravier": 2}


@pytest.fixture
def simulate(tmp_path, monkeypatch):
    """Put simulated data of these names into ISPCA_DATA, and nothing else."""
    folder = tmp_path / "data"
    folder.mkdir()
    monkeypatch.setenv("ISPCA_DATA", str(folder))
    monkeypatch.setenv("ISPCA_CACHE", str(tmp_path / "cache"))

    def make(*names):
        for seed, name in enumerate(names):
            if name == "basehock":
                data = make_text(40, 80, n_relevant=20, random_state=seed)
                X, classes = data.data.toarray(), 2
            else:
                classes = SHAPES[name]
                data = make_expression(15 * classes, 80, n_classes=classes, signal=2.0, random_state=seed)
                X = data.data
            labels, target = np.unique(data.target, return_inverse=True)
            # Stored in single precision.
            arrays = Arrays(X.astype(np.float32).astype(np.float64), target, labels)
            write_npz(folder / f"{name}.npz", arrays)
            changes = {
                "n": len(target),
                "D": 80,
                "counts": tuple(np.bincount(target)),
                "checksum": checksum(arrays),
            }
            record = replace(all_datasets()[name], preprocessing="none", sparse=False, **changes)
            monkeypatch.setitem(all_datasets(), name, record)
        return folder

    return make


@pytest.fixture
def three_sets(request):
    """Three small sets of the paper: the real ones where they are, simulated ones elsewhere."""
    names = ("ovarian", "colon", "glioma-4c")
    folder = os.environ.get("ISPCA_DATA", "")
    if not all(os.path.isfile(os.path.join(folder, f"{name}.npz")) for name in names):
        request.getfixturevalue("simulate")(*names)
    return names


@pytest.fixture
def scores():
    """Make scores of one set: a mean per method, with the same little noise for all."""

    def make(name, spread=0.001, n_splits=10, **means):
        rng = np.random.default_rng(0)
        base = {method: -0.5 for method in METHODS} | {
            key.replace("_", "-"): value for key, value in means.items()
        }
        values = {method: mean + spread * rng.normal(size=n_splits) for method, mean in base.items()}
        return SetScores(name, values)

    return make


METHODS = (
    "PCA",
    "SPCA",
    "PSPCA",
    "ISPCA-naive",
    "ISPCA-small",
    "ISPCA",
    "ISPCA-residual",
    "ridge",
    "ridge-best",
    "lasso",
    "lasso-best",
)
