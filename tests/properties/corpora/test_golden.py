"""llama.cpp's golden vectors, run by every implementation that the vocabulary admits.

They lie beside ``X.gguf`` as ``X.gguf.inp`` and ``X.gguf.out``: inputs that each end in a separator
line, and a line of ids for each, without BOS and EOS.
"""

from functools import cache

import pytest

from corpora.vocabularies import sources
from impls.interface import Mode
from tests.breadth import thorough
from tests.data import data_path
from tests.doubles.installed import installed

BPE = ("deepseek-coder", "falcon", "gpt-2", "qwen2")
RUN = [
    *((name, spec) for name in BPE for spec in ("llama.cpp", "bpe.backtracking", "bpe.heap")),
    *(("llama-spm", spec) for spec in ("llama.cpp", "spm.llama-cpp", "sentencepiece")),
    *(("bert-bge", spec) for spec in ("llama.cpp", "wordpiece.llama-cpp")),
]
"""(file, implementation) of every run; the others are slow."""


@cache
def vocabulary(name):
    return sources.resolve(str(data_path(f"gguf/ggml-vocab-{name}.gguf")))


@pytest.mark.data
@pytest.mark.parametrize(("name", "spec"), [*map(thorough, RUN[:9]), *RUN[9:]])  # one of each kind
def test_golden_vectors(name, spec):
    implementation = installed(spec)
    path = data_path(f"gguf/ggml-vocab-{name}.gguf.inp")
    inputs = path.read_bytes().split(b"\n__ggml_vocab_test__\n")[:-1]
    ids = [[*map(int, line.split())] for line in path.with_suffix(".out").read_bytes().splitlines()]
    assert len(inputs) == len(ids) > 30
    assert implementation.supports(vocabulary(name), Mode()) is None
    encoder = implementation.load(vocabulary(name))
    assert [list(encoder.encode(data, Mode())) for data in inputs] == ids
