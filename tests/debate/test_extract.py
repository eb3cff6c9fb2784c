"""Answers to questions are read right however they are dressed, by whole words and with their signs, and never guessed."""

from __future__ import annotations

from fractions import Fraction

import pytest

from optimizer.data.item import Item, Label, Task
from optimizer.data.numbers import number_text, numbers_in, read_number, tidy
from optimizer.debate.answers.text import canonical_text
from optimizer.debate.extract import Extracted, Status, extract, is_right, read_question
from optimizer.debate.verdict import Outcome

NONE, AMBIGUOUS = "-", "?"


def question(task: Task, choices: tuple[str, ...] = (), answers: tuple[str, ...] = ("x",)) -> Item:
    return Item("q", "What is it?", (), None, "c", task=task, choices=choices, answers=answers)


CITIES = question(Task.CHOICE, ("Rome", "Paris", "London", "A dog"), ("B",))
WRONG = question(Task.CHOICE, ("not wrong", "wrong"), ("A",))
SENTENCES = question(Task.CHOICE, ("It is legal.", "It is not legal anywhere", "It is legal in Texas"), ("A",))
DIGITS = question(Task.CHOICE, ("1", "2", "-2", "2.5"), ("B",))
NUMBER = question(Task.NUMBER, answers=("12",))
TEXT = question(Task.TEXT, answers=("Paris", "City of Light"))


def read(text: str, item: Item) -> str:
    """The answer, or "?" where it is ambiguous and "-" where there is none."""
    found = extract(text, item)
    assert (found.answer == "") is (found.status is not Status.PARSED)
    return found.answer or {Status.AMBIGUOUS: AMBIGUOUS, Status.NONE: NONE}[found.status]


