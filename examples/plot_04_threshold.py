"""
Which features enter a component?
=================================

This example shows how ISPCA chooses the features of a component. A supervised component is the first principal
component of the best-scoring features. With too few features, the noise of single features remains; with too
many, the component describes variation that is unrelated to the target. ISPCA tries ten sizes and takes the one
whose component correlates best with the target.
"""

from ispca import ISPCA
from ispca.datasets import make_expression
from ispca.plots import plot_loadings, plot_threshold

data = make_expression(n_samples=300, n_features=1000, module_size=25, n_relevant=1, signal=1.2, random_state=5)
ispca = ISPCA(n_components=3, random_state=0).fit(data.data, data.target)

# %%
# A component of a few dozen features scores higher than a single feature, and higher than all 500 features
# that the search considers.

plot_threshold(ispca, data.data, data.target, step=1)

# %%
# The loadings of the selected features. Genes of the same module have loadings of opposite sign if they are
# negatively correlated.

plot_loadings(ispca, 1, n_features=20, feature_names=data.feature_names)
step = ispca.steps_[0]
found = data.relevant[step.features].sum()
print(f"{step.n_features} features, including {found} of the {data.relevant.sum()} truly relevant ones")

# %%
# With few samples, the best size is often all of the 500 best-scoring features: those that correlate by chance
# add up to a component that fits these samples. For this reason ``max_features`` limits the number of features,
# loadings are more informative than membership, and performance should be measured on held-out samples.
