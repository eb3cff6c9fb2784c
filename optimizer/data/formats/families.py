"""Claims that share a document, or are linked by others that do, belong together: no split may part them."""

from __future__ import annotations

from collections.abc import Iterable


class Families:
    """Groups of names that were joined, directly or through others. A family is called by the first of its names that was met."""

    def __init__(self) -> None:
        self._parent: dict[str, str] = {}
        self._met: dict[str, int] = {}

    def join(self, names: Iterable[str]) -> None:
        """Put all the names into one family."""
        roots = []
        for name in names:
            self._met.setdefault(name, len(self._met))
            self._parent.setdefault(name, name)
            roots.append(self.of(name))
        if roots:
            first = min(roots, key=self._met.__getitem__)
            self._parent.update(dict.fromkeys(roots, first))

    def of(self, name: str) -> str:
        """The name of a name's family. Raises KeyError for one that was never joined."""
        root = name
        while self._parent[root] != root:
            root = self._parent[root]
        while self._parent[name] != root:  # the next look-up is one step
            self._parent[name], name = root, self._parent[name]
        return root
