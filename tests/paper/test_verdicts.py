"""The rules by which claims are judged, on made-up numbers."""

from types import SimpleNamespace

import numpy as np
import pytest

from paper import comparison_claims as claims
from paper import times_claims
from paper.comparison_tables import average_rows, groups, residual_rows
from paper.data_sets import Selection, paper_sets, stand_ins
from paper.scores import average
from paper.toy import angle
from paper.verdicts import AGREES, DIFFERS, NOT_TESTABLE

ABSENT = ("glioma", "lung", "lung-5c")
PRESENT = tuple(name for name in paper_sets() if name not in ABSENT)
SELECTION = Selection((*PRESENT, "gordon", "gravier"), ABSENT)


@pytest.fixture
def everything(scores):
    """Scores that are as the paper says, on all sets there are."""
    better = {
        "PCA": -0.4,
        "SPCA": -0.38,
        "PSPCA": -0.38,
        "ISPCA_small": -0.36,
        "ISPCA": -0.35,
        "ISPCA_naive": -0.45,
    }
    found = {}
    for name in (*PRESENT, "gordon", "gravier"):
        means = dict(better)
        if name in ("dexter", "basehock", "pcmac"):
            means |= {"SPCA": -0.2, "PSPCA": -0.2}
        if name in ("pcmac", "arcene"):
            means["ISPCA_small"] = -0.6
        found[name] = scores(name, **means)
    return found


def statuses(found):
    return {verdict.claim: verdict.status for verdict in found}


def test_numbers_like_the_papers_agree(everything):
    found = claims.verdicts(everything, SELECTION, "mlpd")
    expected = statuses(found)
    assert expected.pop("naive overfits lung") == NOT_TESTABLE
    assert {claim for claim, status in expected.items() if status != AGREES} == set()
    assert len(expected) == 10


def test_what_is_missing_is_named_and_stand_ins_under_their_own_names(everything):
    (verdict,) = [v for v in claims.verdicts(everything, SELECTION, "mlpd") if v.claim == "naive overfits lung"]
    assert verdict.detail.startswith("data missing: lung; beside it gordon -0.")
    assert "gravier" in verdict.detail
    assert stand_ins("lung") == ("gordon", "gravier")


def test_averages_tell_of_how_many_sets(everything):
    verdict = claims.verdicts(everything, SELECTION, "mlpd")[0]
    assert verdict.detail.endswith("9 of 12 sets, data missing: glioma, lung, lung-5c")


def test_a_lasso_that_is_better_differs(everything):
    for one in everything.values():
        one.values["lasso-best"] = one.values["PCA"] + 0.01
    plain, best = claims.verdicts(everything, SELECTION, "mlpd")[:2]
    assert (plain.status, best.status) == (AGREES, DIFFERS)
    assert "PCA -0.010" in best.detail


def test_another_best_method_differs_by_how_much(everything):
    for name in ("ovarian", "colon"):
        everything[name].values["ridge"] = everything[name].values["ISPCA"] + 1.0
    own = {name: one for name, one in everything.items() if name in PRESENT}
    verdict = claims.best_on(own, SELECTION, "ISPCA", "expression")
    assert verdict.status == DIFFERS
    assert verdict.detail.startswith("ridge is ahead of it by +0.")
    # Our own methods are no rivals: the paper does not know them.
    everything["colon"].values["ISPCA-residual"] = everything["colon"].values["ISPCA"] + 100
    assert "ISPCA-residual" not in claims.best_on(own, SELECTION, "ISPCA", "expression").detail


def test_the_best_of_the_reductions_is_named_where_the_lasso_is_ahead(everything):
    text = {name: everything[name] for name in ("dexter", "basehock", "pcmac")}
    for one in text.values():
        one.values["lasso"] = one.values["SPCA"] + 0.1
    verdict = claims.best_on(text, SELECTION, "SPCA", "text")
    assert verdict.status == DIFFERS
    assert "lasso is ahead of it by +0.1" in verdict.detail
    # PSPCA is a variant of SPCA and so no rival.
    assert "of the reductions it is the best, ahead of ISPCA by +0.1" in verdict.detail
    for one in text.values():
        one.values["ISPCA"] = one.values["SPCA"] + 0.05
    assert "of the reductions" not in claims.best_on(text, SELECTION, "SPCA", "text").detail


def test_a_difference_within_its_interval_differs_and_says_so(scores):
    one = scores("colon")
    # Without the correction for overlapping training parts the interval is clear of 0.
    one.values["ISPCA-naive"] = one.values["ISPCA"] + np.tile([-0.36, 0.04], 5)
    found, plain = one.estimate("ISPCA-naive", "ISPCA"), one.uncorrected("ISPCA-naive", "ISPCA")
    assert found.high > 0 > plain.high
    verdict = claims.overfits({"colon": one}, SELECTION, "colon")
    assert verdict.status == DIFFERS
    assert f"the sign agrees, but the interval includes 0 (uncorrected {plain.low:+.3f}" in verdict.detail


