"""Coverage and size of prediction sets and intervals from bags: ``python -m benchmarks.conformal`` (5 minutes).

Rule for the score of classes, fixed before the first run: the probability of a class, and its margin over the
other classes, must both contain each class as often as the level less two Monte Carlo errors. The smaller mean
size of sets over all designs wins if it differs by two standard errors, and otherwise the probability, which is
simpler. Rule for counts, fixed then, too: a scale, or intervals of square roots, deserve a parameter if they
cover the highest third of counts by at least 0.05 more and are not wider on average.
"""

import argparse
import warnings
from functools import partial

import numpy as np
from sklearn.linear_model import LogisticRegression, PoissonRegressor, Ridge

from ispca.bagging.conformal import class_p_values, jackknife_interval, prediction_sets

N_BAGS, N_NEW, N_FEATURES = 40, 60, 30
# Samples of each class, and signal.
CLASSES = [([20] * 2, 1), ([15] * 3, 0), ([30, 15, 10], 0.7), ([20] * 4, 1), ([40, 12, 6], 1), ([12] * 6, 1)]
# Samples and signal; number of groups and sizes of the smallest and the largest.
QUANTITIES = [(15, 0.5), (40, 0.0), (40, 0.3), (40, 1.0), (100, 0.5)]
GROUPS = [(12, 1, 1), (12, 8, 8), (12, 1, 20), (30, 1, 20)]


def means_without(left_out, predictions):
    """Return mean predictions by the bags without each training sample (samples x training samples x ...)."""
    counts = np.maximum(left_out.sum(axis=0), 1)
    means = np.einsum("bi,bx...->xi...", left_out / counts, predictions)
    means[:, ~left_out.any(axis=0)] = np.nan
    return means


def bags(model, X, y, groups, rng):
    """Return predictions of training samples and of new ones, the last, by the bags without each training sample.

    ``groups`` are the rows of each group in each stratum.
    """
    left_out, found = np.ones((N_BAGS, len(y)), bool), []
    for bag in range(N_BAGS):
        drawn = [stratum[i] for stratum in groups for i in rng.choice(len(stratum), len(stratum))]
        rows = np.concatenate(drawn)
        left_out[bag, rows] = False
        fitted = model.fit(X[rows], y[rows])
        found.append(getattr(fitted, "predict_proba", fitted.predict)(X))
    means = means_without(left_out, np.array(found))
    return means[np.arange(len(y)), np.arange(len(y))], means[len(y) :]


def margins(p):
    """Return the probability of each class less the largest of the other classes."""
    ordered = np.sort(p, axis=-1)
    return p - np.where(p == ordered[..., -1:], ordered[..., -2:-1], ordered[..., -1:])


def class_trial(sizes, signal, rng):
    """Return coverage of each class and the size of sets, for both scores and two levels."""
    centers = rng.normal(size=(len(sizes), N_FEATURES)) * signal * (np.arange(N_FEATURES) < 5)
    y, y_new = np.repeat(np.arange(len(sizes)), sizes), np.arange(N_NEW) % len(sizes)
    X = centers[np.append(y, y_new)] + rng.normal(size=(len(y) + N_NEW, N_FEATURES))
    strata = [np.flatnonzero(y == code)[:, None] for code in range(len(sizes))]
    left_out, new = bags(LogisticRegression(C=0.1, tol=1e-3), X, y, strata, rng)
    rows = []
    for score in (np.asarray, margins):
        p_values = class_p_values(score(left_out), y, score(new))
        for level in (0.8, 0.9):
            sets = prediction_sets(p_values, level)
            hit = sets[np.arange(N_NEW), y_new]
            rows.append([*(hit[y_new == code].mean() for code in range(len(sizes))), sets.sum(axis=1).mean()])
    return np.array(rows)


