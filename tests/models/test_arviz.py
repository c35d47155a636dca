"""The posterior as ArviZ gets it."""

import sys

import numpy as np
import pandas as pd
import pytest

from ispca import HorseshoeClassifier
from model_data import make_data

SHORT = {"n_chains": 2, "n_warmup": 50, "n_draws": 50, "random_state": 0}


@pytest.mark.parametrize("name", ["two", "three", "numeric"])
def test_arviz_gets_names_and_groups(name, request):
    pytest.importorskip("arviz", reason="ArviZ is not installed")
    model = request.getfixturevalue(name)
    data = model.to_arviz()
    draws, stats = data["posterior"], data["sample_stats"]
    expected = {"intercept", "coef", "tau", "local_scale", "slab"} | ({"sigma"} if name == "numeric" else set())
    assert set(draws.data_vars) == expected
    by_class = ("class",) if name == "three" else ()
    assert draws["coef"].dims == draws["local_scale"].dims == ("chain", "draw", *by_class, "feature")
    assert draws["intercept"].dims == ("chain", "draw", *by_class)
    assert draws["tau"].dims == stats["diverging"].dims == ("chain", "draw")
    assert draws["feature"].to_numpy().tolist() == [0, 1, 2, 3]
    if by_class:
        assert draws["class"].to_numpy().tolist() == [5, 6, 7]
    np.testing.assert_array_equal(draws["coef"].to_numpy(), model.posterior_.coef)
    assert stats["diverging"].dtype == bool


def test_arviz_gets_the_names_of_a_data_frame():
    pytest.importorskip("arviz", reason="ArviZ is not installed")
    Z, y = make_data(2)
    frame = pd.DataFrame(Z, columns=["a", "b", "c", "d"])
    data = HorseshoeClassifier(n_draws=300, random_state=0).fit(frame, y).to_arviz()
    assert data["posterior"]["feature"].to_numpy().tolist() == ["a", "b", "c", "d"]


def test_arviz_missing_is_said(two, monkeypatch):
    monkeypatch.setitem(sys.modules, "arviz", None)
    with pytest.raises(ImportError, match=r"pip install arviz"):
        two.to_arviz()
