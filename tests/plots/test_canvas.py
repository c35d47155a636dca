"""The look all pictures share: styles, names, labels."""

import subprocess
import sys
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.colors import to_rgb

from ispca import plots
from ispca.plots import class_style, plot_loadings
from ispca.plots.canvas import COLORS, MARKERS, load_pyplot, place_labels, short_names, shorten

# Machado and others (2009), full severity: protanopia, deuteranopia, tritanopia.
BLINDNESS = [
    np.eye(3),
    [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
    [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]],
    [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]],
]
XYZ = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]])


def lab(linear):
    x = XYZ @ np.clip(linear, 0, 1) / [0.9505, 1, 1.089]
    f = np.where(x > 0.008856, np.cbrt(x), 7.787 * x + 16 / 116)
    return np.array([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])


def linear(color):
    c = np.array(to_rgb(color))
    return np.where(c <= 0.04045, c / 12.92, ((c + 0.055) / 1.055) ** 2.4)


def test_colors_differ_for_every_kind_of_color_vision():
    seen = np.array([[lab(np.asarray(kind) @ linear(color)) for kind in BLINDNESS] for color in COLORS])
    distance = np.linalg.norm(seen[:, None] - seen[None], axis=-1).min(axis=-1)
    distance[np.diag_indices(len(COLORS))] = np.inf
    assert distance[:5, :5].min() > 20
    assert distance.min() > 12


def test_the_first_five_colors_differ_in_grey():
    lightness = sorted(lab(linear(color))[0] for color in COLORS[:5])
    assert np.diff(lightness).min() > 7


def test_fifteen_classes_have_colors_and_markers_of_their_own():
    styles = class_style(range(15)).values()
    assert len({style.color for style in styles}) == len({str(style.marker) for style in styles}) == 15
    assert len(COLORS) == len(MARKERS) == 15


def test_more_classes_repeat_colors_with_other_markers():
    styles = class_style(range(40)).values()
    assert len({(style.color, str(style.marker)) for style in styles}) == 40


def test_styles_do_not_depend_on_the_order_of_the_classes():
    assert class_style(["b", "a", "b"]) == class_style(["a", "b"])


def test_long_names_are_cut_and_short_ones_left():
    assert shorten("BRCA1") == "BRCA1"
    assert len(shorten("x" * 200)) <= 34
    assert shorten("cost in $") == r"cost in \$"


def test_names_that_look_alike_are_cut_where_they_differ():
    names = [f"{'same beginning ' * 5}{j}{' same end' * 5}" for j in range(9)]
    assert len(set(short_names(names))) == 9
    assert short_names(["a" * 100] * 2)[0] == shorten("a" * 100)


def test_labels_do_not_cover_each_other_and_stay_inside():
    _, ax = plt.subplots()
    rng = np.random.default_rng(0)
    x, y = rng.random((2, 60))
    ax.scatter(x, y)
    placed = place_labels(ax, x, y, [f"sample {i}" for i in range(60)])
    boxes = [text.get_window_extent() for text in placed]
    frame = ax.get_window_extent()
    assert 10 < len(placed) < 60
    assert not any(a.overlaps(b) for i, a in enumerate(boxes) for b in boxes[:i])
    assert all(frame.x0 <= box.x0 and box.x1 <= frame.x1 for box in boxes)


def test_without_matplotlib_one_sentence_says_how_to_get_it(monkeypatch, two):
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    with pytest.raises(ImportError, match=r"pip install matplotlib"):
        load_pyplot()
    with pytest.raises(ImportError, match=r"pip install matplotlib"):
        plot_loadings(two[1])


def test_an_axes_that_is_given_is_used(two):
    _, ax = plt.subplots()
    assert plot_loadings(two[1], ax=ax) is ax


def test_importing_the_plots_does_not_import_matplotlib():
    program = "import sys, ispca.plots; assert 'matplotlib' not in sys.modules"
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0


def test_every_plot_has_its_table_and_both_are_documented():
    tables = {
        "plot_scores": "score_table",
        "plot_pairs": "score_table",
        "plot_loadings": "loading_table",
        "plot_profile": "loading_table",
        "plot_permutations": "permutation_table",
        "plot_coefficients": "coefficient_table",
        "plot_components": "component_table",
        "plot_probabilities": "probability_table",
        "plot_effects": "effect_table",
    }
    for name in (name for name in plots.__all__ if name.startswith("plot_") and name != "plot_stability"):
        table = tables.get(name, f"{name.removeprefix('plot_')}_table")
        assert hasattr(plots, table), name
        page = (Path(__file__).parents[2] / "docs" / "plots.md").read_text()
        assert name in page, name
        assert table in page, table