def quantity_trial(n, signal, rng):
    """Return coverage and mean width, in standard deviations of the quantity, at 80% and 90%."""
    X, slopes = rng.normal(size=(n + N_NEW, N_FEATURES)), signal * (np.arange(N_FEATURES) < 5)
    y = X @ slopes + rng.normal(size=n + N_NEW)
    left_out, new = bags(Ridge(10.0), X, y[:n], [np.arange(n)[:, None]], rng)
    ends = [jackknife_interval(left_out, y[:n], new, level) for level in (0.8, 0.9)]
    return np.array(
        [(covers(end, y[n:]).mean(), np.diff(end).mean() / np.sqrt(1 + slopes @ slopes)) for end in ends]
    )


def covers(ends, y):
    return (ends[:, 0] <= y) & (y <= ends[:, 1])


def count_trial(n, rng):
    """Return coverage, also by thirds of the true mean, and width of plain, scaled and root intervals at 90%."""
    X = rng.normal(size=(n + N_NEW, 8))
    rate = np.exp(1.5 + 0.6 * X[:, :2].sum(axis=1))
    y = rng.poisson(rate).astype(float)
    left_out, new = bags(PoissonRegressor(alpha=0.1), X, y[:n], [np.arange(n)[:, None]], rng)
    plain = jackknife_interval(left_out, y[:n], new, 0.9)
    scaled = jackknife_interval(left_out, y[:n], new, 0.9, scales=(np.sqrt(left_out), np.sqrt(new)))
    root = jackknife_interval(np.sqrt(left_out), np.sqrt(y[:n]), np.sqrt(new), 0.9)
    third = np.searchsorted(np.quantile(rate, [1 / 3, 2 / 3]), rate[n:])
    rows = []
    for ends in (plain, scaled, np.maximum(root, 0) ** 2):
        hit = covers(ends, y[n:])
        width = np.diff(np.maximum(ends, 0)).mean()
        rows.append([hit.mean(), *(hit[third == part].mean() for part in range(3)), width])
    return np.array(rows)


def group_trial(n_groups, smallest, largest, rng):
    """Return coverage and width at 90%, without and with groups, for one sample of each of many new groups."""
    sizes = np.geomspace(smallest, largest, n_groups).round().astype(int)
    # Large groups vary less. New samples belong to groups of the same sizes.
    spread = 2 / np.sqrt(np.append(sizes, rng.choice(sizes, N_NEW)))
    group, n = np.repeat(np.arange(n_groups + N_NEW), np.append(sizes, [1] * N_NEW)), sizes.sum()
    X = rng.normal(size=(len(group), 5)) + rng.normal(size=(len(spread), 5))[group]
    y = X[:, 0] + (rng.normal(size=len(spread)) * spread)[group] + 0.3 * rng.normal(size=len(group))
    left_out, new = bags(Ridge(1.0), X, y[:n], [np.split(np.arange(n), np.cumsum(sizes)[:-1])], rng)
    ends = [jackknife_interval(left_out, y[:n], new, 0.9, groups=groups) for groups in (None, group[:n])]
    return np.array([(covers(end, y[n:]).mean(), np.diff(end).mean()) for end in ends])


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sets", type=int, default=100, help="data sets of each design")
    n_sets = parser.parse_args().sets
    warnings.simplefilter("ignore")
    trials = [partial(class_trial, *design) for design in CLASSES] + [partial(count_trial, 60)]
    trials += [partial(quantity_trial, *design) for design in QUANTITIES]
    for trial in trials + [partial(group_trial, *design) for design in GROUPS]:
        found = np.array([trial(np.random.default_rng(seed)) for seed in range(n_sets)])
        print(trial.func.__name__, *trial.args)
        for mean, error in zip(found.mean(axis=0), found.std(axis=0, ddof=1) / np.sqrt(n_sets), strict=True):
            print("  |", " | ".join(f"{a:.3f} ({e:.3f})" for a, e in zip(mean, error, strict=True)), flush=True)


if __name__ == "__main__":
    main()
