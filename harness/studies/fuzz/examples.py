"""Hypothesis's example databases, to share inputs through: a directory, Redis, GitHub's artifacts.

Under the key of a vocabulary lie the smallest inputs of findings, as plain bytes. A campaign puts
its own there, and takes up those that others have put there: other machines', the nightly run's, or
tests' (:func:`inputs`).
"""

from __future__ import annotations

import contextlib
import hashlib
from typing import TYPE_CHECKING

from harness.engine.selection import SelectionError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from hypothesis.database import ExampleDatabase

    from corpora.vocabularies.model import Vocabulary
    from harness.events import Found


def key(vocabulary: Vocabulary) -> bytes:
    """Under which a vocabulary's inputs lie, whatever its name and format."""
    return b"tokgate/" + vocabulary.fingerprint.encode()


def open_examples(where: str) -> ExampleDatabase:
    """The database of ``--database``: a folder, ``redis://..``, or ``github:OWNER/REPO``.

    That of GitHub is only read, with the token in GITHUB_TOKEN, as Hypothesis documents it. Raises
    SelectionError.
    """
    from hypothesis import database  # noqa: PLC0415 (half a second)

    if where.startswith(("redis://", "rediss://", "unix://")):
        try:
            import redis  # noqa: PLC0415
            from hypothesis.extra.redis import RedisExampleDatabase  # noqa: PLC0415
        except ImportError as error:
            raise SelectionError(f"--database {where}: needs redis; pip install redis") from error
        return RedisExampleDatabase(redis.Redis.from_url(where))
    if where.startswith("github:"):
        owner, slash, repository = where.removeprefix("github:").partition("/")
        if not (owner and slash and repository):
            raise SelectionError(f"--database {where}: write github:OWNER/REPO")
        shared = database.GitHubArtifactDatabase(owner, repository)
        return database.ReadOnlyDatabase(shared)
    return database.DirectoryBasedExampleDatabase(where)


def inputs(vocabulary: Vocabulary, examples: ExampleDatabase) -> list[bytes]:
    """The inputs that are shared for a vocabulary, the shortest first; none if it is out of reach.

    For tests of your own: ``@pytest.mark.parametrize("data", inputs(vocabulary, examples))``.
    """
    with contextlib.suppress(Exception):  # a service that is down must not end a campaign
        return sorted(set(examples.fetch(key(vocabulary))), key=lambda data: (len(data), data))
    return []


def share_findings(
    vocabulary: Vocabulary, examples: ExampleDatabase, findings: Iterable[Found]
) -> None:
    """Put minimal inputs there; a database that is out of reach, or only read, is left alone."""
    for found in findings:
        if found.minimal:
            with contextlib.suppress(Exception):
                examples.save(key(vocabulary), found.input)


def mark(data: bytes) -> str:
    """By which a campaign knows an input that it has shared, or taken up, before."""
    return hashlib.sha256(data).hexdigest()[:16]
