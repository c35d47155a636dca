"""One study for all tests of the analysis: expression of 40 samples, with age and patients."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

import ispca


@pytest.fixture(scope="session")
def study():
    data = ispca.datasets.make_expression(n_samples=40, n_features=60, signal=2.5, random_state=0)
    frame = pd.DataFrame(data.data, columns=[f"g{j}" for j in range(60)], index=[f"s{i}" for i in range(40)])
    describing = pd.DataFrame(index=frame.index)
    describing["state"] = np.where(data.target == data.target[0], "ill", "well")
    describing["age"] = 40.5 + np.arange(40) * 7 % 23
    describing["sex"] = np.array(["f", "m"])[np.arange(40) * 5 % 7 % 2]
    describing["patient"] = [f"p{i // 2}" for i in range(40)]
    return SimpleNamespace(genes=frame, describing=describing, frame=frame.join(describing))


@pytest.fixture(scope="session")
def analysis(study):
    return ispca.analyze(study.genes, study.describing["state"], bags=4, components=3, draws=60, cv=2)
