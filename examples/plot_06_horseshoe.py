"""
A Bayesian model of the components, and the genes behind it
===========================================================

This example fits a Bayesian logistic regression to the components and computes intervals for every gene.
The regularized horseshoe prior shrinks most coefficients to almost zero, and hardly shrinks the few that matter.
Components are linear in the genes, so the posterior can be converted to coefficients of the genes.
"""

from sklearn.pipeline import make_pipeline

from ispca import ISPCA, BaggedPosterior, HorseshoeClassifier
from ispca.datasets import make_expression
from ispca.plots import plot_coefficients

data = make_expression(n_samples=80, n_features=1000, signal=1.2, random_state=2)
model = make_pipeline(
    ISPCA(n_components=15, whiten=True, random_state=0),
    HorseshoeClassifier(n_warmup=500, n_draws=500, random_state=0),
)
model.fit(data.data, data.target)

# %%
# First check that the chains have converged.

print(model[-1].diagnostics_)

# %%
# A notebook shows the posterior as a table. One of the fifteen components has a large coefficient; the prior has
# shrunk the others.

# sphinx_gallery_capture_repr_block = ("_repr_html_",)
model[-1].posterior_

# %%
# This posterior takes the components for given, so intervals of genes would be too narrow. ``BaggedPosterior``
# repeats components and model in bootstrap samples. These are the coefficients of the genes, per standard
# deviation, with bagged 90% intervals.

bagged = BaggedPosterior(model, n_bags=20, random_state=0).fit(data.data, data.target)
plot_coefficients(bagged, n_features=15, feature_names=data.feature_names)

# %%
# The full table has all genes, in their original units. It is a record array, ``to_frame()`` converts it to a data
# frame, and a notebook shows its first rows.

# sphinx_gallery_capture_repr_block = ("_repr_html_",)
genes = bagged.coefficients()[1:]  # without the intercept
print(f"P(sign) above 95%: {(genes.p_sign > 0.95).sum()} of {len(genes)} genes")
genes[genes.p_sign > 0.95]
