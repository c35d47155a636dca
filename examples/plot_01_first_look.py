"""
First look: two components instead of 2,000 genes
=================================================

Sixty patients, two diagnoses, 2,000 genes. Most of what varies between the patients has nothing to do with
the diagnosis. Principal components show that variation, because it is large. Supervised components show the
diagnosis.
"""

# %%
# The simulated genes come in modules that vary together. One of twenty modules differs between the classes.

import matplotlib.pyplot as plt
import numpy as np

from ispca import ISPCA, SPCA
from ispca.datasets import make_expression
from ispca.plots import plot_loadings, plot_scores

data = make_expression(n_samples=60, n_features=2000, n_relevant=1, signal=1.5, random_state=1)
X, y = data.data, data.target

# %%
# The same plane, three times: two unsupervised components, two of the features that pass a screening, and two
# of ISPCA.

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
# A supervised component has names: these are the genes with the largest weights. The component may take along
# up to ``window=500`` genes, most of them with small weights; the large ones are where the truth is.

ispca = reductions["ISPCA"]
plot_loadings(ispca, 1, n_features=15, feature_names=data.feature_names)
largest = np.argsort(-np.abs(ispca.directions_[0]))[:15]
print(f"{ispca.steps_[0].n_features} genes in all")
print(f"of the 15 largest weights {data.relevant[largest].sum()} belong to truly relevant genes")

# %%
# These planes were made with the labels of all samples, so they flatter: pure noise can look separated, too.
# The permutation test guards the *number* of supervised components, and :doc:`plot_12_compare` measures how
# well new samples are predicted.
