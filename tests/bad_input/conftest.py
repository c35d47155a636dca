"""Valid data to spoil, and a guard against work before a refusal."""

import sys

import numpy as np
import pytest


@pytest.fixture
def X(rng):
    return rng.normal(size=(20, 6))


@pytest.fixture
def y():
    return np.tile(["a", "b"], 10)


@pytest.fixture
def no_work(monkeypatch):
    """Fail where the reduction is begun at all."""

    def begun(*args, **kwargs):
        raise AssertionError("work was begun before the input was refused")

    users = [m for name, m in sys.modules.items() if name.startswith("ispca") and hasattr(m, "make_design")]
    assert users
    for module in users:
        monkeypatch.setattr(module, "make_design", begun)
