"""
Honest scores: the same noise, seen both ways
=============================================

This example shows why the scores of training samples flatter a supervised component, and what cross-fitting does
about it. The data are 60 samples of 3,000 features and a target, all of them pure noise. One component is forced
with ``alpha=None``; the permutation test would refuse it.
"""

import matplotlib.pyplot as plt
import numpy as np

from ispca import ISPCA
from ispca.plots import plot_scores

rng = np.random.default_rng(0)
X, y = rng.normal(size=(60, 3000)), rng.normal(size=60)
ispca = ISPCA(1, alpha=None, whiten=True, random_state=0, cross_fit=10).fit(X, y)

# ``transform`` uses the component of the fit, ``training_scores_`` are found without each sample's own target.
views = {"scores of the fit": ispca.transform(X)[:, 0], "cross-fitted scores": ispca.training_scores_[:, 0]}
figure, axes = plt.subplots(1, 2, figsize=(8, 3.6), sharex=True, sharey=True, layout="constrained")
for ax, (name, scores) in zip(axes, views.items(), strict=True):
    ax.scatter(scores, y, s=18)
    ax.set(xlabel="supervised_1", title=f"{name}\ncorrelation {np.corrcoef(scores, y)[0, 1]:.2f}")
axes[0].set_ylabel("target: noise")

# %%
# Classes show it in the score plot. On the left, two labels drawn at random are perfectly separated by the
# components of the fit; on the right, the same samples are projected on components that were found without them.
# ``plot_scores`` recognizes the data of the fit, shows their cross-fitted scores, and marks them.

labels = rng.permutation(np.repeat(["heads", "tails"], 30))
figure, axes = plt.subplots(1, 2, figsize=(9.5, 4), sharex=True, sharey=True, layout="constrained")
for ax, cross_fit in zip(axes, (None, 10), strict=True):
    ispca = ISPCA(2, alpha=None, whiten=True, random_state=0, cross_fit=cross_fit).fit(X, labels)
    plot_scores(ispca, X, labels, ax=ax)

# %%
# One seed proves little. Over fifty of them, the scores of the fit always follow the noise, and the cross-fitted
# ones scatter around zero.

found = []
for seed in range(50):
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(60, 3000)), rng.normal(size=60)
    ispca = ISPCA(1, alpha=None, random_state=seed, cross_fit=10).fit(X, y)
    found.append([np.corrcoef(Z[:, 0], y)[0, 1] for Z in (ispca.transform(X), ispca.training_scores_)])
for name, values in zip(views, np.transpose(found), strict=True):
    inside = np.count_nonzero(np.abs(values) < 0.3)
    print(f"{name}: correlation {values.min():.2f} to {values.max():.2f}, mean {values.mean():.2f}")
    print(f"    between -0.3 and 0.3 for {inside} of 50 seeds")
