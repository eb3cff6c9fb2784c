"""Policies decide as their words say: against the aggregators, scikit-learn, and decisions worked out by hand."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from optimizer.config import Settings, load_settings
from optimizer.data.item import Item, Label, Task
from optimizer.debate.aggregate import decide
from optimizer.debate.policy import Knots, Policy, Sigmoid, Stacker, Veto, decide_turns
from optimizer.debate.policy_file import check_policy, digest, policy_toml, read_policy
from optimizer.debate.records import Turn
from optimizer.debate.verdict import Outcome, Verdict
from optimizer.errors import UserError
from optimizer.sections import Aggregator
from tests.conftest import make_items

PERSONAS = ("skeptic", "advocate", "expert")
EQUAL = Policy(PERSONAS, "weighted", weights=(1.0, 1.0, 1.0))
SIGNS = {Label.GROUNDED: 1, Label.NOT_GROUNDED: -1, None: 0}
AS_AGGREGATORS: dict[Aggregator, Policy] = {
    "rule": Policy(PERSONAS, veto=Veto("skeptic")),
    "majority": Policy(PERSONAS),
    "confidence": replace(EQUAL, confidence="raw"),
    "last_speaker": replace(EQUAL, weights=(0.0, 0.0, 1.0)),
}
POLICIES = [
    *AS_AGGREGATORS.values(),
    Policy(PERSONAS, round="first", threshold=0.8333, veto=Veto("expert", 0.8, "always")),
    replace(EQUAL, weights=(0.25, 1.0, -0.5), confidence="raw", false_grounded=1.5, abstention=0.2, veto=Veto("advocate", 0.6)),
    replace(EQUAL, confidence="calibrated", curves=(Knots((0.5, 0.9), (0.25, 0.75)), Sigmoid(-2.0, 3.5), Knots((0.5,), (0.9,)))),
    Policy(PERSONAS, "stacker", stacker=Stacker(0.1, (0.5, -1.0, 0.3), (1.0, 0.0, 2.0)), false_grounded=0.5, abstention=0.1),
]


def turns(votes: tuple[Label | None, ...], confidences: tuple[float | None, ...], number: int = 1) -> list[Turn]:
    return [
        Turn(persona, number, "", "", "stop", Verdict(Outcome.OK if vote else Outcome.UNPARSED, vote, confidence))
        for persona, vote, confidence in zip(PERSONAS, votes, confidences, strict=True)
    ]


@pytest.mark.parametrize("aggregator", AS_AGGREGATORS)
def test_every_aggregator_is_a_policy_on_all_profiles_of_votes(aggregator: Aggregator) -> None:
    policy = AS_AGGREGATORS[aggregator]
    for votes in product(SIGNS, repeat=3):
        for confidences in product((None, 0.0, 50.0, 85.0), repeat=3):
            held = turns(votes, confidences)
            assert decide_turns(policy, held)[0] is decide({turn.persona: turn.verdict for turn in held}, aggregator)[0]


@pytest.mark.parametrize("policy", POLICIES, ids=lambda policy: policy.rule)
def test_a_debate_is_decided_alike_alone_and_among_many(policy: Policy) -> None:
    generator = np.random.default_rng(0)
    votes = generator.integers(-1, 2, (500, 3)).astype(np.int8)
    sure = np.where(generator.random((500, 3)) < 0.2, np.nan, generator.integers(0, 101, (500, 3)) / 100)
    together = policy.decide(votes, sure)
    assert [int(policy.decide(votes[i : i + 1], sure[i : i + 1])[0]) for i in range(500)] == together.tolist()
    assert set(together.tolist()) >= {1, -1}


def test_who_is_missing_casts_no_vote_and_the_last_round_is_the_highest() -> None:
    yes, no = Label.GROUNDED, Label.NOT_GROUNDED
    held = [*turns((yes, yes, no), (80, 80, 80)), *turns((no, no, no), (80, 80, 80), 2)]
    assert decide_turns(Policy(PERSONAS), held) == (no, "policy")
    assert decide_turns(Policy(PERSONAS, round="first"), held) == (yes, "policy")
    assert decide_turns(Policy((*PERSONAS, "chair"), threshold=0.75), held) == (None, "abstain")


def test_a_negative_weight_and_a_bad_calibration_turn_a_vote_round() -> None:
    votes, sure = np.array([[1, 0, 0], [-1, 0, 0]], dtype=np.int8), np.full((2, 3), 0.9)
    assert replace(EQUAL, weights=(-1.0, 0.0, 0.0)).decide(votes, sure).tolist() == [-1, 1]
    flipped = replace(
        EQUAL, confidence="calibrated", curves=(Knots((0.5,), (0.2,)), Knots((0.5,), (0.5,)), Knots((0.5,), (0.5,)))
    )
    assert flipped.decide(votes, sure).tolist() == [-1, 1]


@pytest.mark.parametrize("cost", [0.25, 1.0, 3.0])
def test_the_decision_is_the_one_that_costs_less_to_be_wrong_about(cost: float) -> None:
    chance = np.array([0.01, 0.19, 0.21, 0.49, 0.51, 0.74, 0.76, 0.99])
    decided = replace(EQUAL, false_grounded=cost).settle(np.ones((8, 3), dtype=np.int8), np.ones((8, 3)), chance)
    cheaper = np.where((1 - chance) * cost < chance, 1, -1)
    assert decided.tolist() == cheaper.tolist()


def test_abstention_is_a_share_of_the_way_from_the_turning_point_to_certainty() -> None:
    policy = replace(EQUAL, false_grounded=3.0, abstention=0.5)  # it turns at .75
    chance = np.array([0.37, 0.38, 0.75, 0.87, 0.88])
    assert policy.settle(np.ones((5, 3), dtype=np.int8), np.ones((5, 3)), chance).tolist() == [-1, 0, 0, 0, 1]


def test_a_veto_needs_its_confidence_and_speaks_where_it_may() -> None:
    votes = np.array([[-1, 1, 1], [-1, 1, 0], [-1, 1, 0]], dtype=np.int8)
    sure = np.array([[0.9, 0.9, 0.9], [0.9, 0.9, 0.9], [0.7, 0.9, 0.9]])
    assert Policy(PERSONAS, veto=Veto("skeptic", 0.8)).decide(votes, sure).tolist() == [1, -1, 0]
    assert Policy(PERSONAS, veto=Veto("skeptic", 0.8, "always")).decide(votes, sure).tolist() == [-1, -1, 0]


def test_the_stacker_gives_the_chances_of_scikit_learn() -> None:
    generator = np.random.default_rng(1)
    votes = generator.integers(-1, 2, (200, 3)).astype(np.int8)
    sure = generator.integers(0, 101, (200, 3)) / 100
    inputs = np.hstack([votes, votes * sure])
    labels = (inputs @ [1, 0.5, -0.3, 2, 1, 0] + generator.normal(size=200)) > 0
    fitted = LogisticRegression().fit(inputs, labels)
    a, *b = [*fitted.intercept_, *fitted.coef_[0]]
    policy = Policy(PERSONAS, "stacker", stacker=Stacker(a, tuple(b[:3]), tuple(b[3:])))
    assert policy.chance(votes, sure) == pytest.approx(fitted.predict_proba(inputs)[:, 1], abs=1e-12)
    assert (policy.decide(votes, sure) > 0).tolist() == fitted.predict(inputs).tolist()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"weights": (0.0, 0.0, 0.0)}, "a weight other than 0"),
        ({"weights": (1.0,)}, "weights must be given for each of skeptic, advocate, expert, but there are 1"),
        ({"confidence": "calibrated"}, "calibration must be given for each"),
        ({"rule": "stacker"}, "there are no coefficients"),
        ({"threshold": 1.0}, "threshold and abstention must be"),
        ({"false_grounded": 0.0}, "false_grounded above 0"),
        ({"veto": Veto("judge")}, "a veto needs one of skeptic, advocate, expert"),
        ({"personas": ("a", "a")}, "each once"),
    ],
)
def test_a_policy_that_makes_no_sense_is_refused(change: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        replace(EQUAL, **change)  # type: ignore[arg-type]


@pytest.mark.parametrize("policy", POLICIES, ids=lambda policy: policy.rule)
def test_a_policy_file_is_read_back_as_it_was_written(policy: Policy, tmp_path: Path) -> None:
    path = tmp_path / "policy.toml"
    path.write_text(policy_toml(policy, {"runs": ["one"], "gain": 0.1}), encoding="utf-8")
    assert read_policy(path) == policy


def test_what_decides_is_hashed_and_what_does_not_is_left_out(tmp_path: Path) -> None:
    path = tmp_path / "policy.toml"
    path.write_text("# mine\n" + policy_toml(EQUAL, {"runs": ["another"]}), encoding="utf-8")
    assert digest(read_policy(path)) == digest(EQUAL)
    assert digest(replace(EQUAL, abstention=0.1)) != digest(EQUAL)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("v = 1", "v = 2", "is version 2 of a policy file, but version 1 is read"),
        ("v = 1", "v = 1\ncolour = 1", "colour: Extra inputs are not permitted"),
        ('rule = "weighted"', 'rule = "oracle"', "rule: Input should be"),
        ("expert = 1.0", "judge = 1.0", "weights is given for skeptic, advocate, judge, but the personas are"),
        ("abstention = 0.0", "abstention = 1.5", "threshold and abstention must be"),
        ("abstention = 0.0", "abstention = nan", "abstention: Input should be a finite number"),
        ("abstention = 0.0", "abstention =", "cannot be read as a policy file"),
    ],
)
def test_a_bad_file_is_refused_by_name(tmp_path: Path, old: str, new: str, message: str) -> None:
    path = tmp_path / "policy.toml"
    path.write_text(policy_toml(EQUAL).replace(old, new), encoding="utf-8")
    with pytest.raises(UserError, match=rf"policy\.toml: .*{message}"):
        read_policy(path)


def chosen(tmp_path: Path, policy: Policy, **flags: object) -> Settings:
    (tmp_path / "policy.toml").write_text(policy_toml(policy), encoding="utf-8")
    return load_settings({"policy": str(tmp_path / "policy.toml"), **flags})


def test_a_policy_of_another_panel_or_without_what_it_reads_is_refused(tmp_path: Path) -> None:
    items = make_items(2)
    check_policy(chosen(tmp_path, EQUAL), ["expert", "skeptic", "advocate"], items)
    with pytest.raises(UserError, match="made for the personas skeptic, advocate, expert, but the panel seats skeptic, expert;"):
        check_policy(chosen(tmp_path, EQUAL), ["skeptic", "expert"], items)
    sure = replace(EQUAL, confidence="raw")
    fields = {"protocol.fields": ["verdict"], "protocol.shared": ["verdict"]}
    check_policy(chosen(tmp_path, EQUAL, **fields), PERSONAS, items)
    with pytest.raises(UserError, match=r"reads confidences, but protocol\.fields has none"):
        check_policy(chosen(tmp_path, sure, **fields), PERSONAS, items)
    question = Item("q", "Which?", ("E.",), None, "q", task=Task.CHOICE, choices=("a", "b"), answers=("A",))
    with pytest.raises(UserError, match="policies decide on claims, but item 'q' is a question"):
        check_policy(chosen(tmp_path, EQUAL), PERSONAS, [question])
    with pytest.raises(UserError, match="no such policy file"):
        check_policy(load_settings({"policy": str(tmp_path / "none.toml")}), PERSONAS, items)
