"""
A second test that finds more
=============================

From the second component on, the paper's test is strict: it compares what is *left* of the target with
permutations of the *whole* target. ``test="residual"`` permutes what is left instead, and so keeps its level.

Here a strong factor hides two weaker ones.
"""

import numpy as np

from ispca import ISPCA
from ispca.plots import plot_permutations

rng = np.random.default_rng(4)
n, n_features = 120, 1500
y = rng.normal(size=n)
X = rng.normal(size=(n, n_features))
# Three factors make up the target, one of them most of it; each drives forty features.
factors = rng.normal(size=(n, 3))
y = factors @ [1.5, 0.8, 0.8] + 0.5 * y
for number in range(3):
    block = slice(40 * number, 40 * number + 40)
    X[:, block] += factors[:, [number]] * rng.uniform(0.6, 1.2, 40)

# %%
# The paper's test: the second step fails, far inside the grey, because permutations of the whole target score
# higher than what is left of it possibly can.

paper = ISPCA(n_permutations=500, random_state=0).fit(X, y)
plot_permutations(paper, X, y)
print(f"{paper.n_supervised_} supervised component(s)")

# %%
# The residual test: the same features, the same first component, another null distribution.

residual = ISPCA(test="residual", n_permutations=500, random_state=0).fit(X, y)
plot_permutations(residual, X, y)
print(f"{residual.n_supervised_} supervised components")

# %%
# The residual test finds more components than there are factors: forty noisy features cannot give their
# factor exactly, and what is left of it is signal, too.
#
# ``"paper"`` is the default, because it is the published method, and because the unsupervised components that
# follow often carry what it leaves. The residual test earns its place where there are many factors, as in
# texts, and where you want supervised components only.
