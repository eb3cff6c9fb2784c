"""Embedders: equal texts are equal, an endpoint is asked in batches, and what goes wrong is said."""

from __future__ import annotations

import asyncio
import sys
import types
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from aiohttp import web
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.metrics.pairwise import cosine_similarity

from optimizer.errors import UsageError, UserError
from optimizer.models import embeddings
from optimizer.models.embeddings import EndpointEmbedder, LocalEmbedder, TfidfEmbedder, Vectors, choose_embedder
from optimizer.models.endpoint import Endpoint

TEXTS = ["The tower opened in 1887.", "The tower opened in 1889.", "Rain fell.", "Rain fell."]


def test_tfidf_is_that_of_scikit_learn_and_the_same_text_is_exactly_the_same() -> None:
    found = asyncio.run(TfidfEmbedder().embed(TEXTS)).cosines(TEXTS)
    unique = TEXTS[:3]
    expected = cosine_similarity(TfidfVectorizer(token_pattern=r"\w+").fit_transform(unique))
    assert found[:3, :3] == pytest.approx(expected)
    assert found[2, 3] == 1.0
    assert found[0, 2] == 0.0


def test_texts_without_words_and_no_texts_are_taken() -> None:
    assert asyncio.run(TfidfEmbedder().embed(["!!", "??"])).cosines(["!!", "??"]).tolist() == [[1, 0], [0, 1]]
    assert asyncio.run(TfidfEmbedder().embed([])).cosines([]).shape == (0, 0)


async def _served(answer: Callable[[dict[str, Any]], Any], texts: list[str]) -> tuple[Vectors, list[int]]:
    sizes: list[int] = []

    async def handle(request: web.Request) -> web.Response:
        body = await request.json()
        sizes.append(len(body["input"]))
        result = answer(body)
        return result if isinstance(result, web.Response) else web.json_response(result)

    application = web.Application()
    application.router.add_post("/v1/embeddings", handle)
    runner = web.AppRunner(application)
    await runner.setup()
    try:
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        endpoint = Endpoint(f"http://127.0.0.1:{runner.addresses[0][1]}/v1", "small", "")
        return await EndpointEmbedder(endpoint).embed(texts), sizes
    finally:
        await runner.cleanup()


def _lengths(body: dict[str, Any]) -> dict[str, Any]:
    """A vector of length and one, in reverse order: the index says which is which."""
    data = [{"index": i, "embedding": [float(len(text)), 1.0]} for i, text in enumerate(body["input"])]
    return {"data": data[::-1]}


def test_an_endpoint_is_asked_once_a_text_in_batches_and_read_by_index(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(embeddings, "_BATCH", 2)
    vectors, sizes = asyncio.run(_served(_lengths, ["a", "bbbb", "cc", "a"]))
    assert sizes == [2, 1]
    a, b = np.array([1, 1]), np.array([4, 1])
    assert vectors.cosines(["a", "bbbb"])[0, 1] == pytest.approx(a @ b / np.linalg.norm(a) / np.linalg.norm(b))
    assert vectors.name == "small at an endpoint"


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (lambda body: web.Response(status=404), "HTTP 404; does it serve an embedding model"),
        (lambda body: {"choices": []}, "holds no embeddings"),
        (lambda body: {"data": []}, "0 embeddings for 1 texts"),
        (lambda body: web.Response(text="<html>"), "no answer"),
    ],
)
def test_a_server_without_embeddings_is_said(answer: Callable[[dict[str, Any]], Any], message: str) -> None:
    with pytest.raises(UserError, match=message):
        asyncio.run(_served(answer, ["a"]))


def test_without_anything_installed_the_choice_is_tfidf(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "sentence_transformers", None)
    assert asyncio.run(choose_embedder()).name == "TF-IDF over words"
    with pytest.raises(UserError, match="not installed"):
        asyncio.run(choose_embedder("sentence-transformers"))


def test_sentence_transformers_is_taken_where_its_model_is_there_and_downloads_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[str, bool]] = []

    class SentenceTransformer:
        def __init__(self, name: str, local_files_only: bool) -> None:
            asked.append((name, local_files_only))
            if name == "absent":
                raise OSError("no such model")

        def encode(self, texts: list[str], **options: Any) -> list[list[float]]:
            return [[1.0, 0.0] if text == "a" else [0.6, 0.8] for text in texts]

    module = types.ModuleType("sentence_transformers")
    module.SentenceTransformer = SentenceTransformer  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "sentence_transformers", module)
    chosen = asyncio.run(choose_embedder())
    assert isinstance(chosen, LocalEmbedder)
    assert asked == [("sentence-transformers/all-MiniLM-L6-v2", True)]
    assert asyncio.run(chosen.embed(["a", "b"])).cosines(["a", "b"])[0, 1] == pytest.approx(0.6)
    assert asyncio.run(choose_embedder(model="absent")).name == "TF-IDF over words"
    with pytest.raises(UserError, match="'absent' cannot be loaded"):
        asyncio.run(choose_embedder("sentence-transformers", "absent"))


def test_an_unknown_embedder_and_an_endpoint_without_a_url_are_usage_errors() -> None:
    with pytest.raises(UsageError, match="valid are auto, endpoint"):
        asyncio.run(choose_embedder("magic"))
    with pytest.raises(UsageError, match="needs --base-url"):
        asyncio.run(choose_embedder("endpoint"))
