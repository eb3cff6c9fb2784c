"""The sections of the settings: splits, search, protocol, misinformation, roles. optimizer/config.py reads them."""

from __future__ import annotations

import contextlib
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, PlainValidator, field_validator, model_validator

AnswerField = Literal["verdict", "confidence", "reason"]
Aggregator = Literal["rule", "majority", "confidence", "last_speaker", "ballot"]
Ties = Literal["none", "lowest_index"]


class Strict(BaseModel):
    """Unknown keys are errors, and settings do not change once read."""

    model_config = ConfigDict(extra="forbid", frozen=True)


def _size(value: object) -> int | float:
    """A count as int, or a share as float; text from the environment or a flag is read as the number that it is."""
    with contextlib.suppress(ValueError):
        value = float(value) if isinstance(value, str) and "." in value else int(value) if isinstance(value, str) else value
    counts = isinstance(value, int) and not isinstance(value, bool) and value >= 0
    if counts or (isinstance(value, float) and 0 < value < 1):
        return value  # type: ignore[return-value]
    raise ValueError("must be a count (8; 0 takes all) or a share of the items between 0 and 1 (0.2)")


Size = Annotated[int | float, PlainValidator(_size)]


class SplitSettings(Strict):
    """How many items each split keeps at the most, 0 keeps all; or, between 0 and 1, its share of all items.

    The default keeps a run on two cores under 15 minutes.
    """

    train: Size = 8
    dev: Size = 16
    test: Size = 20

    @model_validator(mode="after")
    def _shares(self) -> Self:
        shares = {name: size for name, size in self if isinstance(size, float)}
        if sum(shares.values()) > 1 + 1e-9:
            raise ValueError(f"the shares {', '.join(f'{name} {size}' for name, size in shares.items())} add up to more than 1")
        return self


Schedule = Literal["sequential", "round_robin", "all_at_once", "exhaustive", "random", "gepa"]
WHOLE: tuple[Schedule, ...] = ("exhaustive", "random")  # every candidate goes through all of dev, and the best score leads
Selector = Literal["incumbent", "pareto", "epsilon"]
ObjectiveName = Literal["accuracy", "balanced_accuracy", "macro_f1", "cost"]
ReflectionAdapter = Literal["plain", "chat", "json", "xml"]


class SearchSettings(Strict):
    """The search: its budget, and what it may propose in which order.

    Attributes:
        schedule: "sequential" ends a component before the next begins; "round_robin" gives each one proposal in turn;
            "all_at_once" changes all in one proposal; "exhaustive" takes every alternative through all of dev; "random", the
            baseline, takes proposals of random kinds through all of dev; "gepa" is that library's own engine.
        parent: "incumbent" leads the search; "pareto" draws by the share of dev items on which a candidate is best; "epsilon" is
            the incumbent but for one time in ten, when any candidate is drawn.
        objective: what is maximised, and what the sealed test then decides on.
        conditions: under which a panel is judged, together: F1, Fn, T1, Tn, 0. "none" is as the data is; "auto" takes all
            five where source_skepticism alone is searched and the data has passages.
    """

    budget: int = Field(
        default=520,
        ge=0,
        description="calls, the sealed test included; requests asked twice count once; 0 where another limit holds",
    )
    budget_tokens: int = Field(default=0, ge=0, description="prompt and reply tokens of those calls; 0 is no limit")
    budget_usd: float = Field(default=0.0, ge=0, description="what those calls cost at a hosted provider; 0 is no limit")
    budget_minutes: float = Field(
        default=0.0, ge=0, description="of this start; 0 is no limit. Such a run cannot be repeated exactly"
    )
    objective: ObjectiveName = Field(default="accuracy", description="what is maximised")
    conditions: tuple[str, ...] = Field(default=("auto",), description="auto, none, or F1,Fn,T1,Tn,0")
    passage_style: str = Field(default="plain", description="style of the passages that conditions show")
    condition_penalty: float = Field(
        default=1.0, ge=0, description="what a loss under true passages and none weighs against a gain under false ones"
    )
    margin: float = Field(
        default=0.03, gt=0, lt=1, description="loss under true passages and none that the sealed test is to rule out"
    )
    cost_wrong: float = Field(default=1.0, ge=0, description="objective cost: of a wrong decision")
    cost_abstained: float = Field(default=1.0, ge=0, description="objective cost: of no decision")
    schedule: Schedule = Field(default="sequential", description="in which order components and proposals are tried")
    parent: Selector = Field(default="incumbent", description="which candidate a proposal starts from")
    minibatch: int = Field(default=3, ge=1, description="schedule gepa: train items that a proposal is accepted on")
    reflections: int = Field(
        default=-1, ge=-1, description="reflected proposals for each component and sweep; -1 is as many as the budget buys"
    )
    sweeps: int = Field(default=1, ge=1, description="rounds over all components; it ends earlier when nothing changes")
    token_price: float = Field(
        default=0.0, ge=0, description="accuracy that 1,000 tokens of instructions in a debate must bring, as a share"
    )
    token_cap: int = Field(default=120, ge=10, description="the longest prompt in tokens, roughly counted")
    ahead: int = Field(
        default=1, ge=1, description="reflections asked at once; the later ones are written while the first is tried"
    )
    reflection_adapter: ReflectionAdapter = Field(default="plain", description="how the dspy program speaks to the model")
    reflection_program: str = Field(default="", description="file of a compiled dspy program that reflects")

    @field_validator("conditions", mode="before")
    @classmethod
    def _listed(cls, value: Any) -> Any:
        """Several with commas, as on the command line; `none` is no condition."""
        if isinstance(value, str | int):
            value = [name.strip() for name in str(value).split(",") if name.strip()]
        return [] if list(value) == ["none"] else value

    @model_validator(mode="after")
    def _limited(self) -> Self:
        if not self.budget and not self.budget_tokens and not self.budget_minutes:
            raise ValueError("budget is 0, so budget_tokens or budget_minutes must say when to stop")
        if self.objective == "cost" and not max(self.cost_wrong, self.cost_abstained):
            raise ValueError("objective cost needs a cost_wrong or cost_abstained above 0")
        return self


