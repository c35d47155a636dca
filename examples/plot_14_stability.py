"""
Stability: which features recur in other samples?
=================================================

This example measures how much a list of genes depends on the sample. Another sample of 60 patients would give a
different list. ``stability`` repeats the reduction on bootstrap samples, the bags, and counts how often each gene
is selected. Permuted copies of the genes run along, so that it can estimate how many genes of the list are false.
"""

from ispca import ISPCA
from ispca.datasets import make_expression
from ispca.plots import plot_stability
from ispca.validation import stability

data = make_expression(n_samples=60, n_features=800, signal=0.8, random_state=1)
result = stability(
    ISPCA(max_features=50, n_permutations=200), data.data, data.target, n_components=1, n_bags=30, n_jobs=1
)

# %%
# The fraction of bags that select each gene, compared with random selection. Dark bars are the list with an
# estimated error rate of at most 20%.

plot_stability(result, n_features=20)

# %%
# The estimate is close to the truth, which is known in a simulation.

listed = result.table[result.table.error_rate <= 0.2].feature.astype(int)
print(f"{len(listed)} genes listed, {data.relevant[listed].sum()} of them truly relevant")

# %%
# The component is more stable than its list of genes: correlated genes replace each other, and their combination
# changes little.

row = result.components[0]
print(f"similarity of scores between bags: {row.similarity:.2f}")
print(f"overlap of the selected features:  {row.overlap:.2f} (chance {row.chance_overlap:.2f})")
