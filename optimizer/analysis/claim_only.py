"""What the claims of a data set give away without their evidence, by their words alone."""

from __future__ import annotations

from collections.abc import Sequence

from optimizer.data.item import Item, Label

_FOLDS = 5


def words_alone(items: Sequence[Item]) -> dict[str, float]:
    """Score of each item (1 right, 0 wrong) by a classifier that was fitted on the claims of other clusters.

    Words and word pairs by TF-IDF, logistic regression, five folds by cluster: no claim is judged by a model that saw a
    claim of its cluster. Near one half, the words of a claim say nothing about its label. Below it is no fault:
    contrasting claims share their words, so what a held-out pair gives away is little.

    Raises:
        ValueError: fewer clusters than folds, or a label is missing.
    """
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.linear_model import LogisticRegression
    from sklearn.model_selection import GroupKFold, cross_val_predict
    from sklearn.pipeline import make_pipeline

    clusters = [item.cluster for item in items]
    if len(set(clusters)) < _FOLDS:
        raise ValueError(f"the claim-only check needs at least {_FOLDS} clusters but got {len(set(clusters))}")
    if len({item.label for item in items} - {None}) < 2 or any(item.label is None for item in items):
        raise ValueError("the claim-only check needs a label on every item, and both labels among them")
    model = make_pipeline(TfidfVectorizer(ngram_range=(1, 2), sublinear_tf=True), LogisticRegression(max_iter=1000))
    labels = [item.label is Label.GROUNDED for item in items]
    guesses = cross_val_predict(model, [item.claim for item in items], labels, groups=clusters, cv=GroupKFold(_FOLDS))
    return {item.id: float(guess == label) for item, guess, label in zip(items, guesses, labels, strict=True)}
