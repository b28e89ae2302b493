"""``flash-tokenizer``: BERT's tokenizer in C++, from a vocab.txt."""

from __future__ import annotations

from typing import TYPE_CHECKING

from impls.adapters.peers import Peer
from impls.adapters.recipes import Adapter, Way
from impls.adapters.vocabularies import bert_lines

if TYPE_CHECKING:
    from corpora.vocabularies.model import Vocabulary
    from impls.interface import Mode

LIBRARY = Peer(
    name="flash-tokenizer",
    homepage="https://github.com/NLPOptimize/flash-tokenizer",
    capabilities=frozenset(),
    language="c++",
)

CODE = """\
from flash_tokenizer._core import FlashBertTokenizer

tokenizer = FlashBertTokenizer(VOCABULARY, {lower}, {limit}, {ideographs})


def encode(data):
    # Between [CLS] and [SEP], which it always adds.
    return tokenizer.encode(data.decode(), "longest", {limit})[1:-1]
"""

LIMIT = 1 << 24
"""Tokens, past which it would cut the text."""


def _way(vocabulary: Vocabulary, mode: Mode) -> Way | str:
    if mode.special == "all" or not mode.pretokenize:
        return "reads no special tokens here, and always pre-tokenizes"
    lines = bert_lines(vocabulary)
    if isinstance(lines, str):
        return lines
    rules = vocabulary.wordpiece
    assert rules is not None
    if rules.strip_accents != rules.lowercase:
        return "strips accents exactly where it lowers case"
    code = CODE.format(lower=rules.lowercase, ideographs=rules.handle_chinese_chars, limit=LIMIT)
    return Way("vocab.txt", lambda: lines, code)


IMPLEMENTATION = Adapter(LIBRARY, _way)
