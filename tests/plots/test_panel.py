"""The picture of the path of a selection."""

import sys

import numpy as np
import pytest

from ispca.plots import panel_table, plot_panel
from panels import DIFFERENCE, ERRORS, FEATURES, path, selector

plt = pytest.importorskip("matplotlib.pyplot")


def ring(ax):
    return [line for line in ax.lines if line.get_markerfacecolor() == "none"]


def test_points_bars_reference_and_suggestion():
    ax = plot_panel(selector())
    assert isinstance(ax, plt.Axes)
    np.testing.assert_array_equal(ax.lines[0].get_ydata(), DIFFERENCE)
    ends = np.array([segment[:, 1] for segment in ax.collections[0].get_segments()])
    np.testing.assert_allclose(ends, np.add.outer(DIFFERENCE, [0, 0]) + np.outer(ERRORS, [-1, 1]))
    (dashed,) = (line for line in ax.lines if line.get_linestyle() == "--")
    assert dashed.get_ydata()[0] == 0
    (mark,) = ring(ax)
    assert (mark.get_xdata()[0], mark.get_ydata()[0]) == (2, DIFFERENCE[2])
    labels = [label.get_text() for label in ax.get_xticklabels()]
    assert labels == ["0", *(f"{size}: {name}" for size, name in enumerate(FEATURES, 1))]
    assert "suggested size: 2" in [text.get_text() for text in ax.get_legend().get_texts()]
    assert "held-out" in ax.get_ylabel()
    assert ax.get_title(loc="left") == ""
    ax.figure.canvas.draw()


def test_a_path_that_was_not_validated_says_so():
    ax = plot_panel(selector(validated=False))
    assert ax.get_title(loc="left").startswith("NOT validated")
    assert "held-out" not in ax.get_ylabel()
    np.testing.assert_allclose(ax.lines[0].get_ydata(), [0, 0.6, 0.88, 0.92, 0.96])
    assert not ax.collections
    assert len(ring(ax)) == 1


def test_the_path_alone_has_no_suggestion():
    assert not ring(plot_panel(path()))
    assert not panel_table(path()).suggested.any()


def test_features_that_become_superfluous_are_named():
    assert panel_table(path(dropped="gene 7")).feature[-1] == "gene 5 \u2212 gene 7"


@pytest.mark.parametrize("validated", [True, False])
def test_only_size_zero(validated):
    found = selector(validated, n_features=0)
    found.path_ = found.path_[:1]
    ax = plot_panel(found)
    assert len(ring(ax)) == 1
    ax.figure.canvas.draw()


def test_a_reference_that_says_nothing_is_explained_completely():
    found = path(validated=False)
    found.divergence[:] = 0
    assert panel_table(found).explained.tolist() == [1.0] * 5


def test_long_and_odd_names_stay_apart():
    names = [
        "probe of a gene with a very long name, variant $1",
        "probe of a gene with a very long name, variant $2",
    ]
    ax = plot_panel(selector(names=[*names, "$x$", "c"]))
    labels = [label.get_text() for label in ax.get_xticklabels()]
    assert len(set(labels)) == 5
    assert max(map(len, labels)) < 40
    ax.figure.canvas.draw()


def test_given_axes():
    _, ax = plt.subplots()
    assert plot_panel(selector(), ax=ax) is ax


@pytest.mark.parametrize("wrong", [None, np.zeros(3), object()])
def test_something_else(wrong):
    with pytest.raises(ValueError, match="needs a fitted ProjectionSelector or its path_"):
        plot_panel(wrong)


def test_without_matplotlib(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    with pytest.raises(ImportError, match=r"pip install matplotlib"):
        plot_panel(selector())
