"""
The features behind a component
===============================

This example shows the data behind a component, and finds a mislabeled patient. The heatmap draws the leading
features of a component for all samples. Both are clustered, as the dendrograms show. This reveals groups of
genes, groups of patients, and patients that do not fit their group.
"""

from ispca import ISPCA
from ispca.datasets import make_expression
from ispca.plots import plot_heatmap, plot_scores, score_table

data = make_expression(n_samples=60, n_features=1500, signal=2.0, random_state=9)
target = data.target.copy()
# An error in the records: patient 7 has the wrong diagnosis.
target[7] = "class 1" if target[7] == "class 2" else "class 2"
ispca = ISPCA(n_components=2, random_state=0).fit(data.data, target)
plot_heatmap(ispca, data.data, target, n_features=25, feature_names=data.feature_names)

# %%
# The same patient lies far from its class in the score plot. Samples are named if only one in a hundred samples of
# a normally distributed class would be as far out.

names = [f"patient {number}" for number in range(60)]
plot_scores(ispca, data.data, target, sample_names=names)
table = score_table(ispca, data.data, target, sample_names=names)
for row in table[table.outlier]:
    print(f"{row.sample}: {row.target}, p = {row.p_value:.2g}")
