"""Golden vectors: read here, and run by every implementation that the vocabulary admits."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from corpora.vocabularies import golden, sources
from corpora.vocabularies.model import VocabularyError
from impls import registry
from impls.interface import Mode
from tests.breadth import thorough
from tests.data import data_path

if TYPE_CHECKING:
    from corpora.vocabularies.model import Vocabulary
    from impls.interface import Implementation

BPE = ("deepseek-coder", "falcon", "gpt-2", "qwen2")
RUN = [
    *((name, spec) for name in BPE for spec in ("llama.cpp", "bpe.backtracking", "bpe.heap")),
    *(("llama-spm", spec) for spec in ("llama.cpp", "spm.llama-cpp", "sentencepiece")),
    *(("bert-bge", spec) for spec in ("llama.cpp", "wordpiece.llama-cpp")),
]
"""(file, implementation) of every run; the others are slow."""


def vectors(folder: Path, inputs: bytes | None, ids: bytes | None) -> golden.Golden | None:
    for name, content in (("x.gguf.inp", inputs), ("x.gguf.out", ids)):
        if content is not None:
            (folder / name).write_bytes(content)
    return golden.load(folder / "x.gguf")


def test_inputs_end_in_separators_and_lines_are_ids(tmp_path: Path) -> None:
    text = b"a\r\n\n" + golden.SEPARATOR + golden.SEPARATOR + b"b" + golden.SEPARATOR
    read = vectors(tmp_path, text, b" 1 2\n\n 3\n")
    assert read is not None
    assert read.inputs == (b"a\r\n\n", b"", b"b")
    assert read.ids == ((1, 2), (), (3,))
    assert read.vocabulary == str(tmp_path / "x.gguf")
    assert golden.load(tmp_path / "x.gguf.gz") is not None


def test_no_vectors(tmp_path: Path) -> None:
    assert golden.load(tmp_path / "x.gguf") is None


@pytest.mark.parametrize(
    ("inputs", "ids", "fault"),
    [
        (b"a" + golden.SEPARATOR, b"1\n2\n", "has 2 lines for 1 inputs of x.gguf.inp"),
        (b"a" + golden.SEPARATOR + b"b", b"1\n", "has 1 lines for 2 inputs"),
        (b"a" + golden.SEPARATOR, b"1 x\n", "line 1 is not of ids: b'1 x'"),
        (b"a" + golden.SEPARATOR, b"-5\n", "line 1 is not of ids"),
        (b"a" + golden.SEPARATOR, None, "x.gguf.inp is missing"),
        (None, b"1\n", "x.gguf.out is missing"),
    ],
)
def test_damaged_vectors(
    tmp_path: Path, inputs: bytes | None, ids: bytes | None, fault: str
) -> None:
    with pytest.raises(VocabularyError) as caught:
        vectors(tmp_path, inputs, ids)
    assert "\n" not in str(caught.value)
    message = str(caught.value)
    assert fault in message or ("missing" in fault and "is missing" in message)


@cache
def vocabulary(name: str) -> Vocabulary:
    return sources.resolve(str(data_path(f"gguf/ggml-vocab-{name}.gguf")))


def installed(spec: str) -> Implementation:
    try:
        implementation = registry.resolve(spec)
        assert implementation.about
    except ImportError as error:
        pytest.skip(str(error))
    return implementation


def differences(implementation: Implementation, name: str) -> list[tuple[bytes, list[int]]]:
    read = golden.load(data_path(f"gguf/ggml-vocab-{name}.gguf"))
    assert read is not None
    assert len(read.inputs) > 30
    encoder = implementation.load(vocabulary(name))
    pairs = zip(read.inputs, read.ids, strict=True)
    given = [(data, list(encoder.encode(data, Mode())), list(ids)) for data, ids in pairs]
    return [(data, ids) for data, ids, expected in given if ids != expected]


@pytest.mark.data
@pytest.mark.parametrize(("name", "spec"), [*map(thorough, RUN[:9]), *RUN[9:]])  # one of each kind
def test_golden_vectors(name: str, spec: str) -> None:
    implementation = installed(spec)
    assert implementation.supports(vocabulary(name), Mode()) is None
    assert differences(implementation, name) == []
