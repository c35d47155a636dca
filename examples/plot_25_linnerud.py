"""
Too little data: what an honest method says
===========================================

This example has 20 men, three exercises, and their waist, weight and pulse (Linnerud's data, part of
scikit-learn). It shows what the test and the held-out predictions say when a data set can hardly answer a
question.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_linnerud
from sklearn.metrics import r2_score
from sklearn.model_selection import RepeatedKFold
from sklearn.pipeline import make_pipeline

from ispca import ISPCA, HorseshoeRegressor, score_test

linnerud = load_linnerud(as_frame=True)
X = linnerud.data

# %%
# For each target, a permutation test of the largest association, then R² on held-out men, with the one
# component found anew in every fold. ``alpha=None`` takes the component in any case. A negative R² means that
# the mean of the other men predicts better.

held_out = {}
for name, y in linnerud.target.items():
    test = score_test(X, y, kind="maximum", family="gaussian", random_state=0)
    model = make_pipeline(
        ISPCA(n_components=1, family="gaussian", alpha=None, whiten=True, random_state=0),
        HorseshoeRegressor(n_warmup=150, n_draws=150, random_state=0),
    )
    folds = RepeatedKFold(n_splits=5, n_repeats=2, random_state=0)
    predicted = np.zeros(len(y))
    for train, rest in folds.split(X):
        predicted[rest] += model.fit(X.iloc[train], y.iloc[train]).predict(X.iloc[rest]) / 2
    held_out[name] = predicted
    print(f"{name}: p = {test.p_value:.3f}, held-out R² {r2_score(y, predicted):+.2f}")

# %%
# Observed and predicted values. The line is the prediction that would be perfect.

figure, axes = plt.subplots(1, 3, figsize=(10, 3.4), layout="constrained")
for ax, (name, predicted) in zip(axes, held_out.items(), strict=True):
    y = linnerud.target[name]
    ax.scatter(y, predicted, s=24)
    ax.axline((y.mean(), y.mean()), slope=1, color="0.6", linewidth=1)
    ax.set(title=name, xlabel="observed")
axes[0].set_ylabel("predicted without the sample")

# %%
# The waist has p = 0.02 and a held-out R² of 0.11, which is weak but consistent. It is also the best of three
# questions: times three (Bonferroni), p = 0.06. The exercises say nothing about weight and pulse that would
# help to predict them for another man.
