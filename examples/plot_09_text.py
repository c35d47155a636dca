"""
Text: sparse counts stay sparse
===============================

This example finds the words that separate two topics, in the counts of 2,000 words in 300 documents. About 3% of
the counts are nonzero, and the matrix is never converted to a dense array. A fifth of the columns are probes:
shuffled copies that carry no information.
"""

import numpy as np

from ispca import ISPCA, score_test
from ispca.datasets import make_text
from ispca.plots import plot_loadings, plot_scores

data = make_text(n_samples=300, n_features=2000, length=80, probes=0.2, random_state=0)
print(f"{type(data.data).__name__}, {data.data.shape}, {data.data.nnz / np.prod(data.data.shape):.1%} nonzero")
ispca = ISPCA(n_components=10, test="residual", random_state=0).fit(data.data, data.target)

# %%
# The scores of the documents on the first two components.

plot_scores(ispca, data.data, data.target, n_labels=0)
print(f"{ispca.n_supervised_} supervised components")

# %%
# The words with the largest loadings on the first component. The two topics have opposite signs.

plot_loadings(ispca, 1, n_features=20, feature_names=data.feature_names)

# %%
# A component can include up to 500 words. Some of them are probes, but their loadings are close to zero.

weight = ispca.directions_[0] ** 2  # squared loadings add up to one
test = score_test(data.data, data.target, n_permutations=500, random_state=0)
print(
    f"squared loadings of the first component: {weight[data.relevant].sum():.0%} on relevant words, "
    f"{weight[data.probe].sum():.1%} on probes"
)
print(
    f"p < 0.01: {np.mean(test.p_values[data.relevant] < 0.01):.0%} of the relevant words, "
    f"{np.mean(test.p_values[data.probe] < 0.01):.1%} of the probes"
)
