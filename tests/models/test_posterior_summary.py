"""Summaries of posteriors: numbers as a table and as HTML."""

import numpy as np
import pytest

from ispca.families import FAMILIES
from ispca.models.diagnostics import bulk_ess, r_hat, tail_ess
from ispca.models.posterior import Posterior


def drawn(family="binomial", n_features=3, n_chains=2, **fields):
    """Return made-up draws of a sampled posterior."""
    rng = np.random.default_rng(0)
    classes = (3,) if FAMILIES[family].per_class else ()
    shape = (n_chains, 100)
    coef = rng.normal(1.0, 0.5, size=(*shape, *classes, n_features))
    divergent = np.zeros(shape, dtype=bool)
    divergent[0, 0] = True
    scales = {"tau": rng.gamma(2.0, size=shape), "divergent": divergent}
    return Posterior(family, rng.normal(size=(*shape, *classes)), coef, **(scales | fields))


def test_numbers_are_those_of_the_draws():
    posterior = drawn()
    table = posterior.summary()
    assert table["parameter"].tolist() == ["intercept", "tau", "coef[0]", "coef[1]", "coef[2]"]
    row, draws = table[3], posterior.coef[:, :, 1]
    assert [row["mean"], row["sd"]] == pytest.approx([draws.mean(), draws.std()])
    assert [row["q5"], row["q95"]] == pytest.approx(np.quantile(draws, [0.05, 0.95]))
    expected = [measure(draws[:, :, None])[0] for measure in (r_hat, bulk_ess, tail_ess)]
    assert [row["r_hat"], row["bulk_ess"], row["tail_ess"]] == pytest.approx(expected)


def test_chains_that_disagree_show_it():
    posterior = drawn()
    posterior.coef[1, :, 0] += 5.0
    table = posterior.summary()
    assert table["r_hat"][2] > 1.5 > 1.1 > table["r_hat"][3]


def test_classes_are_compared_with_the_average_class():
    posterior = drawn("multinomial", n_features=2)
    table = posterior.summary()
    assert table["parameter"].tolist()[:4] == ["intercept[0]", "intercept[1]", "intercept[2]", "tau"]
    assert table["parameter"].tolist()[4:6] == ["coef[0, 0]", "coef[0, 1]"]
    contrast = posterior.coef[:, :, 2, 1] - posterior.coef[:, :, :, 1].mean(axis=2)
    assert table["mean"][-1] == pytest.approx(contrast.mean())
    assert "differences from the average class" in posterior._repr_html_()
    assert "average class" not in drawn()._repr_html_()


@pytest.mark.parametrize(
    ("family", "fields", "first"),
    [
        ("gaussian", {"sigma": np.ones((2, 100))}, ["intercept", "tau", "sigma", "coef[0]"]),
        ("negative-binomial", {"dispersion": np.ones((2, 100))}, ["intercept", "tau", "dispersion", "coef[0]"]),
        ("ordinal", {"thresholds": np.ones((2, 100, 2))}, ["thresholds[0]", "thresholds[1]", "tau", "coef[0]"]),
        ("cox", {}, ["tau", "coef[0]"]),
    ],
)
def test_each_family_has_its_parameters(family, fields, first):
    names = drawn(family, **fields).summary()["parameter"].tolist()
    assert names[: len(first)] == first


def test_projected_draws_have_no_convergence():
    posterior = drawn(n_chains=1, tau=None, divergent=None)
    assert posterior.summary().dtype.names == ("parameter", "mean", "sd", "q5", "q95")
    page = posterior._repr_html_()
    assert "Posterior of a binomial model: 100 projected draws" in page
    assert "R-hat" not in page


def test_a_notebook_shows_what_it_is():
    posterior = drawn()
    page = posterior._repr_html_()
    assert "Posterior of a binomial model: 2 chains of 100 draws, 1 divergent transition</caption>" in page
    for head in ("parameter", "mean", "90% interval", "R-hat", "bulk ESS", "tail ESS"):
        assert f">{head}</th>" in page
    low, high = np.quantile(posterior.coef[:, :, 2], [0.05, 0.95])
    assert f">{low:.3g} to {high:.3g}</td>" in page
    assert "summary()" not in page


def test_a_notebook_shows_the_first_of_many_parameters():
    page = drawn(n_features=100)._repr_html_()
    assert page.count("<tr>") == 1 + 20
    assert "82 more parameters; summary() has all of them." in page


def test_a_fitted_model_agrees_with_its_diagnostics(two):
    table = two.posterior_.summary()
    coefficients = np.char.startswith(table["parameter"], "coef")
    np.testing.assert_allclose(table["mean"][coefficients], two.coef_[0])
    watched = np.array(two.diagnostics_.quantities) == "coefficient"
    np.testing.assert_allclose(table["r_hat"][coefficients], two.diagnostics_.r_hat[watched])