CHOICES = [
    # the forms that are asked for
    ("B", "B"), ("(B)", "B"), ("B.", "B"), ("**B**", "B"), ("B)", "B"), ("[B]", "B"), ("`B`", "B"), (" B\n", "B"), ("b", "B"),
    ("B) Paris", "B"), ("B. Paris", "B"), ("(B) Paris", "B"), ("**B.** Paris", "B"), ("B: Paris", "B"), ("B - Paris", "B"),
    ("B Paris", "B"), ("option B", "B"), ("Option B.", "B"), ("Choice B", "B"), ("Answer B", "B"), ("the answer is B", "B"),
    ("The answer is (B).", "B"), ("Answer: B", "B"), ("Answer: **B**", "B"), ("**Answer:** B", "B"), ("Answer:\n\nB", "B"),
    ("answer: b", "B"), ("The correct option is B", "B"), ("The best choice is B: Paris", "B"),
    ("The right answer is option B.", "B"),
    ("\\boxed{B}", "B"), ("$\\boxed{\\text{B}}$", "B"), ("I choose B", "B"), ("I would go with B.", "B"),
    ("I vote for option B", "B"),
    ("So it must be B.", "B"), ("I think it's B because it is the capital", "B"), ("B is correct.", "B"), ("Ｂ", "B"),
    ("\u200bB", "B"),
    ("Paris", "B"), ("paris.", "B"), ("**Paris**", "B"), ("The capital is Paris.", "B"), ("The answer is Paris.", "B"),
    ("The answer is Paris, not Rome.", "B"), ("Paris is far away.\nB", "B"), ("B\nParis is the capital, Rome is not.", "B"),
    ("The answer is definitely the second option, Paris.", "B"), ("The answer to this question is B", "B"),
    # whole words only
    ("Answer: Because it is large", NONE), ("Because", NONE), ("Answer: Belgium", NONE), ("ABCD", NONE), ("B-cells", NONE),
    ("C++ is a language", NONE), ("Answer: C++", NONE), ("Vitamin C is good for you", NONE), ("Plan B failed", NONE),
    ("Parisian food", NONE), ("D'oh", NONE), ("E", NONE), ("Answer: E", NONE), ("F) Berlin", NONE), ("2", NONE),
    ("Answer: 2", NONE),
    # an article is no letter
    ("A cat is an animal.", NONE), ("The answer is a cat", NONE), ("The answer is A cat", NONE), ("Answer: a", "A"),
    ("A", "A"),
    ("Answer: A", "A"), ("The answer is A because of the Senate", "A"), ("A) Rome", "A"), ("A. Rome", "A"),
    ("Answer: A Rome", "A"),
    ("A dog is an animal.", "D"), ("Answer: A dog", "D"), ("The answer is a dog", "D"), ("The answer is D (a dog)", "D"),
    ("I think A is what they mean.", NONE),
    # two answers
    ("Answer: B or C", AMBIGUOUS), ("B or C", AMBIGUOUS), ("B/C", AMBIGUOUS), ("A and B", AMBIGUOUS), ("B, C", AMBIGUOUS),
    ("The answer is A, B, C, or D", AMBIGUOUS), ("Answer: [A/B/C/D]", AMBIGUOUS), ("Rome or Paris", AMBIGUOUS),
    ("Answer: B) London", AMBIGUOUS), ("A) Rome\nB) Paris\nC) London\nD) A dog", AMBIGUOUS),
    ("option A or option B", AMBIGUOUS),
    ("The answer is B. Wait. The answer is C.", AMBIGUOUS), ("Final answer: B\nFinal answer: C", AMBIGUOUS),
    ("\\boxed{A} \\boxed{B}", AMBIGUOUS), ("I think B. No, I think C.", AMBIGUOUS), ("A\nno\nB", AMBIGUOUS),
    # a stated answer before a mention, a final one before a stated one
    ("A) Rome is in Italy.\nB) Paris is it.\n\nAnswer: B", "B"), ("First I thought of option A. The answer is B.", "B"),
    ("Answer: A\nFinal answer: B", "B"), ("Final answer: B\nAnswer: A would be wrong", "B"),
    ("The answer is B. So the answer is B.", "B"),
    ("Option A is tempting. Option C too.\n\\boxed{B}", "B"), ("Initial answer: A. Final answer: B", "B"),
    # denied, negated, somebody else's
    ("The answer is not A", NONE), ("The answer isn't A", NONE), ("It isn't Paris", NONE), ("It is not option C", NONE),
    ("Not A. Not C. So B.", "B"), ("Option A is wrong. Option B is right.", "B"), ("(A) is wrong; (B) is right", "B"),
    ("Both A and C are wrong, B is correct.", "B"), ("Answer: A is wrong, B is right", "B"), ("I would not choose A", NONE),
    ("Wrong answer: A. Correct answer: B", "B"), ("The Skeptic's answer is A, my answer is B", "B"),
    ("B) Paris\nOption A is wrong.", "B"),
    # JSON, tags, thinking
    ('{"answer": "B"}', "B"), ('{"answer": "(B) Paris"}', "B"), ('{"answer": "Paris"}', "B"), ('{"verdict": "B"}', "B"),
    ('{"reason": "Rome is option A", "answer": "B"}', "B"), ('```json\n{"answer": "B",}\n```', "B"),
    ("{'answer': 'B', 'sure': True}", "B"),
    ('{"answer": "b"}', "B"), ('{"Answer": "B"}', "B"), ('{"answer": {"final_answer": "B"}}', "B"),
    ('{"answer": "B", "final_answer": "C"}', "C"),
    ('Sure.\n{"answer": "B"}\nHope {this} helps', "B"), ('{"answer":"B"}{"answer":"B"}', "B"), ('{"answer": "B"', "B"),
    ('"B"', "B"),
    ('{"answer":"A"}{"answer":"B"}', AMBIGUOUS), ('{"answer":"A","answer":"B"}', AMBIGUOUS),
    ('{"answer": "A or B"}', AMBIGUOUS),
    ('{"answer": ["A","B"]}', AMBIGUOUS), ('{"answer": ["B"]}', "B"), ('{"answer": null}', NONE), ('{"answer": ""}', NONE),
    ('{"reason": "It is option A"}', NONE), ('{"reason": "It is option A", "ans', NONE), ("So {a, b}: the answer is B", "B"),
    ('{"answer": "Because"}', NONE), ('{"answer": "E"}', NONE), ('{"answer": "he said "no" (B)", "answer": "B"}', "B"),
    ("<answer>B</answer>", "B"), ("<answer>A</answer><answer>B</answer>", AMBIGUOUS),
    ('<think>maybe {"answer": "A"}?</think>B', "B"), ('so {"answer": "A"} is wrong</think>{"answer": "B"}', "B"),
    ("<think>it is B", NONE),
    ("The answer is A, I first thought </think> The answer is B", "B"),
    # nothing
    ("", NONE), (" \n", NONE), ("None of these.", NONE), ("I do not know.", NONE), ("P(A) is small and f(B) large", NONE),
    ("I'm sorry, I can't help with that.", NONE),
]  # fmt: skip


