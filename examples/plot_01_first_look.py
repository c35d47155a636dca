"""
First look: two components instead of 2,000 genes
=================================================

This example plots 60 patients with 2,000 genes and two diagnoses on two components. Most of the variation
between the patients is unrelated to the diagnosis. Ordinary principal components show this variation because
it is large; supervised components show the diagnosis.
"""

# %%
# The simulated genes form modules that vary together. One of twenty modules differs between the classes.

import matplotlib.pyplot as plt
import numpy as np

from ispca import ISPCA, SPCA
from ispca.datasets import make_expression
from ispca.plots import plot_loadings, plot_scores

data = make_expression(n_samples=60, n_features=2000, n_relevant=1, signal=1.5, random_state=1)
X, y = data.data, data.target

# %%
# The scores of the patients on two components, for three methods: unsupervised components (PCA), components of
# the features that pass a screening (SPCA), and ISPCA.

reductions = {
    "PCA": ISPCA(n_components=2, n_supervised=0),
    "SPCA": SPCA(n_components=2, random_state=0),
    "ISPCA": ISPCA(n_components=2, random_state=0),
}
figure, axes = plt.subplots(1, 3, figsize=(12, 3.6), layout="constrained")
for ax, (name, reduction) in zip(axes, reductions.items(), strict=True):
    plot_scores(reduction.fit(X, y), X, y, n_labels=0, ax=ax)
    ax.set_title(name)

# %%
# The genes with the largest loadings on the first component. The component can include up to ``max_features=500``
# genes, most of them with small loadings; those with large loadings are the truly relevant ones.

ispca = reductions["ISPCA"]
plot_loadings(ispca, 1, n_features=15, feature_names=data.feature_names)
largest = np.argsort(-np.abs(ispca.directions_[0]))[:15]
print(f"{ispca.steps_[0].n_features} genes in the first component")
print(f"{data.relevant[largest].sum()} of the 15 genes with the largest loadings are truly relevant")

# %%
# These plots use the labels of all samples, so they are optimistic: even pure noise can look separated. The
# permutation test controls the *number* of supervised components. See :doc:`plot_12_compare` for performance on
# new samples.
