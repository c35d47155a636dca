"""
A Bayesian model on the components, and back to the genes
=========================================================

The new features go into a logistic regression under the regularised horseshoe prior: most coefficients are
shrunk to almost nothing, the few that matter hardly at all. Since components are linear in the genes, the
whole posterior can be carried back to them.
"""

from sklearn.pipeline import make_pipeline

from ispca import ISPCA, HorseshoeClassifier, original_coefficients
from ispca.datasets import make_expression
from ispca.plots import plot_coefficients

data = make_expression(n_samples=80, n_features=1000, signal=1.2, random_state=2)
model = make_pipeline(
    ISPCA(n_components=15, whiten=True, random_state=0),
    HorseshoeClassifier(n_warmup=500, n_draws=500, random_state=0),
)
model.fit(data.data, data.target)

# %%
# Can the draws be trusted? One sentence tells.

print(model[-1].diagnostics_)

# %%
# Of the fifteen components one gets a coefficient that matters; the prior has shrunk the others.

for name, mean in zip(model[0].get_feature_names_out(), model[-1].coef_[0], strict=True):
    print(f"{name:8s} {mean:+.2f}")

# %%
# The coefficients of the genes, per standard deviation, with their 90 % intervals.

plot_coefficients(model, n_features=15, feature_names=data.feature_names)

# %%
# The table behind it has all genes, in their own units.

table = original_coefficients(model)
print(table.dtype.names)
print(f"sign more than 95 % sure: {(table.p_sign > 0.95).sum()} of {len(table) - 1} genes")
