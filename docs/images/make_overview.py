"""Draw overview.png, the figure of the README and the home page: ``python docs/images/make_overview.py``."""

from pathlib import Path

import matplotlib
import matplotlib.pyplot as plt
from sklearn.pipeline import make_pipeline

from ispca import ISPCA, HorseshoeClassifier
from ispca.datasets import make_expression
from ispca.plots import plot_coefficients, plot_scores

matplotlib.use("Agg")

data = make_expression(n_samples=60, n_features=2000, n_relevant=1, signal=1.5, random_state=1)
X, y = data.data, data.target
pca = ISPCA(n_components=2, n_supervised=0).fit(X, y)
model = make_pipeline(ISPCA(n_components=20, whiten=True, random_state=0), HorseshoeClassifier(random_state=0))
model.fit(X, y)

figure, axes = plt.subplots(1, 3, figsize=(13, 3.7), width_ratios=(1, 1, 0.9), layout="constrained")
plot_scores(pca, X, y, n_labels=0, ax=axes[0])
plot_scores(model, X, y, n_labels=0, ax=axes[1])
plot_coefficients(model, n_features=10, feature_names=data.feature_names, ax=axes[2])
titles = ("60 samples, 2,000 genes: PCA", "the same samples: ISPCA", "coefficients of the genes")
for ax, title in zip(axes, titles, strict=True):
    ax.set_title(title)
axes[2].set_xlabel("log odds per sd, 90% interval")
figure.savefig(Path(__file__).with_name("overview.png"), dpi=75)
