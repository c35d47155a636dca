"""
The classic mistake: screening before splitting
===============================================

This example shows how screening features before cross-validation makes pure noise look predictable. The data are
60 samples of 3,000 features, unrelated to the two classes. If you select the twenty best features with all
samples, and then cross-validate only the model, it looks like a near-perfect classifier.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

from ispca import ISPCA, SPCA, feature_scores
from ispca.plots import plot_comparison
from ispca.validation import compare

rng = np.random.default_rng(0)
X, y = rng.normal(size=(60, 3000)), np.repeat(["heads", "tails"], 30)

# The mistake: this step uses the labels of samples that are held out later.
best = np.argsort(-feature_scores(X, y))[:20]
wrong = compare({"screened with all samples": LogisticRegression()}, X[:, best], y, cv=10, n_jobs=1)

# %%
# The correct way is to repeat the screening in every split.

right = compare(
    {
        "SPCA, 20 features": make_pipeline(SPCA(5, n_features=20, whiten=True), LogisticRegression()),
        "ISPCA": make_pipeline(ISPCA(5, whiten=True), LogisticRegression()),
    },
    X,
    y,
    cv=10,
    n_jobs=1,
)
figure, axes = plt.subplots(2, 1, figsize=(7, 3.4), height_ratios=(1, 2), sharex=True, layout="constrained")
for ax, result in zip(axes, (wrong, right), strict=True):
    plot_comparison(result, "accuracy", ax=ax)
    ax.set_xlim(0, 1.15)
axes[0].set_xlabel("")
print(f"wrong: accuracy {wrong.table.accuracy[0]:.2f}")
for row in right.table:
    print(f"right: {row.method}: accuracy {row.accuracy:.2f}")
