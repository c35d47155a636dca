"""The picture of a stability study."""

import sys

import numpy as np
import pytest

from ispca import ISPCA, SPCA
from ispca.plots import plot_stability
from ispca.validation import stability

plt = pytest.importorskip("matplotlib.pyplot")


def data():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(50, 60))
    X[:, :5] += 2 * rng.normal(size=50)[:, None]
    return X, X[:, :5].mean(axis=1)


@pytest.fixture(scope="module")
def result():
    return stability(ISPCA(n_permutations=100), *data(), n_components=1, n_bags=6, n_jobs=1)


def test_bars_and_chance(result):
    ax = plot_stability(result, n_features=12)
    assert isinstance(ax, plt.Axes)
    assert [label.get_text() for label in ax.get_yticklabels()] == result.table.feature[:12].tolist()
    widths = {round(bar.get_y() + bar.get_height() / 2): bar.get_width() for bar in ax.patches}
    np.testing.assert_allclose([widths[place] for place in range(12)], result.table.frequency[:12])
    (dashed,) = (line for line in ax.lines if line.get_linestyle() == "--")
    assert dashed.get_xdata()[0] == result.chance_frequency
    assert "6 bags" in ax.get_xlabel()
    assert "supervised_1" in ax.get_title(loc="left")
    ax.figure.canvas.draw()


def test_bars_above_the_error_rate_are_light(result):
    ax = plot_stability(result, n_features=60)
    colors = {round(bar.get_y() + bar.get_height() / 2): bar.get_facecolor() for bar in ax.patches}
    listed = result.table.error_rate <= 0.2
    assert 0 < listed.sum() < 60
    assert len({colors[place] for place in np.flatnonzero(listed)}) == 1
    assert {colors[place] for place in np.flatnonzero(listed)}.isdisjoint(
        colors[place] for place in np.flatnonzero(~listed)
    )
    words = [text.get_text() for text in ax.get_legend().get_texts()]
    assert "error rate of the list at most 20%" in words
    unknown = stability(SPCA(n_features=3), *data(), n_components=1, n_bags=3, n_jobs=1)
    words = [text.get_text() for text in plot_stability(unknown).get_legend().get_texts()]
    assert words == ["chance"]


def test_no_more_bars_than_features(result):
    assert len(plot_stability(result, n_features=1000).patches) == 60


def test_given_axes(result):
    _, ax = plt.subplots()
    assert plot_stability(result, ax=ax) is ax
    assert result.plot(ax=ax) is ax


def test_nothing_found(rng):
    nothing = stability(
        ISPCA(n_permutations=100), rng.normal(size=(40, 10)), np.tile([0, 1], 20), n_bags=3, n_jobs=1
    )
    ax = plot_stability(nothing)
    assert "nan" not in ax.get_title(loc="left")


def test_without_matplotlib(result, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    with pytest.raises(ImportError, match=r"pip install matplotlib"):
        plot_stability(result)