@pytest.mark.parametrize(("text", "expected"), CHOICES, ids=[repr(text) for text, _ in CHOICES])
def test_a_choice_is_read_as_it_is_meant(text: str, expected: str) -> None:
    assert read(text, CITIES) == expected


@pytest.mark.parametrize(
    ("text", "item", "expected"),
    [
        ("not wrong", WRONG, "A"), ("wrong", WRONG, "B"), ("It is not wrong.", WRONG, "A"), ("This was wrong.", WRONG, "B"),
        ("The answer is not wrong.", WRONG, "A"), ("Wrongly done", WRONG, NONE), ("It is legal.", SENTENCES, "A"),
        ("it is legal in texas", SENTENCES, "C"), ("The answer is: It is not legal anywhere.", SENTENCES, "B"),
        ("2", DIGITS, "B"), ("-2", DIGITS, "C"), ("Answer: 2", DIGITS, "B"), ("Answer: -2", DIGITS, "C"),
        ("Answer: 2.5", DIGITS, "D"),
        ("B", DIGITS, "B"), ("It is 12", DIGITS, NONE), ('{"answer": 2}', DIGITS, "B"), ('{"answer": -2}', DIGITS, "C"),
        ("Answer: B", question(Task.CHOICE, ("B", "C", "A"), ("A",)), "B"),
        ("I think it is right.", question(Task.CHOICE, tuple(f"no {i}" for i in range(10)), ("A",)), NONE),
        ("A finite group has one. The group is abelian, since it commutes.",
         question(Task.CHOICE, ("finite", "abelian"), ("B",)), NONE),
        ("non-finite", question(Task.CHOICE, ("finite", "infinite"), ("B",)), NONE),
    ],
)  # fmt: skip
def test_texts_of_choices_are_read_verbatim_and_longest_first(text: str, item: Item, expected: str) -> None:
    assert read(text, item) == expected


