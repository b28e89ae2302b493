"""Golden vectors: inputs with the ids that an engine gave, kept beside a vocabulary.

llama.cpp keeps them as ``X.gguf.inp`` and ``X.gguf.out`` beside ``X.gguf``: inputs that each end in
a separator line, and a line of ids for each, without BOS and EOS.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from corpora.vocabularies.model import VocabularyError
from corpora.vocabularies.reading import read_bytes

SEPARATOR = b"\n__ggml_vocab_test__\n"


@dataclass(frozen=True, slots=True)
class Golden:
    """The vectors of one vocabulary.

    vocabulary: its source, as after ``--vocab``. inputs, ids: of one length; the ids of input i
    are ``ids[i]``.
    """

    vocabulary: str
    inputs: tuple[bytes, ...]
    ids: tuple[tuple[int, ...], ...]


def load(path: Path) -> Golden | None:
    """The vectors beside the vocabulary file ``path``; None if it has none.

    VocabularyError where one of the two files is missing, a line is not of ids, or inputs and
    lines are not of one number.
    """
    base = path.with_suffix("") if path.suffix == ".gz" else path
    given, expected = Path(f"{base}.inp"), Path(f"{base}.out")
    if not given.exists() and not expected.exists():
        return None
    for file, other in ((given, expected), (expected, given)):
        if not file.exists():
            raise VocabularyError(str(other), f"{file.name} is missing", "get both files")
    inputs = read_bytes(given).split(SEPARATOR)
    if inputs[-1] == b"":  # after the last separator
        inputs.pop()
    lines = read_bytes(expected).splitlines()
    if len(inputs) != len(lines):
        raise VocabularyError(
            str(expected),
            f"has {len(lines)} lines for {len(inputs)} inputs of {given.name}",
            "get both files from one release",
        )
    return Golden(
        str(path), tuple(inputs), tuple(_ids(expected, i, line) for i, line in enumerate(lines, 1))
    )


def _ids(file: Path, number: int, line: bytes) -> tuple[int, ...]:
    try:
        ids = tuple(map(int, line.split()))
    except ValueError:
        ids = (-1,)
    if any(token_id < 0 for token_id in ids):
        raise VocabularyError(
            str(file), f"line {number} is not of ids: {line[:60]!r}", "get a complete copy"
        )
    return ids
