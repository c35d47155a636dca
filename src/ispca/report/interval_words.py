"""What intervals and P(sign) are, with bags and without, in the words of reports and summaries."""

from __future__ import annotations

from ..targets import Target

# The references of bags, and of sets and intervals from them.
BAGS = (
    "J. H. Huggins and J. W. Miller (2019). Robust inference and model criticism using bagged posteriors. "
    "arXiv:1912.07104."
)
CONFORMAL = (
    "B. Kim, C. Xu and R. F. Barber (2020). Predictive inference is free with the jackknife+-after-bootstrap. "
    "Advances in Neural Information Processing Systems 33:4138-4149."
)


def interval_name(n_bags: int, noun: str = "interval") -> str:
    """Return what an interval is called.

    >>> interval_name(50), interval_name(0, "intervals")
    ('bagged 90% interval', '90% intervals given the components')
    """
    return f"bagged 90% {noun}" if n_bags else f"90% {noun} given the components"


def interval_text(n_bags: int) -> str:
    """Return in a sentence or two where intervals and P(sign) come from.

    >>> interval_text(0)
    'Intervals and P(sign) take the components for given, so intervals are too narrow and P(sign) is too certain.'
    """
    if not n_bags:
        return (
            "Intervals and P(sign) take the components for given, so intervals are too narrow and P(sign) is too "
            "certain."
        )
    return (
        "Effects, 90% intervals and P(sign) are bagged: the whole procedure, from the screening of the features "
        f"to the model, was repeated in {n_bags} bootstrap samples of the data (bags). In simulations, these "
        "intervals contained the truth in 64% to 100% of cases with up to 600 features, and in 48% to 77% with a "
        "weak signal among 5,000 features."
    )


def frequency_text(error_known: bool) -> str:
    """Return how to read the frequency of a feature, and the error rate of the list if it is known."""
    text = "Frequency is the percentage of the bags in which a supervised component chose the feature"
    if not error_known:
        return f"{text}."
    return (
        f"{text}; the error rate is the estimated percentage of false features among all those chosen at least as "
        "often, so it describes the list down to this feature, not the feature itself."
    )


def promise_text(n_bags: int, target: Target, grouped: bool = False) -> str:
    """Return what intervals and sets of new samples promise."""
    start = f"Predictions of new samples come with intervals from {n_bags} bags"
    like = "if new samples are drawn like these" + (", from new groups" if grouped else "")
    if target.timed:
        return f"{start}: bagged 90% intervals of the chances of survival."
    if target.has_classes:
        return (
            f"{start}: a bagged 90% interval of each probability, and a prediction set of classes. Of the new "
            f"samples of each class, about 90% have this class in their set {like}; theory promises at least 80%, "
            "up to the scaling of the features. A class with fewer than 9 samples is in every set."
        )
    return (
        f"{start}: a bagged 90% interval of the mean, and an interval for the value itself. About 90% of new "
        f"values lie in it {like}; theory promises at least 80%, up to the scaling of the features. With fewer "
        "than 9 samples it is infinite."
    )


def columns_text(target: Target) -> str:
    """Return what the columns of intervals and sets in a file of predictions contain."""
    if target.timed:
        return "Columns with _q5 and _q95 are the ends of the bagged 90% interval of each chance of survival."
    if target.has_classes:
        return (
            "Columns with _q5 and _q95 are the ends of the bagged 90% interval of each probability; "
            "prediction_set contains the class of about 90% of the new samples of each class."
        )
    return (
        "mean_q5 and mean_q95 are the ends of the bagged 90% interval of the mean; about 90% of new values lie "
        "between q5 and q95."
    )