NUMBERS = [
    # how numbers are written
    ("12", "12"), ("12.", "12"), ("12.0", "12"), ("012", "12"), ("-12", "-12"), ("−12", "-12"), ("–12", "-12"), ("+12", "12"),
    ("minus 12", "-12"), ("negative 12", "-12"), ("$12", "12"), ("-$12", "-12"), ("$-12", "-12"), ("12 €", "12"),
    ("12%", "12"),
    ("12 %", "12"), ("1,200", "1200"), ("1,234,567.50", "1234567.5"), ("1{,}200", "1200"), ("1\u202f200", "1200"),
    (".5", "0.5"), ("12 apples", "12"),
    ("10km", "10"), ("1/2", "0.5"), ("1/3", "1/3"), ("½", "0.5"), ("1½", "1.5"), ("1 1/2", "1.5"),
    ("\\frac{3}{4}", "0.75"), ("2/6", "1/3"),
    ("1e3", "1000"), ("3 × 10^4", "30000"), ("10²", "100"), ("2 million", "2000000"), ("$10k", "10000"), ("１２", "12"),
    ("**12**", "12"),
    # stated
    ("The answer is 12.", "12"), ("Answer: 12", "12"), ("Answer: -12", "-12"), ("**Answer:** −12", "-12"),
    ("Answer: - 12", "-12"),
    ("Answer - 12", "12"), ("The answer is $-5$", "-5"), ("The answer is \\(-5\\).", "-5"), ("#### 12", "12"),
    ("#### -3", "-3"),
    ("#### 1,200 dollars", "1200"), ("\\boxed{12}", "12"), ("$$\\boxed{-\\frac{1}{2}}$$", "-0.5"), ("Answer:\n\n18", "18"),
    ("The answer is:\n\\[\n 18 \n\\]", "18"), ("**Answer: $18**", "18"), ("Answer: x = -5", "-5"),
    ("Answer: 3 * 4 = 12", "12"),
    ("The answer is 12 apples, since 3 times 4 is 12.", "12"), ("Answer: $18 per day (2 * 9)", "18"),
    ("The final answer is (12).", "12"),
    ("She buys 3 boxes of 4. The answer is 12.", "12"), ("3 + 4 = 7\n7 + 5 = 12\n#### 12", "12"),
    ("3*4=12\n12+5=17\n17", "17"),
    ("12\nConfidence: 90", "12"), ("Answer: 12, confidence 90", "12"),
    ("The answer is approximately 3.5 million.", "3500000"),
    ("Answer: Let's think. 3+4=7. So it is 7.", AMBIGUOUS), ("The answer is 12. So 12.0 is the answer.", "12"),
    ("Final answer: 12\nThe answer is 13", "12"), ("The answer is 13.\n\\boxed{12}", "12"),
    ("First 5, then 7. Final answer: 12", "12"),
    # one number named, or a sum
    ("She ends with 12 apples.", "12"), ("There are 12 left; that is 12.", "12"), ("3 + 4 = 7", "7"),
    # several
    ("1 or 2", AMBIGUOUS), ("She has 3 apples and 4 pears.", AMBIGUOUS), ("The answer is 1 or 2", AMBIGUOUS),
    ("3-5", AMBIGUOUS),
    ("The answer is 5 hours and 30 minutes", AMBIGUOUS), ("Answer: 3 boxes of 4", AMBIGUOUS), ("between 3 and 5", AMBIGUOUS),
    ("The answer is 12. The answer is 13.", AMBIGUOUS), ("\\boxed{12} and \\boxed{13}", AMBIGUOUS), ("10:30", AMBIGUOUS),
    ("Answer: 12\n\nQuestion: and then?\nAnswer: 13", AMBIGUOUS), ("#### 1. Compute\n3+4=7", AMBIGUOUS),
    ("12 or -12", AMBIGUOUS),
    ("She has 12 apples, then 3 more.", AMBIGUOUS), ("The answer is that she bought 3 apples, so 3 and 4 are 7", AMBIGUOUS),
    ("She had x = 3 and got y = 4", AMBIGUOUS), ("The answer is that John has 12 left.", "12"), ("12, because 3 and 4", "12"),
    # JSON
    ('{"answer": 12}', "12"), ('{"answer": 12.0}', "12"), ('{"answer": -12}', "-12"), ('{"answer": "−12"}', "-12"),
    ('{"answer": "1,200"}', "1200"),
    ('{"answer": "12 apples"}', "12"), ('{"answer": "$12.50"}', "12.5"), ('{"reason": "3 + 4 = 7", "answer": 7}', "7"),
    ('{"answer": 1e3}', "1000"),
    ('{"reason": "3*4", "answer": 12', "12"), ('{"answer": 12, "reason": "He said "no" twice"}', "12"),
    ('{"answer": "1 or 2"}', AMBIGUOUS),
    ('{"answer": 1}{"answer": 2}', AMBIGUOUS), ('{"answer": 12}{"answer": "12.0"}', "12"), ('{"answer": null}', NONE),
    ('{"answer": "none"}', NONE),
    ("<think>3 or 4? 7</think>\n12", "12"),
    # none
    ("", NONE), ("twelve", NONE), ("H2O", NONE), ("the 3rd", NONE), ("The answer is not 5", NONE), ("1.2.3", NONE),
    ("1/0", NONE),
]  # fmt: skip


