"""
Which features enter a component?
=================================

A supervised component is the first principal component of the best-scoring features. How many are the best?
Too few, and noise of single features stays in; too many, and the component turns to variation that has
nothing to do with the target. ISPCA tries ten sizes and takes the one whose component correlates best with
the target.
"""

from ispca import ISPCA
from ispca.datasets import make_expression
from ispca.plots import plot_loadings, plot_threshold

data = make_expression(n_samples=300, n_features=1000, module_size=25, n_relevant=1, signal=1.2, random_state=5)
ispca = ISPCA(n_components=3, random_state=0).fit(data.data, data.target)

# %%
# The component of a single feature scores lower than that of a few dozen, and so does the component of all
# 500 in the window.

plot_threshold(ispca, data.data, data.target, step=1)

# %%
# The weights of the chosen features. Genes of one module have weights of both signs where they move against
# each other.

plot_loadings(ispca, 1, n_features=20, feature_names=data.feature_names)
step = ispca.steps_[0]
print(f"{step.n_features} features, among them all {data.relevant[step.features].sum()} truly relevant ones")

# %%
# With few samples the best size is often the whole window: 500 features that correlate by chance add up to a
# component that fits these samples. That is why ``window`` exists, why weights are worth more than mere
# membership, and why nothing here replaces held-out samples.
