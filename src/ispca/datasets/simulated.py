"""Simulated data: gene expression with classes, survival times or counts, toy problems and word counts."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from sklearn.utils import Bunch

from ..families.survival_target import survival_target
from ..foundation.arrays import Floats, Mask

# Correlation within a class. The class means raise the variance of x2 to 2, so the overall correlation is 1 / 1.6.
TOY_CORRELATION = {1: 0.0, 2: np.sqrt(2) / 1.6}


def make_expression(
    n_samples: int = 100,
    n_features: int = 5000,
    *,
    n_modules: int = 20,
    n_relevant: int = 3,
    module_size: int = 50,
    n_classes: int = 2,
    signal: float = 1.0,
    random_state: Any = None,
) -> Bunch:
    """Simulate gene expression: modules of correlated genes, a few of which differ between classes.

    Parameters
    ----------
    n_samples, n_features : int
        Size of the data.
    n_modules : int, default=20
        Number of modules of genes that vary together; all other genes are noise.
    n_relevant : int, default=3
        Number of modules whose activity depends on the class.
    module_size : int, default=50
        Genes per module (fewer if ``n_features`` is too small).
    n_classes : int, default=2
        Number of classes, of about equal size.
    signal : float, default=1.0
        Distance of each class from the common center, in standard deviations of the activity of a module.
    random_state : int, Generator or None, default=None
        Seed.

    Returns
    -------
    data : Bunch
        ``data`` (n_samples x n_features, log intensities), ``target`` (class names),
        ``feature_names``, ``module`` (module of each gene, or -1) and ``relevant`` (mask of genes
        in the relevant modules).

    Examples
    --------
    >>> from ispca.datasets import make_expression
    >>> data = make_expression(n_samples=30, n_features=200, random_state=1)
    >>> data.data.shape, sorted(set(data.target.tolist()))
    ((30, 200), ['class 1', 'class 2'])
    """
    if not 0 <= n_relevant <= n_modules:
        raise ValueError(f"n_relevant must be between 0 and n_modules={n_modules}, got {n_relevant}.")
    if n_classes < 2 or n_samples < n_classes:
        raise ValueError("n_classes must be at least 2 and at most n_samples.")
    rng = np.random.default_rng(random_state)
    module_size = min(module_size, n_features // max(n_modules, 1))
    module = np.full(n_features, -1)
    module[: n_modules * module_size] = np.repeat(np.arange(n_modules), module_size)
    module = rng.permutation(module)
    target = rng.permutation(np.arange(n_samples) % n_classes)
    activity = rng.normal(size=(n_samples, n_modules))
    # Each class shifts each relevant module; the shifts are centered over classes.
    shift = rng.normal(size=(n_classes, n_relevant))
    shift -= shift.mean(axis=0)
    shift *= signal / np.sqrt((shift**2).mean(axis=0))
    activity[:, :n_relevant] += shift[target]
    strength = rng.uniform(0.5, 1.5, n_features) * rng.choice([-1.0, 1.0], n_features, p=[0.3, 0.7])
    expression = rng.normal(size=(n_samples, n_features))
    inside = module >= 0
    expression[:, inside] += activity[:, module[inside]] * strength[inside]
    # Genes differ in mean and variance, as on a microarray.
    expression = rng.normal(8.0, 2.0, n_features) + expression * rng.gamma(4.0, 0.1, n_features)
    return Bunch(
        data=expression,
        target=np.array([f"class {c + 1}" for c in target]),
        feature_names=np.array([f"gene {j + 1}" for j in range(n_features)]),
        module=module,
        relevant=inside & (module < n_relevant),
    )


def make_toy(case: int = 1, n_samples: int = 200, *, random_state: Any = None) -> Bunch:
    """Simulate the paper's two toy problems (section 4.1): two features, two classes that differ in x2 alone.

    The paper shows them in a figure without numbers; the values here are chosen to match its text. In case 1, x1
    is noise, and there is one supervised component, along x2. In case 2, x1 is unrelated to the class but
    correlated with x2, so it explains part of the noise in x2, and there are two supervised components, the second
    near (1.6, -1).

    Parameters
    ----------
    case : {1, 2}, default=1
        Which toy problem; they are the columns of the paper's figure.
    n_samples : int, default=200
        Number of samples, half of each class.
    random_state : int, Generator or None, default=None
        Seed.

    Returns
    -------
    data : Bunch
        ``data`` (n_samples x 2), ``target`` (class names) and ``feature_names``.

    Examples
    --------
    >>> from ispca import ISPCA
    >>> from ispca.datasets import make_toy
    >>> for case in (1, 2):
    ...     data = make_toy(case, random_state=0)
    ...     print(ISPCA(random_state=0).fit(data.data, data.target).n_supervised_)
    1
    2
    """
    if case not in TOY_CORRELATION:
        raise ValueError(f"case must be 1 or 2, got {case!r}.")
    if n_samples < 2:
        raise ValueError(f"n_samples must be at least 2, got {n_samples}.")
    rng = np.random.default_rng(random_state)
    second = np.arange(n_samples) >= n_samples // 2
    noise = rng.normal(size=(2, n_samples))
    correlation = TOY_CORRELATION[case]
    x1 = correlation * noise[1] + np.sqrt(1 - correlation**2) * noise[0]
    x2 = noise[1] + 2.0 * second
    return Bunch(
        data=np.column_stack([x1, x2]),
        target=np.where(second, "class 2", "class 1"),
        feature_names=np.array(["x1", "x2"]),
    )


def make_text(
    n_samples: int = 300,
    n_features: int = 3000,
    *,
    n_relevant: int = 60,
    length: float = 60.0,
    signal: float = 1.5,
    probes: float = 0.0,
    random_state: Any = None,
) -> Bunch:
    """Simulate sparse word counts of two topics that differ in the frequency of a few words.

    This resembles the text data of the paper (Basehock and PCMac; with ``probes``, Dexter).

    Parameters
    ----------
    n_samples, n_features : int
        Number of documents and of words.
    n_relevant : int, default=60
        Number of words whose frequency depends on the topic.
    length : float, default=60.0
        Average number of words per document; documents differ in length.
    signal : float, default=1.5
        Log ratio of the frequencies of a relevant word in its topic and in the other topic.
    probes : float, default=0.0
        Fraction of the columns that are shuffled copies of other columns and carry no information.
    random_state : int, Generator or None, default=None
        Seed.

    Returns
    -------
    data : Bunch
        ``data`` (CSR, n_samples x n_features counts), ``target`` (topic names), ``feature_names``, ``relevant``
        and ``probe`` (masks of columns).

    Examples
    --------
    >>> from ispca.datasets import make_text
    >>> data = make_text(50, 400, random_state=1)
    >>> data.data.shape, sorted(set(data.target.tolist()))
    ((50, 400), ['topic 1', 'topic 2'])
    """
    n_probes = round(probes * n_features)
    n_words = n_features - n_probes
    if n_samples < 2 or not 0 <= n_relevant <= n_words or n_words < 1:
        raise ValueError("make_text needs at least 2 samples, and 0 <= n_relevant <= words that are not probes.")
    rng = np.random.default_rng(random_state)
    topic = rng.permutation(np.arange(n_samples) % 2)
    # Word frequencies follow Zipf's law; every second relevant word belongs to the first topic.
    frequency = np.tile(1.0 / rng.permutation(np.arange(1, n_words + 1)), (2, 1))
    relevant = rng.choice(n_words, n_relevant, replace=False)
    frequency[0, relevant[::2]] *= np.exp(signal)
    frequency[1, relevant[1::2]] *= np.exp(signal)
    frequency /= frequency.sum(axis=1, keepdims=True)
    lengths = rng.gamma(2.0, length / 2.0, n_samples)
    counts = sp.csc_array(rng.poisson(lengths[:, None] * frequency[topic]).astype(float))
    copied = counts[:, rng.integers(n_words, size=n_probes)]
    shuffled = [copied[rng.permutation(n_samples)][:, [j]] for j in range(n_probes)]
    order = rng.permutation(n_features)
    data = sp.csr_array(sp.hstack([counts, *shuffled], format="csr")[:, order])
    column = np.arange(n_features)[order]
    return Bunch(
        data=data,
        target=np.array([f"topic {t + 1}" for t in topic]),
        feature_names=np.array([f"word {j + 1}" for j in range(n_features)]),
        relevant=np.isin(column, relevant),
        probe=column >= n_words,
    )


N_MODULES, MODULE_SIZE = 10, 30
BATCHES = ("A", "B", "C")
# Effects on the linear predictor: of ten years of age, and of men compared with women.
AGE_EFFECT, SEX_EFFECT = 0.3, 0.4
# Weibull distribution of the survival times, in months.
SHAPE, SCALE = 1.3, 36.0
MEAN_COUNT, DISPERSION = 4.0, 5.0


class _Patients(NamedTuple):
    expression: Floats
    relevant: Mask
    covariates: dict[str, np.ndarray]
    predictor: Floats


def make_survival(
    n_samples: int = 150,
    n_features: int = 1000,
    *,
    n_relevant: int = 2,
    signal: float = 1.0,
    censored: float = 0.4,
    random_state: Any = None,
) -> Bunch:
    """Simulate gene expression and survival times of patients, some of which are censored.

    A few modules of correlated genes change the hazard, as do age and sex. The batch changes the expression of
    many genes, but not the hazard.

    Parameters
    ----------
    n_samples, n_features : int
        Number of patients and of genes.
    n_relevant : int, default=2
        Number of modules (of 10, with up to 30 genes each) that change the hazard.
    signal : float, default=1.0
        Standard deviation of the log hazard that is due to genes.
    censored : float, default=0.4
        Fraction of the patients who leave the study before the event.
    random_state : int, Generator or None, default=None
        Seed.

    Returns
    -------
    data : Bunch
        ``data`` (n_samples x n_features), ``target`` (structured array of event and time, in months),
        ``covariates`` (dict of ``age``, ``sex`` and ``batch``), ``feature_names``, and ``relevant`` (mask of genes
        in the relevant modules).

    Examples
    --------
    >>> from ispca.datasets import make_survival
    >>> data = make_survival(100, 200, random_state=0)
    >>> data.target.dtype.names, float(1 - data.target["event"].mean())
    (('event', 'time'), 0.4)
    """
    if not 0 <= censored < 1:
        raise ValueError(f"censored must be at least 0 and below 1, got {censored}.")
    rng = np.random.default_rng(random_state)
    patients = _patients(rng, n_samples, n_features, n_relevant, signal)
    death = SCALE * (rng.exponential(size=n_samples) * np.exp(-patients.predictor)) ** (1 / SHAPE)
    # Patients enter the study evenly; its end is where the wanted fraction is still alive.
    position = rng.uniform(0.05, 1.0, n_samples)
    end = position * np.quantile(death / position, 1 - censored, method="lower")
    target = survival_target((death <= end, np.minimum(death, end)))
    return _bunch(patients, target)


def make_counts(
    n_samples: int = 150,
    n_features: int = 1000,
    *,
    n_relevant: int = 2,
    signal: float = 0.7,
    random_state: Any = None,
) -> Bunch:
    """Simulate gene expression and counts of events during different lengths of observation.

    A few modules of correlated genes change the rate of events, as do age and sex. The batch changes the
    expression of many genes, but not the rate. Counts vary more than Poisson counts: they are negative binomial.

    Parameters
    ----------
    n_samples, n_features : int
        Number of patients and of genes.
    n_relevant : int, default=2
        Number of modules (of 10, with up to 30 genes each) that change the rate.
    signal : float, default=0.7
        Standard deviation of the log rate that is due to genes.
    random_state : int, Generator or None, default=None
        Seed.

    Returns
    -------
    data : Bunch
        ``data`` (n_samples x n_features), ``target`` (counts), ``offset`` (log of the years of observation),
        ``covariates`` (dict of ``age``, ``sex`` and ``batch``), ``feature_names``, and ``relevant`` (mask of genes
        in the relevant modules).

    Examples
    --------
    >>> from ispca.datasets import make_counts
    >>> data = make_counts(100, 200, random_state=0)
    >>> data.target.dtype.kind, sorted(set(data.covariates["batch"].tolist()))
    ('i', ['A', 'B', 'C'])
    """
    rng = np.random.default_rng(random_state)
    patients = _patients(rng, n_samples, n_features, n_relevant, signal)
    offset = np.log(rng.uniform(0.5, 3.0, n_samples))
    mean = MEAN_COUNT * np.exp(patients.predictor + offset)
    return _bunch(patients, rng.poisson(rng.gamma(DISPERSION, mean / DISPERSION)), offset=offset)


def _patients(
    rng: np.random.Generator, n_samples: int, n_features: int, n_relevant: int, signal: float
) -> _Patients:
    if not 0 <= n_relevant <= N_MODULES:
        raise ValueError(f"n_relevant must be between 0 and {N_MODULES}, got {n_relevant}.")
    if n_samples < 4 or n_features < N_MODULES:
        raise ValueError(f"n_samples must be at least 4 and n_features at least {N_MODULES}.")
    size = min(MODULE_SIZE, n_features // N_MODULES)
    module = np.full(n_features, -1)
    module[: N_MODULES * size] = np.repeat(np.arange(N_MODULES), size)
    module = rng.permutation(module)
    activity = rng.normal(size=(n_samples, N_MODULES))
    batch = rng.permutation(np.arange(n_samples) % len(BATCHES))
    expression = rng.normal(size=(n_samples, n_features))
    inside = module >= 0
    expression[:, inside] += activity[:, module[inside]] * rng.uniform(0.5, 1.5, inside.sum())
    shift = rng.normal(size=(len(BATCHES), n_features)) * (rng.random(n_features) < 0.3)
    expression += shift[batch]
    age, male = rng.normal(60, 10, n_samples).round(1), rng.random(n_samples) < 0.5
    predictor = signal * activity[:, :n_relevant].sum(axis=1) / np.sqrt(max(n_relevant, 1))
    predictor = predictor + AGE_EFFECT * (age - 60) / 10 + SEX_EFFECT * (male - 0.5)
    covariates = {"age": age, "sex": np.where(male, "male", "female"), "batch": np.array(BATCHES)[batch]}
    return _Patients(8 + expression, inside & (module < n_relevant), covariates, predictor)


def _bunch(patients: _Patients, target: np.ndarray, **more: Any) -> Bunch:
    return Bunch(
        data=patients.expression,
        target=target,
        covariates=patients.covariates,
        feature_names=np.array([f"gene {j + 1}" for j in range(patients.expression.shape[1])]),
        relevant=patients.relevant,
        **more,
    )
