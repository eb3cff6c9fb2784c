"""What formats of one question a record have in common, beside what all formats of records have."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from optimizer.data.fields import digest
from optimizer.data.formats.records import Blank, Reading, RecordFormat
from optimizer.data.item import LETTERS, Item, Label, Task

NO_ANSWER = "no published answer"  # why a record of a withheld test set becomes no item


class QuestionFormat(RecordFormat):
    """A format whose records are questions."""

    labels: Mapping[str, Label] = {}

    def question(
        self,
        reading: Reading,
        id: object,
        question: str,
        answers: Sequence[str],
        choices: Sequence[str] = (),
        cluster: object = "",
        category: str = "",
        split: str = "",
        rationale: str = "",
        task: Task | None = None,
    ) -> Item:
        """A question whose id and cluster are namespaced by the benchmark. Without a cluster, those that ask the same share one.

        Raises:
            Blank: the question or a choice is empty.
            ValueError: there are more choices than letters.
        """
        if not question.strip() or not all(choice.strip() for choice in choices):
            raise Blank("its question or a choice is empty")
        if len(choices) > len(LETTERS):
            raise ValueError(f"has {len(choices)} choices; there are letters for {len(LETTERS)}")
        return Item(
            id=self.named(id),
            claim=question.strip(),
            evidence=(),
            label=None,
            cluster=self.named(cluster or digest(question.strip())),
            source=self.name,
            category=category,
            rationale=rationale,
            task=task or self.task,
            choices=tuple(choice.strip() for choice in choices),
            answers=tuple(answers),
            split=split or reading.split,
        )
