"""Turns texts into vectors whose cosine says how near they are: by a server, by sentence-transformers, or by TF-IDF.

Every figure that rests on them names the embedder: the numbers of two embedders cannot be compared.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import aiohttp
import numpy as np
from numpy.typing import NDArray

from optimizer.data.sentences import words
from optimizer.errors import UsageError, UserError
from optimizer.models.endpoint import Endpoint, describe_endpoint

Floats = NDArray[np.float64]
EMBEDDERS = ("auto", "endpoint", "sentence-transformers", "tfidf")
DEFAULT_LOCAL = "sentence-transformers/all-MiniLM-L6-v2"
_BATCH = 128
_SECONDS = 300.0


class Vectors:
    """The unit vectors of some texts.

    Args:
        name: of the embedder, as it is printed.
        texts: all different.
        matrix: a row a text, dense or sparse, of length 1 (or 0 where a text has nothing to go by).
    """

    def __init__(self, name: str, texts: Sequence[str], matrix: Any) -> None:
        self.name, self._matrix = name, matrix
        self._row = {text: row for row, text in enumerate(texts)}

    def cosines(self, texts: Sequence[str]) -> Floats:
        """The cosine of every text with every other, shape (texts, texts); exactly 1 for the same text.

        Raises:
            KeyError: a text was not embedded.
        """
        rows = [self._row[text] for text in texts]
        part = self._matrix[rows]
        product = part @ part.T
        dense = np.asarray(product.toarray() if hasattr(product, "toarray") else product, dtype=float)
        result: Floats = np.where(np.equal.outer(rows, rows), 1.0, np.clip(dense, -1.0, 1.0))
        return result


class Embedder(Protocol):
    """Embeds texts. `name` is printed beside what is measured with it."""

    @property
    def name(self) -> str:
        """What and which model."""

    async def embed(self, texts: Sequence[str]) -> Vectors:
        """The vectors of these texts, each of which may occur again.

        Raises:
            UserError: a server or a model does not answer as it should.
        """


class TfidfEmbedder:
    """Words weighted by how few of the embedded texts have them: works offline, sees the same words and no synonyms."""

    name = "TF-IDF over words"

    async def embed(self, texts: Sequence[str]) -> Vectors:
        from sklearn.feature_extraction.text import TfidfVectorizer

        unique = list(dict.fromkeys(texts))
        if not any(map(words, unique)):
            return Vectors(self.name, unique, np.zeros((len(unique), 1)))
        return Vectors(self.name, unique, TfidfVectorizer(analyzer=words).fit_transform(unique))


class LocalEmbedder:
    """A sentence-transformers model.

    Args:
        model: its name or folder.
        fetch: whether it may be downloaded.

    Raises:
        UserError: the package is not installed, or the model cannot be loaded.
    """

    def __init__(self, model: str = DEFAULT_LOCAL, fetch: bool = True) -> None:
        try:
            from sentence_transformers import SentenceTransformer
        except ImportError as error:
            raise UserError("sentence-transformers is not installed; pip install it, or give --embedder tfidf") from error
        try:
            self._model = SentenceTransformer(model, local_files_only=not fetch)
        except (OSError, ValueError) as error:
            raise UserError(f"embedding model {model!r} cannot be loaded ({error}); check --embedding-model") from error
        self.name = f"sentence-transformers, {model}"

    async def embed(self, texts: Sequence[str]) -> Vectors:
        unique = list(dict.fromkeys(texts))
        found = self._model.encode(unique, normalize_embeddings=True, show_progress_bar=False)
        return Vectors(self.name, unique, np.asarray(found, dtype=float))


class EndpointEmbedder:
    """The embeddings of an OpenAI-compatible server.

    Args:
        endpoint: the server and its model.
    """

    def __init__(self, endpoint: Endpoint) -> None:
        self._endpoint = endpoint
        self.name = f"{endpoint.model} at an endpoint"

    async def embed(self, texts: Sequence[str]) -> Vectors:
        unique = list(dict.fromkeys(texts))
        rows: list[Floats] = []
        timeout = aiohttp.ClientTimeout(total=_SECONDS)
        async with aiohttp.ClientSession(timeout=timeout, headers=self._endpoint.headers) as session:
            for start in range(0, len(unique), _BATCH):
                rows += await self._batch(session, unique[start : start + _BATCH])
        matrix = np.array(rows) if rows else np.zeros((0, 1))
        lengths = np.linalg.norm(matrix, axis=1, keepdims=True)
        return Vectors(self.name, unique, matrix / np.where(lengths > 0, lengths, 1.0))

    async def _batch(self, session: aiohttp.ClientSession, texts: list[str]) -> list[Floats]:
        url = f"{self._endpoint.base_url}/embeddings"
        try:
            async with session.post(url, json={"model": self._endpoint.model, "input": texts}) as response:
                status = response.status
                body = await response.json(content_type=None) if status == 200 else None
        except (aiohttp.ClientError, TimeoutError, OSError, ValueError) as error:
            raise UserError(f"{url}: no answer ({type(error).__name__}); start the server, or give --embedder tfidf") from error
        if body is None:
            raise UserError(f"{url}: HTTP {status}; does it serve an embedding model? Or give --embedder tfidf")
        try:
            # Servers may answer out of order; the index says which text is meant.
            entries = sorted(body["data"], key=lambda entry: entry["index"])
            found = [np.array(entry["embedding"], dtype=float) for entry in entries]
        except (KeyError, TypeError, ValueError) as error:
            raise UserError(f"{url}: the answer holds no embeddings; does it serve an embedding model?") from error
        if len(found) != len(texts):
            raise UserError(f"{url}: {len(found)} embeddings for {len(texts)} texts; does it serve an embedding model?")
        return found


async def choose_embedder(kind: str = "auto", model: str = "", base_url: str = "") -> Embedder:
    """The embedder that is meant.

    "auto" is the server where one is named, else sentence-transformers where it is installed and its model is on this
    machine, else TF-IDF: it never downloads anything.

    Args:
        kind: one of EMBEDDERS.
        model: of the server or of sentence-transformers; empty takes the only one served, or all-MiniLM-L6-v2.
        base_url: of the server.

    Raises:
        UsageError: the kind is unknown, or it is the endpoint and no URL is given.
        UserError: the server or the model is not there.
    """
    if kind not in EMBEDDERS:
        raise UsageError(f"unknown embedder {kind!r}; valid are {', '.join(EMBEDDERS[:-1])} and {EMBEDDERS[-1]}")
    if kind == "endpoint" and not base_url:
        raise UsageError("--embedder endpoint needs --base-url, the server of the embedding model")
    if kind == "endpoint" or (kind == "auto" and base_url):
        return EndpointEmbedder(await describe_endpoint(base_url, model))
    if kind == "sentence-transformers":
        return LocalEmbedder(model or DEFAULT_LOCAL)
    if kind == "auto":
        try:
            return LocalEmbedder(model or DEFAULT_LOCAL, fetch=False)
        except UserError:
            pass
    return TfidfEmbedder()