class ProtocolSettings(Strict):
    """How a debate is held. The defaults were chosen by measurement; docs/protocol.md has the figures.

    Attributes:
        rounds: how often each persona speaks; from the second round on it has read all earlier ones.
        question: asked last, in every turn.
        choice_question, number_question, text_question: asked last of items that are questions, by what they ask for.
        answer_words: the length of a text answer asked for.
        yes, no: the words that the model uses for grounded and not grounded.
        fields: the fields of an answer, in the order in which the model writes them; without "reason" none is asked for.
        reason_words: the length asked for.
        shared: which fields of an answer the others read.
        contribution: "answer" is one's own; "draft" has the first speaker propose the group's answer, and later ones improve it
            or agree.
        turns: "simultaneous" speakers of a round hear the rounds before; "sequential" ones also who spoke before them in it.
        speaking_order: "fixed" is the library's; "random" is drawn for each item from `order_seed`, and kept in all rounds.
        visibility: "all" that was shared; "others_verdicts" hides one's own turns and everything but verdicts; "none"; or
            "blind_last", where the last round hears nothing.
        labels: "binary", or "ternary" with `unsure` as a third answer, which is no vote.
        aggregator: "rule" is majority, else the Skeptic's veto, else nothing; "majority" alone; "confidence" weighs votes by
            it; "last_speaker" takes the vote of who spoke last; "ballot" has all vote secretly among the different answers of
            a round, where there are several. The most votes end the debate; a tie goes on to the next round.
        vote_from: aggregator ballot: no ballot before this round.
        ties: what becomes of a panel without a decision: "none"; or "lowest_index", the answer with most votes, among several
            that of who spoke first.
        reprompt: ask once more, at temperature 0 and for the answer alone, where an answer cannot be read.
        early_stop: end the debate after a round in which all votes are the same.
        long_evidence: what becomes of evidence that does not fit the context: "error"; "chunk" judges it piece by piece and
            takes the piece that supports the claim best; "select" keeps the sentences nearest to the claim.
        persona_position: "last" keeps everything that personas share in one cached prefix; "system" is the papers' order.
        temperature, top_p: of the panel; repeats of a debate differ by seed.
    """

    rounds: int = Field(default=2, ge=1, le=5)
    question: str = Field(default="Does the evidence support the claim?", min_length=1)
    choice_question: str = Field(default="Which choice is right?", min_length=1)
    number_question: str = Field(default="Which number is the answer?", min_length=1)
    text_question: str = Field(default="What is the answer?", min_length=1)
    answer_words: int = Field(default=10, ge=1)
    yes: str = Field(default="yes", min_length=1)
    no: str = Field(default="no", min_length=1)
    fields: tuple[AnswerField, ...] = ("verdict", "confidence")
    reason_words: int = Field(default=15, ge=1)
    shared: tuple[AnswerField, ...] = ("verdict",)
    contribution: Literal["answer", "draft"] = "answer"
    turns: Literal["simultaneous", "sequential"] = "simultaneous"
    speaking_order: Literal["fixed", "random"] = "fixed"
    order_seed: int = 0
    visibility: Literal["all", "others_verdicts", "none", "blind_last"] = "all"
    labels: Literal["binary", "ternary"] = "binary"
    unsure: str = Field(default="unsure", min_length=1)
    aggregator: Aggregator = "rule"
    vote_from: int = Field(default=1, ge=1, le=5)
    ties: Ties = "none"
    reprompt: bool = False
    early_stop: bool = False
    long_evidence: Literal["error", "chunk", "select"] = "error"
    persona_position: Literal["last", "system"] = "last"
    temperature: float = Field(default=0.0, ge=0)
    top_p: float = Field(default=1.0, gt=0, le=1)

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        for name, values in (("fields", self.fields), ("shared", self.shared)):
            if "verdict" not in values or len(set(values)) != len(values):
                raise ValueError(f"{name} must hold verdict, and nothing twice, but is {', '.join(values)}")
        if set(self.shared) - set(self.fields):
            raise ValueError(f"shared is {', '.join(self.shared)}, but answers only have {', '.join(self.fields)}")
        words = [self.yes, self.no, *([self.unsure] if self.labels == "ternary" else [])]
        if len({word.strip().lower() for word in words}) < len(words):
            raise ValueError(f"the words for the labels must differ but are {', '.join(map(repr, words))}")
        if self.aggregator == "confidence" and "confidence" not in self.fields:
            raise ValueError("aggregator confidence needs confidence among the fields of an answer")
        if self.aggregator == "ballot" and self.vote_from > self.rounds:
            raise ValueError(f"vote_from is {self.vote_from}, but there are only {self.rounds} rounds")
        if self.contribution == "draft" and (self.turns != "sequential" or self.visibility in ("none", "blind_last")):
            raise ValueError(
                "contribution draft takes speakers who hear who spoke before them: turns sequential, and visibility all or "
                f"others_verdicts, but turns is {self.turns} and visibility {self.visibility}"
            )
        return self


