"""A kind of target that the package does not have."""

from dataclasses import replace

from ispca.families import FAMILIES, GAUSSIAN
from ispca.foundation.messages import KIND_LABELS, KIND_WORDS
from ispca.targets import TARGETS
from ispca.targets.quantity import Quantity

# The engine samples it as it does a Gaussian regression, and has no lasso for it.
DOSES = replace(GAUSSIAN, name="doses", kind="dose", penalized=None)


class Dose(Quantity):
    """Numbers that nothing else in the package knows the name of."""

    name = "dose"
    plain = False
    named = True
    family = DOSES
    noun = labels = "doses"
    summary = treated_as = "a dose"
    example = ""
    regression = "regression of doses"


DOSE = Dose()


def entries():
    """Yield all lists that a new kind must be in, each with its key and its entry there.

    Other modules make something of a list when they are imported, so the next one is imported after it is changed.
    """
    yield FAMILIES, "doses", DOSES
    yield TARGETS, "dose", DOSE
    yield KIND_WORDS, "dose", "dosage"
    yield KIND_LABELS, "dose", "Dose of a drug"
    from ispca.models import MODELS
    from made_kind_model import HorseshoeDose

    yield MODELS, "dose", HorseshoeDose


def register():
    """Enter the kind in the lists of this process."""
    for listed, key, entry in entries():
        listed[key] = entry
