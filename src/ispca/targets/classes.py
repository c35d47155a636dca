"""Classes, with or without an order: what they are, and what models of them predict."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ..families import ORDINAL, Family, class_family
from ..families.ordinal import ordinal_target
from ..foundation.arrays import Floats, protect
from ..foundation.docstrings import share_docs
from . import target_and_prediction_checks as checks
from .intervals import UNKNOWN, measure_intervals
from .measures import (
    ABSOLUTE_ERROR,
    ACCURACY,
    AUC,
    BALANCED_ACCURACY,
    BRIER,
    CALIBRATION_ERROR,
    MLPD,
    RANKED_PROBABILITY,
)
from .samples import SMALLEST_PROBABILITY, Pooled, Prediction, Samples, log_class_probability
from .target import (
    Judgment,
    Kind,
    Predictions,
    Target,
    by_name,
    find_method,
    interval_text,
    mixed_probabilities,
    nan_to_none,
)

# If the largest class has a larger fraction of the samples, the AUC decides: accuracy ignores rare classes.
MOST_COMMON = 2 / 3
# A probability of 0 would have an infinite log density.
CLASS_MLPD = replace(MLPD, limits=(float(np.log(SMALLEST_PROBABILITY)), 0.0))


class Classes(Target):
    """Class labels without an order."""

    name = "classification"
    has_classes = True
    plain = True
    noun = "classes"
    labels = "class labels"
    summary = "classes"
    treated_as = "class labels (classification)"
    example = ", such as tumor and normal"
    regression = "logistic regression"
    screened = "the target"
    measures = by_name(CLASS_MLPD, ACCURACY, BALANCED_ACCURACY, AUC, BRIER, CALIBRATION_ERROR)
    deciding = ACCURACY
    shown_measures = ("accuracy", "auc")

    def choose_family(self, y: Any) -> Family:
        """Return the distribution for the number of classes."""
        return class_family(len(set(y.tolist())))

    def of(self: Kind, y: Any) -> Kind:
        """Return this kind with the classes of a target."""
        return replace(self, classes=np.unique(y))

    def base_rate(self) -> Any:
        """Return the frequencies of the classes."""
        from sklearn.dummy import DummyClassifier

        return DummyClassifier(strategy="prior")

    def predict(self, estimator: Any, parts: Any, samples: Samples) -> Prediction:
        """Return labels and probabilities, or decision values if there are no probabilities."""
        X, y, classes = samples.X, samples.y, self.classes
        value = checks.possible_labels(estimator.predict(protect(X, estimator)), classes, len(y))
        trained = getattr(estimator, "classes_", None)
        if trained is None:
            return Prediction(value)
        if find_method(estimator, "predict_proba") is not None:
            probabilities = class_probabilities(estimator, X, classes, len(y))
            density = log_class_probability(probabilities, np.searchsorted(classes, y))
            return Prediction(value, probabilities, log_density=density)
        decide = find_method(estimator, "decision_function")
        if decide is not None and len(trained) == len(classes):
            ranking = checks.possible_ranking(decide(protect(X, estimator)), len(y), len(classes))
            return Prediction(value, ranking=ranking)
        return Prediction(value)

    def predicted_columns(self, prediction: Prediction, positive: Any = None) -> dict[str, Any]:
        """Return the predicted classes, and the probabilities if there are any."""
        value, found = np.asarray(prediction.value, dtype=np.intp), prediction.probabilities
        chances = np.full((len(value), self.n_classes), None) if found is None else found
        columns = {f"p({self.classes[place]})": chances[:, place] for place in class_order(self.classes, positive)}
        return {"prediction": self.classes[value], **columns}

    def new_columns(self, model: Any, Z: Any, offset: Any, positive: Any = None) -> dict[str, Any]:
        """Return the most probable classes and all probabilities."""
        found = model.predict_proba(Z)
        known = replace(self, classes=model.classes_)
        return known.predicted_columns(Prediction(found.argmax(axis=1), found), positive)

    def mix(self, parts: Sequence[Prediction], weights: Floats) -> Prediction:
        """Return the mixed probabilities, and the most probable class."""
        mixed = mixed_probabilities(parts, weights)
        assert mixed.probabilities is not None
        return replace(mixed, value=mixed.probabilities.argmax(axis=1))

    def judge(self, found: Pooled) -> Judgment:
        """Judge by the accuracy, or by the AUC if most samples belong to one class."""
        held_out, chosen = found.held_out, {"accuracy": ACCURACY}
        sizes = np.bincount(held_out.observed, held_out.weight, minlength=held_out.n_classes)
        largest = float(sizes.max() / sizes.sum())
        if held_out.n_classes == 2 or largest > MOST_COMMON:
            chosen["auc"] = AUC
        estimates = measure_intervals(held_out, found.prediction, chosen)
        right, area = estimates["accuracy"], estimates.get("auc", UNKNOWN)
        areas = {
            "auc": nan_to_none(area.value),
            "auc_low": nan_to_none(area.low),
            "auc_high": nan_to_none(area.high),
        }
        correct, shown = ACCURACY.show(right.value), f"AUC {AUC.show(area.value)}{interval_text(area, AUC)}"
        common = f"compared with {ACCURACY.show(largest)} by always predicting the most common class"
        if largest > MOST_COMMON and np.isfinite(area.low):
            sentence = (
                f"{shown} in held-out samples, compared with 0.50 by guessing; {correct} are classified "
                f"correctly, {common}."
            )
            return Judgment(AUC, area, 0.5, sentence, more=areas)
        sentence = (
            f"{correct} of held-out samples are classified correctly{interval_text(right, ACCURACY)}, {common}"
        )
        sentence += f"; {shown}." if np.isfinite(area.value) else "."
        return Judgment(ACCURACY, right, largest, sentence, more=areas)


class OrderedClasses(Classes):
    """Class labels with an order, such as grades; methods get their numbers."""

    name = "ordinal"
    ordered = True
    plain = False
    named = True
    family = ORDINAL
    noun = labels = summary = treated_as = "ordered classes"
    example = ", such as stages 1 to 4"
    regression = "ordinal regression"
    predicted = "the class"
    screened = Target.screened
    measures = by_name(CLASS_MLPD, RANKED_PROBABILITY, ACCURACY, ABSOLUTE_ERROR)
    shown_measures = ("accuracy", "absolute_error")

    def choose_family(self, y: Any) -> Family:
        """Return the cumulative logit model."""
        return ORDINAL

    def read(self, y: Any) -> Any:
        """Return the numbers of the classes."""
        return ordinal_target(y)[0]


def class_order(classes: Iterable[Any], positive: Any) -> list[int]:
    """Return the places of the classes in the order to show them: as in the model, but the positive one last.

    >>> class_order(["normal", "tumor"], "normal"), class_order(["normal", "tumor"], None)
    ([1, 0], [0, 1])
    """
    names = [str(label) for label in classes]
    return sorted(range(len(names)), key=lambda place: names[place] == positive)


def class_probabilities(estimator: Any, X: Any, classes: Any, n_samples: int) -> Floats:
    """Return checked probabilities of all classes; zero for classes that the training data do not contain."""
    columns = checks.known_labels(np.asarray(estimator.classes_), classes, "classes_ contains")
    if len(np.unique(columns)) < len(columns):
        raise checks.ImpossiblePrediction("classes_ contains a label more than once.")
    probabilities = np.zeros((n_samples, len(classes)))
    predicted = estimator.predict_proba(protect(X, estimator))
    probabilities[:, columns] = checks.possible_probabilities(predicted, n_samples, len(columns))
    return probabilities


CLASSES = Classes()
ORDERED_CLASSES = OrderedClasses()


@share_docs()
class ClassPredictions(Predictions):
    """What a classifier predicts, given probabilities."""

    target: Target = CLASSES
    classes_: np.ndarray
    _probabilities: Callable[[Any], Floats]  # of the classes (samples x classes)

    def _log_probabilities(self, Z: Any) -> Floats:
        with np.errstate(divide="ignore"):
            return np.log(self._probabilities(Z))

    def _check_y(self, y: Any, n_samples: int) -> np.ndarray:
        return checks.observed_codes(y, self.classes_, n_samples)

    def predict(self, X: Any) -> np.ndarray:
        """Return the most probable class.

        $new_samples

        Returns
        -------
        labels : ndarray of shape (n_samples,)
            Class labels.
        """
        most_probable = self.predict_proba(X).argmax(axis=1)
        return self.classes_[most_probable]

    def predict_proba(self, X: Any) -> Floats:
        """Return the predictive probability of each class.

        $new_samples

        Returns
        -------
        probabilities : ndarray of shape (n_samples, n_classes)
            In the order of ``classes_``. A posterior is averaged over its draws; the probabilities of a stack are
            mixed and sharpened by ``inverse_temperature_``.
        """
        return self._probabilities(self._check_new(X))

    def predict_log_proba(self, X: Any) -> Floats:
        """Return the logarithm of the predictive probability of each class.

        $new_samples

        Returns
        -------
        logs : ndarray of shape (n_samples, n_classes)
            In the order of ``classes_``; minus infinity for a probability of 0.
        """
        return self._log_probabilities(self._check_new(X))


class OrderedClassPredictions(ClassPredictions):
    """What a model of ordered classes predicts, given probabilities."""

    target = ORDERED_CLASSES