class MisinformationSettings(Strict):
    """Misinformation in benign debate: who debates, how it is decided, and how baselines sample.

    Attributes:
        agents: how many debate; published are 3 and 5.
        personas: "plain" agents are numbered; "panel" takes the panel's personas in their order, as many as `agents`.
        turns: how often each agent speaks at the most, one after the other in one fixed order.
        decisions: how the same discussion is read. "voting": from turn `vote_from` on, everybody condenses a final answer and
            votes anonymously among the different ones; a tie goes on. "consensus": what the last speaker holds in the end.
        consensus_end: "agreement" ends the discussion, for consensus, after the first turn from `consensus_from` on in
            which all hold the same answer; "never" goes through all turns.
        max_words: the length of a contribution that is asked for.
        max_tokens: where contributions and answers are cut off; 0 leaves room for max_words and the answer.
        answer_position: whether a contribution ends with its answer, or begins with it.
        temperature, top_p: of debates and of the samples that are compared with them (mSC).
        single_temperature: of the model alone.
        reprompt, reprompt_tokens: whether an answer that decides something and cannot be read is asked for once more, at
            temperature 0, and how long that may be.
        exposed_may_be_last: false keeps the exposed from speaking last, where not all are exposed.
        exposure_seed: of the draw of who is exposed, and of constructed passages.
        verifier: "vote" lists unsupported statements before answers are given; "speaks" takes part at the end of each turn;
            "both" holds debates with the one and debates with the other, and compares them.
        support_alone: for which items a passage is verified by supporting the wrong answer, contradiction or not: "claims",
            "two_answers" (claims, and questions with two choices), "always", "never".
        passages: a file of passages; passages.jsonl beside the data where left out.
    """

    agents: int = Field(default=3, ge=1, le=15)
    personas: Literal["plain", "panel"] = "plain"
    turns: int = Field(default=5, ge=1, le=20)
    decisions: tuple[Literal["voting", "consensus"], ...] = ("voting", "consensus")
    vote_from: int = Field(default=3, ge=1)
    consensus_end: Literal["agreement", "never"] = "agreement"
    consensus_from: int = Field(default=3, ge=1)
    max_words: int = Field(default=20, ge=1)
    max_tokens: int = Field(default=0, ge=0)
    answer_position: Literal["last", "first"] = "last"
    temperature: float = Field(default=1.0, ge=0)
    top_p: float = Field(default=1.0, gt=0, le=1)
    single_temperature: float = Field(default=0.7, ge=0)
    sc15_temperature: float = Field(default=0.8, ge=0)
    sc15_top_p: float = Field(default=0.95, gt=0, le=1)
    reprompt: bool = True
    reprompt_tokens: int = Field(default=16, ge=1, le=64)
    exposed_may_be_last: bool = True
    exposure_seed: int = 0
    verifier: Literal["vote", "speaks", "both"] = "vote"
    support_alone: Literal["claims", "two_answers", "always", "never"] = "claims"
    passages: str = ""

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if not self.decisions or len(set(self.decisions)) < len(self.decisions):
            raise ValueError("decisions must be voting, consensus, or both, each once")
        for name in ("vote_from", "consensus_from"):
            if getattr(self, name) > self.turns:
                raise ValueError(f"{name} is {getattr(self, name)}, but there are only {self.turns} turns")
        return self


class RoleSettings(Strict):
    """What a role (a persona, or reflection) has that differs from the panel. What is left out is the panel's.

    Attributes:
        model, base_url: as the settings of these names, for this role alone.
        temperature, top_p: of its sampling.
        evidence: a file of JSON lines with item and evidence: what this role is shown.
        evidence_mode: whether that takes the place of the item's evidence or is put behind it.
    """

    model: str = ""
    base_url: str = ""
    temperature: float | None = Field(default=None, ge=0)
    top_p: float | None = Field(default=None, gt=0, le=1)
    evidence: str = ""
    evidence_mode: Literal["replace", "add"] = "replace"
