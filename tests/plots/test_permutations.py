"""Permutation test, threshold path and number of components: against the fit and direct computation."""

from functools import cache

import numpy as np
import pytest
import scipy.sparse as sp
from matplotlib.colors import to_hex
from sklearn.decomposition import PCA

from family_targets import COVARIATES, make_targets
from ispca import ISPCA, SPCA
from ispca.plots import (
    class_style,
    component_table,
    permutation_table,
    plot_components,
    plot_permutations,
    plot_threshold,
    threshold_table,
)
from ispca.plots.canvas import ACCENT

from .conftest import fit_reduction

fitted_to_classes = cache(fit_reduction)


def p_values(table, steps):
    """Return the p-values of the permutations the fit has done, one per step."""
    found = []
    for number, step in enumerate(steps, 1):
        rows = table[table["step"] == number]
        done = rows[: step.n_permutations]
        found.append(np.mean(done["maximum"] >= done["observed"] - 1e-10))
    return found


@pytest.mark.parametrize("test", ["paper", "residual"])
@pytest.mark.parametrize("n_classes", [2, 4])
@pytest.mark.parametrize("container", [np.asarray, sp.csr_array], ids=["dense", "sparse"])
def test_the_null_distribution_gives_the_p_values_of_the_fit(test, n_classes, container):
    data, reduction = fitted_to_classes(n_classes, test=test, alpha=0.3)
    table = permutation_table(reduction, container(data.data), data.target)
    assert len(reduction.steps_) > 1
    assert p_values(table, reduction.steps_) == [step.p_value for step in reduction.steps_]
    for number, step in enumerate(reduction.steps_, 1):
        rows = table[table["step"] == number]
        assert rows["observed"][0] == pytest.approx(step.score, abs=1e-9)
        assert rows["p_value"][0] == np.mean(rows["maximum"] >= rows["observed"] - 1e-10)
        if not step.stopped_early:
            assert rows["p_value"][0] == rows["p_value_fit"][0] == step.p_value


def test_the_null_distribution_gives_the_p_values_of_a_quantity(quantity):
    X, y, reduction = quantity
    assert p_values(permutation_table(reduction, X, y), reduction.steps_) == [s.p_value for s in reduction.steps_]


@pytest.mark.parametrize("test", ["paper", "residual"])
@pytest.mark.parametrize("container", [np.asarray, sp.csr_array], ids=["dense", "sparse"])
@pytest.mark.parametrize("adjust", [None, COVARIATES], ids=["plain", "adjusted"])
def test_the_null_distribution_gives_the_p_values_of_every_family(test, container, adjust):
    X, targets = make_targets(4)
    n_steps = 0
    for family, y in targets.items():
        reduction = ISPCA(family=family, adjust=adjust, test=test, alpha=0.7, n_permutations=300, random_state=2)
        reduction.fit(container(X), y)
        found = p_values(permutation_table(reduction, container(X), y), reduction.steps_)
        assert found == [step.p_value for step in reduction.steps_]
        n_steps += len(found)
    assert n_steps >= len(targets) + 5


def test_real_data_give_the_p_values_of_the_fit(real_data):
    X, y = real_data("glioma-4c")
    reduction = ISPCA(test="residual", n_permutations=300, random_state=5).fit(X, y)
    table = permutation_table(reduction, X, y)
    assert p_values(table, reduction.steps_) == [step.p_value for step in reduction.steps_]


def test_the_first_null_is_that_of_plain_correlations(two):
    from ispca.reduction.permutation import draw_permutations

    data, reduction = two
    table = permutation_table(reduction, data.data, data.target, max_steps=1)
    y = (data.target == "class 2").astype(float)
    used = np.flatnonzero(reduction.feature_mask_)
    for number in (0, 5, 199):
        permuted = y[draw_permutations(3, 90, number, number + 1)[0]]
        expected = max(abs(np.corrcoef(data.data[:, j], permuted)[0, 1]) for j in used)
        assert table["maximum"][number] == pytest.approx(expected)


def test_without_an_integer_seed_the_p_values_are_nearly_those_of_the_fit(two):
    data, _ = two
    reduction = ISPCA(random_state=np.random.default_rng(8)).fit(data.data, data.target)
    table = permutation_table(reduction, data.data, data.target, max_steps=1)
    assert table["p_value"][0] == pytest.approx(table["p_value_fit"][0], abs=0.02)


