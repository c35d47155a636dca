"""Draw shrunken_scores.png, the figure of the guide's page: ``python docs/images/make_shrunken_scores.py``.

Sixty simulated samples of 2,000 genes are fitted; 500 more show how new samples vary along the same components.
"""

from pathlib import Path

import matplotlib
import matplotlib.pyplot as plt
import numpy as np

from ispca import ISPCA
from ispca.datasets import make_expression

matplotlib.use("Agg")

BLUE, ORANGE = "#0072b2", "#e69f00"

data = make_expression(560, 2000, n_modules=8, random_state=0)
X_train, X_new = data.data[:60], data.data[60:]
pca = ISPCA(30, n_supervised=0, whiten=True, shrink_scores=True)
shrunken, new = pca.fit_transform(X_train), pca.transform(X_new)
ratio = pca.score_shrinkage_
actual = new.std(axis=0)
shown = (0, 14)

figure, axes = plt.subplots(1, 3, figsize=(13, 3.9), width_ratios=(1, 1, 1.25), layout="constrained")
for ax, Z, title in (
    (axes[0], pca.transform(X_train), "scores of the fit"),
    (axes[1], shrunken, "shrunken scores"),
):
    places = list(shown)
    ax.scatter(*new[:, places].T, s=9, c=ORANGE, alpha=0.6, linewidth=0, label="500 new samples")
    ax.scatter(*Z[:, places].T, s=26, c=BLUE, edgecolors="white", label="60 training samples")
    ax.set(
        xlabel=f"component {shown[0] + 1}", ylabel=f"component {shown[1] + 1}", xlim=(-3.4, 3.4), ylim=(-3.4, 3.4)
    )
    ax.set_title(title)
axes[0].legend(loc="upper left", frameon=False, handletextpad=0.2)
numbers = np.arange(1, len(ratio) + 1)
axes[2].axhline(1.0, color="0.6", linewidth=1, linestyle="--")
axes[2].text(30, 0.985, "training samples", color="0.4", ha="right", va="top")
axes[2].plot(numbers, ratio, color=BLUE, label="predicted: score_shrinkage_")
axes[2].scatter(numbers, actual, s=26, c=ORANGE, edgecolors="white", zorder=3, label="500 new samples")
axes[2].set(xlabel="component", ylabel="standard deviation of scores", ylim=(0, 1.08))
axes[2].set_title("the predicted ratio")
axes[2].legend(loc="center right", bbox_to_anchor=(1, 0.62), frameon=False)
figure.savefig(Path(__file__).with_name("shrunken_scores.png"), dpi=75)
error = np.log(ratio / actual)
print(f"mean |log error| {np.abs(error).mean():.2f}, without correction {np.abs(np.log(actual)).mean():.2f}")
