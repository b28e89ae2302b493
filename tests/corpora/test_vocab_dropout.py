"""A tokenizer.json with dropout is read and run as the file without, and told in one line."""

import hashlib
import json
from typing import Any

import pytest

from corpora.vocabularies import tokenizer_json
from corpora.vocabularies.model import NativeFile
from corpora.vocabularies.tokenizer_json_out import given
from harness.events import VocabularyLoaded
from tests.corpora.test_vocab_formats import bpe_document

Json = dict[str, Any]


@pytest.mark.parametrize("change", [{}, {"dropout": None}, {"dropout": 0.0}, {"dropout": 0.25}])
@pytest.mark.parametrize("steps", [{}, {"normalizer": {"type": "Lowercase"}}])
def test_a_file_with_dropout_is_read_as_one_without(change, steps):
    document = bpe_document(**steps, **change)
    content = json.dumps(document).encode()
    vocabulary = tokenizer_json.from_bytes(content, "x", None)
    told = VocabularyLoaded.of(vocabulary, "x")
    assert told.sha256 == hashlib.sha256(content).hexdigest()
    assert vocabulary.dropout == (change.get("dropout") or 0)
    lines = [line for line in told.remarks if "dropout" in line]
    if not vocabulary.dropout:
        assert vocabulary.native == NativeFile(content, unexpressed=vocabulary.unexpressed)
        assert not lines
        return
    assert vocabulary.native is not None
    assert json.loads(vocabulary.native.content) == bpe_document(**steps, dropout=None)
    assert json.loads(given(vocabulary))["model"]["dropout"] is None
    assert ["no merges in the plain model" in line for line in lines] == [bool(steps)]