def test_without_a_test_there_is_no_p_value_of_the_fit(two):
    data, _ = two
    reduction = ISPCA(3, alpha=None, n_permutations=50, random_state=0).fit(data.data, data.target)
    table = permutation_table(reduction, data.data, data.target, max_steps=2)
    assert np.isnan(table["p_value_fit"]).all()
    assert len(table) == 100


def test_the_picture_of_the_permutations(two):
    data, reduction = two
    ax = plot_permutations(reduction, data.data, data.target)
    assert [text.get_text() for text in ax.get_yticklabels()] == [
        f"step {k + 1}" for k in range(len(reduction.steps_))
    ]
    assert ax.texts[0].get_text() == "p < 0.005"
    observed = [line for line in ax.lines if line.get_marker() in ("D", "X")]
    assert [line.get_xdata()[0] for line in observed] == pytest.approx([s.score for s in reduction.steps_])


@pytest.mark.parametrize("container", [np.asarray, sp.csr_array], ids=["dense", "sparse"])
def test_the_path_leads_to_the_component_of_the_fit(four, container):
    data, reduction = four
    for number in range(1, reduction.n_supervised_ + 1):
        step = reduction.steps_[number - 1]
        table = threshold_table(reduction, container(data.data), data.target, number)
        [chosen] = table[table["chosen"]]
        assert chosen["n_features"] == step.n_features
        assert chosen["target_class"] == step.target_class
        assert chosen["score"] == pytest.approx(step.component_score) == pytest.approx(table["score"].max())
        assert chosen["threshold"] == pytest.approx(step.threshold)


def test_the_path_is_that_of_plain_principal_components(two):
    data, reduction = two
    table = threshold_table(reduction, data.data, data.target)
    X = (data.data - reduction.mean_) / reduction.scale_ * reduction.feature_mask_
    y = (data.target == "class 2").astype(float)
    scores = np.array([abs(np.corrcoef(column, y)[0, 1]) if column.any() else 0 for column in X.T])
    for row in table:
        chosen = np.argsort(-scores, kind="stable")[: row["n_features"]]
        left = np.linalg.svd(X[:, chosen], full_matrices=False)[0]
        assert row["score"] == pytest.approx(abs(np.corrcoef(left[:, 0], y)[0, 1]), abs=1e-6)


def test_the_picture_of_the_path(two, four):
    data, reduction = four
    ax = plot_threshold(reduction, data.data, data.target)
    colors = [to_hex(line.get_color()) for line in ax.lines[:4]]
    assert colors == [style.color.lower() for style in class_style(reduction.classes_).values()]
    ring = next(line for line in ax.lines if line.get_markersize() == 14)
    assert ring.get_xdata()[0] == reduction.steps_[0].n_features
    assert ax.get_xscale() == "log"
    data, reduction = two
    assert plot_threshold(reduction, data.data, data.target).get_legend() is None


def test_components_are_listed_with_kind_and_test(four):
    data, reduction = four
    table = component_table(reduction)
    k = reduction.n_supervised_
    assert table["kind"].tolist() == ["supervised"] * k + ["unsupervised"] * (5 - k)
    assert table["n_features"][:k].tolist() == [step.n_features for step in reduction.steps_[:k]]
    assert table["p_value"][: len(reduction.steps_)].tolist() == [step.p_value for step in reduction.steps_]
    assert np.isnan(table["p_value"][len(reduction.steps_) :]).all()
    # What the components explain is what the reconstruction has, and what regression on them explains.
    X = (data.data - reduction.mean_) / reduction.scale_ * reduction.feature_mask_
    Z = reduction.transform(data.data)
    for k in range(1, 6):
        rest = X - Z[:, :k] @ np.linalg.lstsq(Z[:, :k], X, rcond=None)[0]
        assert table["cumulative"][k - 1] == pytest.approx(1 - (rest**2).sum() / (X**2).sum())


def test_whitening_does_not_change_what_is_explained(two):
    data, reduction = two
    white = ISPCA(5, n_permutations=200, random_state=3, whiten=True).fit(data.data, data.target)
    ratios = [component_table(model)["explained_variance_ratio"] for model in (white, reduction)]
    np.testing.assert_allclose(*ratios)


