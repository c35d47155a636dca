"""
Texts: sparse counts stay sparse
================================

Word counts of 300 texts on two topics, 2,000 words, three per cent nonzero. A fifth of the columns are
probes: shuffled copies that cannot mean anything. The matrix is never densified.
"""

import numpy as np

from ispca import ISPCA, score_test
from ispca.datasets import make_text
from ispca.plots import plot_loadings, plot_scores

data = make_text(n_samples=300, n_features=2000, length=80, probes=0.2, random_state=0)
print(f"{type(data.data).__name__}, {data.data.shape}, {data.data.nnz / np.prod(data.data.shape):.1%} nonzero")
ispca = ISPCA(n_components=10, test="residual", random_state=0).fit(data.data, data.target)

# %%
# The plane of the first two components.

plot_scores(ispca, data.data, data.target, n_labels=0)
print(f"{ispca.n_supervised_} supervised components")

# %%
# The words behind the first one. Words of the first topic have one sign, words of the second the other.

plot_loadings(ispca, 1, n_features=20, feature_names=data.feature_names)

# %%
# A component may take along up to 500 words, and some of them are probes, but with next to no weight.

weight = ispca.directions_[0] ** 2  # they add up to one
test = score_test(data.data, data.target, n_permutations=500, random_state=0)
print(
    f"weight of the first component: {weight[data.relevant].sum():.0%} on relevant words, "
    f"{weight[data.probe].sum():.1%} on probes"
)
print(
    f"p < 0.01: {np.mean(test.p_values[data.relevant] < 0.01):.0%} of the relevant words, "
    f"{np.mean(test.p_values[data.probe] < 0.01):.1%} of the probes"
)
