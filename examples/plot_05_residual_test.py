"""
A second test that finds more
=============================

From the second component on, the paper's test is strict: it compares what is *left* of the target with
permutations of the *whole* target. ``test="residual"`` permutes what is left instead, and so keeps its level.

Here a strong factor hides two weaker ones.
"""

import matplotlib.pyplot as plt
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
# Step 2 is where the two tests part: the same features, the same components, another null distribution.

for test in ("paper", "residual"):
    ispca = ISPCA(test=test, n_permutations=500, random_state=0).fit(X, y)
    print(f"{test}: {ispca.n_supervised_} supervised component(s)")
    plot_permutations(ispca, X, y).figure.suptitle(f'test="{test}"', y=1.02)
plt.show()

# %%
# The residual test finds more components than there are factors: forty noisy features cannot give their
# factor exactly, and what is left of it is signal, too.
#
# ``"paper"`` is the default, because it is the published method, and because the unsupervised components that
# follow often carry what it leaves. The residual test earns its place where there are many factors, as in
# texts, and where you want supervised components only.