def test_small_but_certain_differences_are_alike(scores):
    same = {"colon": scores("colon", spread=1e-6, SPCA=-0.30, PSPCA=-0.31)}
    assert claims.alike(same, SELECTION, 0.02).status == AGREES
    assert claims.alike(same, SELECTION, 0.005).status == DIFFERS


def test_harm_is_named(scores):
    harmed = {"colon": scores("colon", ISPCA=-0.6, ISPCA_small=-0.3)}
    verdict = claims.never_harmful(harmed, SELECTION)
    assert verdict.status == DIFFERS
    assert "colon -0.3" in verdict.detail


def test_nothing_run_is_not_testable():
    found = claims.verdicts({}, Selection(("gordon",)), "accuracy")
    assert set(statuses(found).values()) == {NOT_TESTABLE}
    assert all(verdict.detail.startswith("left out by --sets") for verdict in found)


def test_the_average_has_the_intervals_it_should(scores):
    members = [scores("colon", PCA=0.2, lasso=0.0), scores("ovarian", PCA=0.4, lasso=0.0)]
    given, over_sets = average(members, "PCA", "lasso")
    assert given.mean == over_sets.mean == pytest.approx(0.3, abs=0.02)
    errors = [one.estimate("PCA", "lasso").high - one.estimate("PCA", "lasso").mean for one in members]
    assert given.high - given.mean == pytest.approx(np.hypot(*errors) / 2)
    # Two sets that differ by 0.2 say little of other sets.
    assert over_sets.high - over_sets.mean == pytest.approx(12.706 * 0.1, rel=0.01)


def test_a_failed_fit_does_not_spoil_the_rest(scores):
    one = scores("colon", PCA=0.2)
    one.values["PCA"][3] = np.nan
    assert np.isfinite(average([one], "PCA", "lasso").given.low)
    one.values["PCA"][:] = np.nan
    assert np.isnan(average([one], "PCA", "lasso").given.mean)


def test_tables(everything):
    everything["colon"].values["ISPCA-residual"] = everything["colon"].values["ISPCA"] + 0.1
    rows = {row["set"]: row for row in residual_rows(everything)}
    assert rows["colon"]["difference"] == pytest.approx(0.1)
    assert (rows["colon"]["splits_better"], rows["colon"]["splits_worse"]) == (10, 0)
    assert rows["average, with stand-ins"]["n_sets"] == 11
    assert {name: len(members) for name, members in groups(everything).items()} == {
        "paper's sets": 9,
        "with stand-ins": 11,
        "expression": 5,
        "expression with stand-ins": 7,
        "text": 3,
    }
    assert len(average_rows(everything)) == 5 * 11


def times(name, factor=1.0, share=1.0):
    found = {}
    for method, (seconds, percent) in times_claims.PAPER[name].items():
        reduction = seconds * factor * share * percent / 100
        found[method] = (reduction, seconds * factor - reduction)
    return {name: found}


def test_times():
    context = SimpleNamespace(sets=Selection(("leukemia", "chowdary"), ABSENT))
    seconds = times("leukemia") | {"chowdary": times("glioma")["glioma"]}
    found = {verdict.claim: verdict for verdict in times_claims.verdicts(seconds, context)}
    assert found["leukemia: 9.6 / 8.3 / 8.4 / 1 seconds"].status == AGREES
    assert found["leukemia: the reduction takes 2 / 21 / 24 per cent"].status == AGREES
    glioma = found["glioma: 14.6 / 16.6 / 14.5 / 2.7 seconds"]
    assert glioma.status == NOT_TESTABLE
    assert "beside it chowdary 14.60" in glioma.detail
    fast = times_claims.verdicts(times("leukemia", 0.1, 3.0), context)
    assert [verdict.status for verdict in fast[:2]] == [DIFFERS, DIFFERS]
    assert "10 / 10 / 10 / 10 times as fast" in fast[0].detail
    assert statuses(fast)["fitting the model takes most of the time"] == DIFFERS


def test_angles_do_not_know_signs():
    assert angle([0, 1], [0, -3]) == 0
    assert angle([1, 0], [1, 1]) == pytest.approx(45)


def test_a_variant_is_no_rival_but_is_told(everything):
    for name in ("dexter", "basehock", "pcmac"):
        everything[name].values["PSPCA"] = everything[name].values["SPCA"] + 0.015
    verdict = claims.best_on(everything, SELECTION, "SPCA", "text")
    assert verdict.status == AGREES
    assert "its variant PSPCA is ahead of it by +0.015" in verdict.detail
