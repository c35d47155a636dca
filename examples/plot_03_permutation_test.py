"""
How many supervised components?
===============================

This example shows how ISPCA decides on the number of supervised components. Among 2,000 genes, some always
correlate with the diagnosis by chance. Before every step, a permutation test therefore asks whether the largest
correlation is larger than with permuted labels.
"""

from ispca import ISPCA
from ispca.datasets import make_expression
from ispca.plots import component_table, plot_components, plot_permutations

data = make_expression(n_samples=90, n_features=2000, n_classes=3, signal=1.5, random_state=3)
ispca = ISPCA(n_components=12, n_permutations=500, random_state=0).fit(data.data, data.target)

# %%
# One row per step: gray is the null distribution from permuted labels, and the line is the observed score.
# ISPCA stops when the line falls inside the null distribution.

plot_permutations(ispca, data.data, data.target)

# %%
# Ordinary principal components of the residual follow, up to ``n_components``. They are ordered by explained
# variance and do not depend on the classes.

plot_components(ispca)

# %%
# The first three components in numbers:

for row in component_table(ispca)[:3]:
    print(f"{row.component}. {row.kind}, {row.n_features} features, p = {row.p_value:.3f}")

# %%
# Without signal, the first test fails except in a fraction ``alpha`` of data sets. ISPCA then issues a warning
# and returns one unsupervised component, so that a pipeline does not fail.

import warnings

shuffled = data.target[::-1].copy()
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    nothing = ISPCA(random_state=0).fit(data.data[:, ~data.relevant], shuffled)
print(nothing.n_supervised_, [str(warning.message) for warning in caught])
