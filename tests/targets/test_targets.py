"""Every kind of target has all facts that the package asks for."""

import pickle

import pytest

from ispca.families import FAMILIES
from ispca.foundation.messages import KIND_WORDS
from ispca.targets import CLASSES, TARGETS, Target, find_target

EACH = pytest.mark.parametrize("target", TARGETS.values(), ids=TARGETS)


def test_the_names_are_those_of_options_and_families():
    assert list(TARGETS) == list(KIND_WORDS)
    assert {family.kind for family in FAMILIES.values()} == set(TARGETS)


@EACH
def test_every_kind_has_all_facts(target):
    missing = [name for name in Target.__annotations__ if not hasattr(target, name)]
    assert not missing
    assert target.option == KIND_WORDS[target.name]
    assert target.has_classes + target.timed + target.numeric == 1


@EACH
def test_its_family_is_of_this_kind(target):
    if target.family is not None:
        assert target.family.kind == target.name


@EACH
def test_it_can_be_sent_to_a_worker(target):
    assert pickle.loads(pickle.dumps(target)).name == target.name


def test_an_unknown_kind_gets_a_suggestion():
    assert find_target("classification") is CLASSES
    with pytest.raises(ValueError, match=r"kind='clasification' is unknown. Did you mean classification\?"):
        find_target("clasification")
