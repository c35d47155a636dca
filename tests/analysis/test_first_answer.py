"""A first answer, by kernels, is heard before the fit, and is called what it is."""

import io
import sys

import numpy as np
import pytest

import ispca
from ispca.analysis import analyze, fitting
from ispca.analysis.fitting import first_answer
from ispca.foundation.progress import listening

SOON = "First answer, by kernels: "


class Stopped(Exception):
    """Ends an analysis after its first answer."""


@pytest.fixture
def before_the_fit(monkeypatch):
    """Analyze as far as the fit, and return the table and the names of the stages."""

    def run(X, y, **settings):
        tables, stages = [], []

        def stop(table, *others):
            tables.append(table)
            raise Stopped

        monkeypatch.setattr(analyze, "fit_model", stop)
        with listening(lambda stage: stages.append(stage.name)), pytest.raises(Stopped):
            ispca.analyze(X, y, cv=5, **settings)
        return tables[0], stages

    return run


def noise(rng):
    return rng.normal(size=(40, 30)), np.repeat(["a", "b"], 20)


@pytest.mark.parametrize("kind", ["classification", "regression", "survival", "count", "ordinal"])
def test_it_is_heard_before_the_fit_for_every_kind(kind, rng, before_the_fit):
    X = rng.normal(size=(60, 3)) @ rng.normal(size=(3, 40)) + 0.1 * rng.normal(size=(60, 40))
    z = X[:, 0] / X[:, 0].std()
    targets = {
        "classification": np.where(z > 0, "ill", "well"),
        "regression": z,
        "survival": (np.arange(60) % 4 > 0, np.exp(-z)),
        "count": rng.poisson(np.exp(1 + z)),
        "ordinal": np.digitize(z, [-0.7, 0.7]),
    }
    named = {"kind": kind} if kind in ("count", "ordinal") else {}
    _, stages = before_the_fit(X, targets[kind], covariates=rng.normal(size=60), **named)
    (answer,) = {name for name in stages if name.startswith(SOON)}
    assert "left-out" in answer
    assert "held-out" not in answer
    assert answer.endswith("slightly optimistic, because calibration and weights have seen these samples.")
    assert "not significantly better" not in answer


def test_it_says_that_it_is_not_better_and_is_kept(rng, monkeypatch):
    class Terminal(io.StringIO):
        def isatty(self):
            return True

    monkeypatch.setattr(sys, "stderr", terminal := Terminal())
    found = ispca.analyze(*noise(rng), bags=0, components=2, draws=50, cv=2)
    assert "; this is not significantly better than the base rate. This is slightly" in found.first_answer
    # It is shown on a terminal, where progress is not.
    assert f"ispca: {found.first_answer}" in " ".join(terminal.getvalue().split())
    assert "Sampling" not in terminal.getvalue()


def test_nobody_waits_for_it(rng, before_the_fit, monkeypatch):
    table, stages = before_the_fit(*noise(rng))
    assert any(name.startswith(SOON) for name in stages)
    for limit in ("MOST_SAMPLES", "MOST_PRODUCTS"):
        with monkeypatch.context() as patch:
            patch.setattr(fitting, limit, 10)
            assert first_answer(table) is None
