"""
A feature that is useless alone
===============================

This is the smallest example that shows why ISPCA iterates. The two classes differ only in x2; x1 has the same
distribution in both. But x1 and x2 share the same disturbance, so x1 tells us what to subtract from x2.

A screening looks at one feature at a time and discards x1. ISPCA takes x2 first, subtracts what it explains
from x1 as well, and finds that the *residual* of x1 is related to the class.
"""

import matplotlib.pyplot as plt

from ispca import ISPCA, feature_scores
from ispca.datasets import make_toy
from ispca.plots import plot_permutations, plot_scores

figure, axes = plt.subplots(1, 2, figsize=(9, 3.8), layout="constrained")
for ax, case in zip(axes, (1, 2), strict=True):
    data = make_toy(case, random_state=0)
    ispca = ISPCA(random_state=0).fit(data.data, data.target)
    for label, marker in (("class 1", "o"), ("class 2", "x")):
        ax.scatter(*data.data[data.target == label].T, marker=marker, s=14, alpha=0.7, label=label)
    for number, (x1, x2) in enumerate(ispca.components_, start=1):
        length = 3 / (x1**2 + x2**2) ** 0.5
        ax.annotate("", (x1 * length, x2 * length), (0, 0), arrowprops={"arrowstyle": "->", "lw": 2})
        ax.text(x1 * length, x2 * length, f" w{number}")
    ax.set(xlabel="x1", ylabel="x2", title=f"case {case}, supervised components: {ispca.n_supervised_}")
    print(f"case {case}: scores {feature_scores(data.data, data.target).round(2)}")
axes[0].legend(loc="lower right")

# %%
# In case 1, x1 is noise and there is only one component. In case 2, the second direction ``w2`` is a contrast
# between x1 and x2, which removes the shared disturbance. The two components separate the classes.

plot_scores(ispca, data.data, data.target, n_labels=0)

# %%
# Both steps pass the permutation test. There is no third step, because two features have only two components.

plot_permutations(ispca, data.data, data.target)