@pytest.mark.parametrize(("text", "expected"), NUMBERS, ids=[repr(text) for text, _ in NUMBERS])
def test_a_number_is_read_as_it_is_meant(text: str, expected: str) -> None:
    assert read(text, NUMBER) == expected


TEXTS = [
    ("Paris", "paris"), ("The Paris.", "paris"), ("It is Paris.", "paris"), ("The answer is Paris.", "paris"),
    ("Answer: **Paris**", "paris"),
    ("Answer: Paris. It is the capital of France.", "paris"), ('{"answer": "Paris, France"}', "paris france"),
    ("\\boxed{\\text{Paris}}", "paris"),
    ("Answer: London\nFinal answer: Paris", "paris"), ("Answer: London\nAnswer: Paris", AMBIGUOUS),
    ("<think>London?</think> Paris", "paris"),
    ('{"answer":"London"}{"answer":"Paris"}', AMBIGUOUS), ("Answer:\nParis", "paris"),
    ("The answer is Mr. Smith", "mr smith"),
    ("", NONE), ("...", NONE), ("I don't know", NONE), ("n/a", NONE), ('{"answer": null}', NONE),
    ("I can't help with that.", NONE),
    ("word " * 41, NONE), ('{"answer": 12}', "12"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "expected"), TEXTS, ids=[repr(text[:60]) for text, _ in TEXTS])
def test_a_text_is_read_as_it_is_meant(text: str, expected: str) -> None:
    assert read(text, TEXT) == expected


@pytest.mark.parametrize(
    ("text", "canonical"),
    [
        ("The U.S.", "us"), ("U.S.A.", "usa"), ("a  Rose,\nby any name!", "rose by any name"), ("ﬁne", "fine"),
        ("STRASSE", "strasse"),
        ("Straße", "strasse"), ("−5 °C", "-5 c"), ("1,200", "1200"), ("3.50 m", "3.50 m"), ("The", "the"),
        ("Queen's Gambit", "queens gambit"),
        ("well-known", "well known"), ("कि", "कि"), ("H2O", "h2o"), ("Wait... what?", "wait what"),
    ],
)  # fmt: skip
def test_texts_have_one_canonical_form(text: str, canonical: str) -> None:
    assert canonical_text(text) == canonical
    assert canonical_text(canonical) == canonical


@pytest.mark.parametrize(
    ("answer", "item", "right"),
    [
        ("B", CITIES, True), ("A", CITIES, False), ("12", NUMBER, True), ("12.0", NUMBER, True), ("-12", NUMBER, False),
        ("0.5", NUMBER, False),
        ("1200", question(Task.NUMBER, answers=("1,200",)), True), ("1/3", question(Task.NUMBER, answers=("2/6",)), True),
        ("paris", TEXT, True), ("paris france", TEXT, True), ("city of light", TEXT, True), ("comparison", TEXT, False),
        ("par", TEXT, False),
        ("", TEXT, False), (None, TEXT, False), ("art is long", question(Task.TEXT, answers=("Is long",)), True),
    ],
)  # fmt: skip
def test_an_answer_is_right_by_letter_by_value_or_by_containing_a_right_one_as_whole_words(
    answer: str | None, item: Item, right: bool
) -> None:
    assert is_right(answer, item) is right


def test_a_claims_answer_is_right_where_it_is_the_label() -> None:
    claim = Item("i", "c", ("e",), Label.GROUNDED, "c")
    assert is_right(Label.GROUNDED, claim)
    assert not is_right(Label.NOT_GROUNDED, claim)
    assert not is_right(None, Item("i", "c", ("e",), None, "c"))


