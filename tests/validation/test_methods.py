"""The methods of the paper, and the recommended settings."""

import pytest

from ispca import HorseshoeCounts, HorseshoeOrdinal, HorseshoeSurvival
from ispca.stacking.candidates import default_candidates
from ispca.targets import TARGETS
from ispca.validation import methods, paper_methods, recommended_methods


def settings(method):
    return method.get_params(deep=False) if not hasattr(method, "steps") else method[0].get_params()


def test_methods_of_the_paper():
    named = paper_methods(10)
    assert {"PCA", "SPCA", "PSPCA", "ISPCA-naive", "ISPCA-small", "ISPCA", "ridge", "lasso"} <= set(named)
    assert all(hasattr(method, "predict_proba") for method in named.values())
    assert named["PSPCA"][0].n_supervised == 5
    assert named["ISPCA-naive"][0].alpha is None
    regressions = paper_methods(10, regression=True)
    assert regressions.keys() == named.keys()
    assert regressions["ISPCA"][0].family == "gaussian"


def test_the_recommended_settings_are_defined_in_one_place(monkeypatch):
    monkeypatch.setitem(methods.RECOMMENDED, "n_permutations", 77)
    paper, recommended = paper_methods(10), recommended_methods(10)
    changed = {name for name in paper if settings(paper[name]) != settings(recommended[name])}
    assert changed == {"ISPCA", "ISPCA-small", "ISPCA-residual"}
    assert recommended.keys() - paper.keys() == {"ISPCA-cross-fitted", "kernels"}
    assert recommended["ISPCA"][0].n_permutations == 77
    monkeypatch.setitem(methods.HONEST, "cross_fit", 7)
    candidates = dict(default_candidates("classification"))
    found = {name for name, item in candidates.items() if settings(item).get("cross_fit") == 7}
    assert found == {"ISPCA-cross-fitted"}


@pytest.mark.parametrize(
    ("kind", "family", "model"),
    [
        ("survival", "cox", HorseshoeSurvival),
        ("count", "negative-binomial", HorseshoeCounts),
        ("ordinal", "ordinal", HorseshoeOrdinal),
    ],
)
def test_methods_for_other_targets(kind, family, model):
    named = recommended_methods(10, kind=kind)
    reduced = {name: method for name, method in named.items() if hasattr(method, "steps")}
    assert list(reduced) == ["PCA", "SPCA", "ISPCA", "ISPCA-cross-fitted", "kernels"]
    for method in reduced.values():
        assert method["reduction"].family == family
        assert type(method["model"]) is model
    assert reduced["PCA"]["reduction"].n_supervised == 0
    assert reduced["ISPCA"]["reduction"].n_permutations == "auto"
    assert reduced["ISPCA-cross-fitted"]["reduction"].cross_fit == 10
    assert type(named["base rate"]) is type(TARGETS[kind].base_rate())
    own = recommended_methods(10, kind=kind, model=model(n_draws=7))
    assert own["SPCA"]["model"].n_draws == 7
    candidates = dict(default_candidates(kind))
    linear = [] if kind == "ordinal" else ["lasso"]
    assert list(candidates) == ["kernels", *linear, "SPCA", "ISPCA-cross-fitted", "base rate"]
    assert {"lasso", "ridge-best"} <= named.keys() or kind == "ordinal"
    assert type(candidates["SPCA"]["model"]) is model


def test_quantities_as_in_the_paper():
    assert recommended_methods(kind="regression")["PCA"]["reduction"].family == "gaussian"
    with pytest.raises(ValueError, match=r"kind='counts' is unknown. Did you mean count"):
        recommended_methods(kind="counts")