def test_a_last_test_without_component_is_shown(two):
    data, _ = two
    reduction = ISPCA(random_state=0).fit(data.data, data.target)
    table = component_table(reduction)
    assert table["kind"].tolist() == ["supervised"] * reduction.n_components_ + ["not accepted"]
    ax = plot_components(reduction)
    assert len(ax.patches) == len(table)
    assert len(ax.texts) == len(reduction.steps_)


def test_bars_show_which_components_are_supervised(two):
    data, reduction = two
    ax = plot_components(reduction)
    blue = [to_hex(bar.get_facecolor()) == ACCENT.lower() for bar in ax.patches]
    assert sum(blue) == reduction.n_supervised_
    plain = ISPCA(3, n_supervised=0, scale=False).fit(data.data)
    heights = [bar.get_height() / 100 for bar in plot_components(plain).patches]
    np.testing.assert_allclose(heights, PCA(3).fit(data.data).explained_variance_ratio_)
    spca = SPCA(4, n_features=10, n_supervised=2).fit(data.data, data.target)
    assert component_table(spca)["kind"].tolist() == ["supervised"] * 2 + ["unsupervised"] * 2


def test_other_data_are_refused(two):
    data, reduction = two
    for draw in (plot_permutations, plot_threshold):
        with pytest.raises(ValueError, match="differ from the data the reduction was fitted to"):
            draw(reduction, data.data[1:], data.target[1:])
        with pytest.raises(ValueError, match="differ from the data the reduction was fitted to"):
            draw(reduction, data.data, data.target[::-1])
        with pytest.raises(ValueError, match="X has 9 features"):
            draw(reduction, data.data[:, :9], data.target)
        with pytest.raises(ValueError, match=r"y has shape \(4,\), but X has 90 samples"):
            draw(reduction, data.data, data.target[:4])


def test_reductions_without_steps_are_refused(two):
    data, reduction = two
    with pytest.raises(ValueError, match="SPCA has no supervised steps"):
        plot_permutations(SPCA(2, n_features=5).fit(data.data, data.target), data.data, data.target)
    with pytest.raises(ValueError, match="no supervised steps"):
        plot_permutations(ISPCA(2, n_supervised=0).fit(data.data), data.data, data.target)
    with pytest.raises(ValueError, match="step=4 did not add a component: choose from 1 to"):
        plot_threshold(reduction, data.data, data.target, step=4)
    with pytest.raises(ValueError, match="max_steps=0 is too small"):
        plot_permutations(reduction, data.data, data.target, max_steps=0)


def test_pure_noise_has_a_test_and_no_path():
    rng = np.random.default_rng(4)
    X, y = rng.normal(size=(30, 40)), np.repeat(["a", "b"], 15)
    with pytest.warns(UserWarning, match="No single feature"):
        reduction = ISPCA(n_permutations=50, random_state=0).fit(X, y)
    assert len(plot_permutations(reduction, X, y).texts) == 1
    with pytest.raises(ValueError, match="no step did"):
        plot_threshold(reduction, X, y)
    assert component_table(reduction)["kind"].tolist() == ["unsupervised"]


def test_plots_call_a_borderline_test_so():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 30))
    y = rng.normal(size=40) + 0.81 * X[:, 0]
    reduction = ISPCA(n_supervised=1, n_permutations="auto", random_state=0).fit(X, y)
    [step] = reduction.steps_
    words = f"p = {step.p_value:.3g}, borderline"
    table = permutation_table(reduction, X, y)
    assert len(table) == step.n_permutations > 1000
    assert table["p_value"][0] == step.p_value
    for ax in (plot_permutations(reduction, X, y), plot_components(reduction)):
        assert [text.get_text() for text in ax.texts] == [words]
    assert component_table(reduction)["borderline"].tolist() == [True]


def test_short_sequential_tests_still_get_a_whole_null_distribution():
    data, reduction = fit_reduction(2, n_permutations="auto")
    assert max(step.n_permutations for step in reduction.steps_) == 800
    assert permutation_table(reduction, data.data, data.target)["permutation"].max() == 1000
