"""
Wine: three cultivars on two components
=======================================

This example analyzes 178 wines of three cultivars by thirteen chemical measurements (real data, part of
scikit-learn). The problem is easy, so ISPCA should find little that PCA does not. It is a good first check of
any method.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_wine
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline

from ispca import ISPCA, HorseshoeClassifier
from ispca.plots import plot_coefficients, plot_scores

wine = load_wine(as_frame=True)
X, y = wine.data, wine.target.map({0: "cultivar 1", 1: "cultivar 2", 2: "cultivar 3"})

# %%
# The wines on two components. ISPCA is cross-fitted, so every wine is placed on components that were found
# without it.

reductions = {
    "PCA": ISPCA(n_components=2, n_supervised=0),
    "ISPCA, cross-fitted": ISPCA(n_components=4, cross_fit=10, random_state=0),
}
figure, axes = plt.subplots(1, 2, figsize=(10, 3.8), layout="constrained")
for ax, (name, reduction) in zip(axes, reductions.items(), strict=True):
    plot_scores(reduction.fit(X, y), X, y, n_labels=0, ax=ax)
    ax.set_title(name)
print("supervised components:", reductions["ISPCA, cross-fitted"].n_supervised_)

# %%
# Held-out accuracy of both, with the same Bayesian model and the same five folds. The difference is about five
# of the 178 wines.

for name, n_supervised in (("PCA", 0), ("ISPCA", None)):
    model = make_pipeline(
        ISPCA(n_components=4, n_supervised=n_supervised, whiten=True, random_state=0),
        HorseshoeClassifier(n_warmup=200, n_draws=200, random_state=0),
    )
    scores = cross_val_score(model, X, y, cv=5)
    print(f"{name}: {scores.mean():.1%} of held-out wines are classified correctly")

# %%
# The measurements behind the model, for each cultivar.

plot_coefficients(model.fit(X, y), n_features=8, feature_names=wine.feature_names)
