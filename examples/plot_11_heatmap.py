"""
The features behind a component
===============================

A component is a summary. The heatmap shows what it summarises: its leading features over all samples, both
clustered, so that groups of genes and groups of patients can be seen, and patients that do not fit.
"""

from ispca import ISPCA
from ispca.datasets import make_expression
from ispca.plots import plot_heatmap, plot_scores, score_table

data = make_expression(n_samples=60, n_features=1500, signal=2.0, random_state=9)
target = data.target.copy()
# A mistake in the records: patient 7 has the wrong diagnosis.
target[7] = "class 1" if target[7] == "class 2" else "class 2"
ispca = ISPCA(n_components=2, random_state=0).fit(data.data, target)
plot_heatmap(ispca, data.data, target, n_features=25, feature_names=data.feature_names)

# %%
# The same patient lies far from its class in the plane of the components. Names are written beside samples
# that are farther out than one in a hundred of a normal class would be.

names = [f"patient {number}" for number in range(60)]
plot_scores(ispca, data.data, target, sample_names=names)
table = score_table(ispca, data.data, target, sample_names=names)
for row in table[table.outlier]:
    print(f"{row.sample}: {row.target}, p = {row.p_value:.2g}")
