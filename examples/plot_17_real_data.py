"""
Real data: leukemia
===================

This example analyzes gene expression in two types of acute leukemia, with 72 patients and 7,129 genes (Golub et
al., 1999). It is the data set most often used for this kind of method. The data are not part of the package; they
are read from the folder in ``ISPCA_DATA``. **If they are not there, this page uses simulated data of the same size
and says so below.**
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
    print("SIMULATED data: leukemia.npz is not in the ISPCA_DATA folder")

# %%
# Fit the components and the model, check convergence, and plot the patients.

model = make_pipeline(
    ISPCA(n_components=20, whiten=True, random_state=0),
    HorseshoeClassifier(n_warmup=300, n_draws=300, random_state=0),
)
model.fit(X, y)
print(model[-1].diagnostics_)
plot_scores(model, X, y)

# %%
# The number of components, and the tests behind it.

plot_components(model)

# %%
# The genes with the largest coefficients.

plot_coefficients(model, n_features=15, feature_names=data.feature_names)
