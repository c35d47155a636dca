"""Draw overview.png, the figure of the README and the home page: ``python docs/images/make_overview.py``.

It shows the prostate tumors of Singh et al. (2002), which are read from the folder in ``ISPCA_DATA``.
"""

import os
import sys
from pathlib import Path

import matplotlib
import matplotlib.pyplot as plt
import numpy as np
from sklearn.model_selection import StratifiedKFold, cross_val_predict
from sklearn.pipeline import make_pipeline

from ispca import ISPCA, HorseshoeClassifier
from ispca.datasets import load
from ispca.plots import plot_scores

matplotlib.use("Agg")

if not (Path(os.environ.get("ISPCA_DATA", "")) / "prostate.npz").is_file():
    sys.exit("overview.png was not drawn: prostate.npz is not in the ISPCA_DATA folder")

data = load("prostate")
X, y = np.asarray(data.data, dtype=float), np.where(data.target == 1, "tumor", "normal")
pca = ISPCA(n_components=2, n_supervised=0).fit(X, y)
# Cross-fitting places every sample on components that were found without it.
ispca = ISPCA(n_components=20, whiten=True, cross_fit=10, random_state=0)
folds = StratifiedKFold(10, shuffle=True, random_state=0)
model = make_pipeline(ispca, HorseshoeClassifier(n_warmup=300, n_draws=300, random_state=0))
probability = cross_val_predict(model, X, y, cv=folds, method="predict_proba")[:, 1]
correct = np.mean((probability > 0.5) == (y == "tumor"))
ispca.fit(X, y)

figure, axes = plt.subplots(1, 3, figsize=(13, 3.9), width_ratios=(1, 1, 0.9), layout="constrained")
plot_scores(pca, X, y, n_labels=0, ax=axes[0])
plot_scores(ispca, X, y, n_labels=0, ax=axes[1])
jitter = np.random.default_rng(0).uniform(-0.25, 0.25, size=len(y))
for place, (name, color, marker) in enumerate((("normal", "#0072b2", "o"), ("tumor", "#e69f00", "s"))):
    chosen = y == name
    axes[2].scatter(probability[chosen], place + jitter[chosen], s=24, c=color, marker=marker, edgecolors="white")
axes[2].axvline(0.5, color="0.6", linewidth=1, linestyle="--")
axes[2].set(yticks=[0, 1], yticklabels=["normal", "tumor"], xlabel="held-out probability of a tumor")
titles = (
    f"{len(y)} prostate samples, {X.shape[1]:,} genes: PCA",
    "the same samples: ISPCA, cross-fitted",
    f"held-out predictions: {correct:.0%} correct",
)
for ax, title in zip(axes, titles, strict=True):
    ax.set_title(title)
figure.savefig(Path(__file__).with_name("overview.png"), dpi=75)
print(f"accuracy {correct:.3f}, supervised components: {ispca.n_supervised_}")