@pytest.mark.parametrize(
    ("text", "item", "outcome", "answer"),
    [
        ("", CITIES, Outcome.TRUNCATED, None), ("B", CITIES, Outcome.TRUNCATED, None),
        ("The answer is B", CITIES, Outcome.TRUNCATED, None),
        ("The answer is B. Bec", CITIES, Outcome.OK, "B"), ('{"answer": "B", "reason": "It is', CITIES, Outcome.OK, "B"),
        ('{"reason": "It is option A, since', CITIES, Outcome.TRUNCATED, None),
        ('{"answer": "', CITIES, Outcome.TRUNCATED, None),
        ("<think>it is B", CITIES, Outcome.TRUNCATED, None), ("The answer is 1", NUMBER, Outcome.TRUNCATED, None),
        ("The answer is 12. It", NUMBER, Outcome.OK, "12"), ('{"answer": 1', NUMBER, Outcome.TRUNCATED, None),
        ('{"answer": 12, "re', NUMBER, Outcome.OK, "12"), ("She has 12 apples and", NUMBER, Outcome.TRUNCATED, None),
        ("Par", TEXT, Outcome.TRUNCATED, None), ("Answer: Paris. It is the", TEXT, Outcome.OK, "paris"),
    ],
)  # fmt: skip
def test_what_was_cut_off_is_not_believed(text: str, item: Item, outcome: Outcome, answer: str | None) -> None:
    verdict = read_question(text, item, "length")
    assert (verdict.outcome, verdict.vote) == (outcome, answer)


def test_an_unreadable_answer_is_no_vote_and_says_why() -> None:
    assert (read_question("B or C", CITIES).outcome, read_question("B or C", CITIES).detail) == (Outcome.UNPARSED, "ambiguous")
    assert (read_question("Hm", CITIES).outcome, read_question("Hm", CITIES).detail) == (Outcome.UNPARSED, "none")
    assert read_question("I'm sorry, I can't help with that.", CITIES).outcome is Outcome.REFUSED
    assert read_question('{"answer": "B"}', CITIES, "content_filter").outcome is Outcome.REFUSED


def test_confidence_and_reason_stand_beside_the_answer() -> None:
    verdict = read_question('{"reason": "It is the capital.", "answer": "B", "confidence": "85%"}', CITIES)
    assert (verdict.label, verdict.confidence, verdict.reason) == ("B", 85, "It is the capital.")


def test_a_claim_has_no_answer_to_extract() -> None:
    with pytest.raises(ValueError, match="is a claim"):
        extract("yes", Item("i", "c", ("e",), Label.GROUNDED, "c"))


@pytest.mark.parametrize("item", [CITIES, NUMBER, TEXT])
@pytest.mark.parametrize(
    "text",
    ["{" * 3000, "the answer is " * 300, "9" * 5000, "A or B or " * 1000, " " * 5000, "\\boxed{" * 300, "1," * 3000, "\n" * 5000],
)
def test_endless_repetition_gives_no_answer_and_no_error(item: Item, text: str) -> None:
    if item is not TEXT or not text.strip("{ \n"):  # any word is a text
        assert extract(text, item) in (Extracted(Status.NONE), Extracted(Status.AMBIGUOUS))
    else:
        assert len(extract(text, item).answer) <= len(text)


@pytest.mark.parametrize(
    "value", [Fraction(0), Fraction(12), Fraction(-1, 8), Fraction(1, 3), Fraction(123456789, 1000), Fraction(-5, 2)]
)
def test_a_value_survives_its_canonical_text(value: Fraction) -> None:
    assert read_number(number_text(value)) == value


def test_only_a_bare_number_is_the_number_of_a_text() -> None:
    assert read_number("$1,200.50") == Fraction(2401, 2)
    assert read_number("12 apples") is None
    assert read_number("12 13") is None
    assert [each.value for each in numbers_in(tidy("3/4/2020 and 12,34"))] == [None, None]
