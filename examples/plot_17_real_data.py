"""
Real data: leukemia
===================

Two kinds of acute leukemia, 72 patients, 7,129 genes (Golub and others, 1999): the data set most often used
for this kind of method. It is read from the folder in ``ISPCA_DATA``; it is not part of the package. **Where
it is not there, this page uses simulated data of the same size and says so below.**
"""

import os
from pathlib import Path

from sklearn.pipeline import make_pipeline

from ispca import ISPCA, HorseshoeClassifier
from ispca.datasets import load, make_expression
from ispca.plots import plot_coefficients, plot_components, plot_scores

file = Path(os.environ.get("ISPCA_DATA", "")) / "leukemia.npz"
if file.is_file():
    data = load("leukemia")
    X, y = data.data, data.target_names[data.target]
    print("leukemia: the real data")
else:
    data = make_expression(n_samples=72, n_features=7129, signal=1.5, random_state=0)
    X, y = data.data, data.target
    print("SIMULATED data: leukemia.npz is not in the folder that ISPCA_DATA names")

# %%
# From 7,129 genes to a posterior.

model = make_pipeline(
    ISPCA(n_components=20, whiten=True, random_state=0),
    HorseshoeClassifier(n_warmup=300, n_draws=300, random_state=0),
)
model.fit(X, y)
print(model[-1].diagnostics_)
plot_scores(model, X, y)

# %%
# How many components, and why.

plot_components(model)

# %%
# The genes with the largest effects.

plot_coefficients(model, n_features=15, feature_names=data.feature_names)
