"""The errors that a user can mend: each ends a command with one line and no traceback."""

from __future__ import annotations

from corpora.families.user import FamiliesError
from corpora.texts.documents import TextsError
from corpora.vocabularies.model import VocabularyError
from harness.cluster.executor import ClusterError, UnitError
from harness.core.writing import OutputError
from harness.engine.selection import SelectionError
from harness.verdict.expectations import ExpectationsError

USERS = (
    VocabularyError, FamiliesError, SelectionError, ExpectationsError, OutputError, TextsError,
    ClusterError, UnitError,
)  # fmt: skip
"""These errors are mistakes in what the user gave, and end a command with status 2."""
