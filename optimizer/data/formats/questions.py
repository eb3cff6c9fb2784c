"""The formats of question-answering benchmarks."""

from __future__ import annotations

from optimizer.data.formats.arithmetic import Arithmetic
from optimizer.data.formats.base import Format
from optimizer.data.formats.complexwebquestions import ComplexWebQuestions
from optimizer.data.formats.ethics import Ethics
from optimizer.data.formats.gsm8k import Gsm8k
from optimizer.data.formats.misinformation import Misinformation
from optimizer.data.formats.mmlu import Mmlu
from optimizer.data.formats.truthfulqa import TruthfulQa
from optimizer.data.formats.winogrande import WinoGrande

QUESTION_FORMATS: tuple[Format, ...] = (
    Mmlu(),
    Gsm8k(),
    TruthfulQa(),
    Arithmetic(),
    WinoGrande(),
    Ethics(),
    ComplexWebQuestions(),
    Misinformation(),
)
