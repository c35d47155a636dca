"""
The residual test finds more components
=======================================

This example compares the two permutation tests on data in which a strong factor hides two weaker ones. From the
second component on, the paper's test is conservative: it compares the *residual* target with permutations of
the *original* target. ``test="residual"`` permutes the residual instead, which keeps the nominal level.
"""

import numpy as np

from ispca import ISPCA
from ispca.plots import plot_permutations

rng = np.random.default_rng(4)
n, n_features = 120, 1500
y = rng.normal(size=n)
X = rng.normal(size=(n, n_features))
# The target is the sum of three factors, one of them dominant. Each factor drives forty features.
factors = rng.normal(size=(n, 3))
y = factors @ [1.5, 0.8, 0.8] + 0.5 * y
for number in range(3):
    block = slice(40 * number, 40 * number + 40)
    X[:, block] += factors[:, [number]] * rng.uniform(0.6, 1.2, 40)

# %%
# The paper's test: the second step fails, with a score far inside the null distribution, because permutations of
# the original target score higher than the residual can.

paper = ISPCA(n_permutations=500, random_state=0).fit(X, y)
plot_permutations(paper, X, y)
print(f"supervised components: {paper.n_supervised_}")

# %%
# The residual test: the same features and the same first component, but a different null distribution.

residual = ISPCA(test="residual", n_permutations=500, random_state=0).fit(X, y)
plot_permutations(residual, X, y)
print(f"supervised components: {residual.n_supervised_}")

# %%
# The residual test finds more components than there are factors. Forty noisy features do not determine their
# factor exactly, and the remainder is also signal.
#
# ``"paper"`` is the default because it is the published method, and because the unsupervised components that
# follow often capture what it misses. The residual test is useful if there are many factors, as in text, and if
# you want supervised components only. See :doc:`../residual` for measurements.
