"""Libraries that have the calls of Hugging Face's tokenizers, and read its tokenizer.json."""

from __future__ import annotations

from typing import TYPE_CHECKING

from impls.adapters.recipes import Way
from impls.adapters.vocabularies import ordinary_json, ordinary_trouble

if TYPE_CHECKING:
    from collections.abc import Callable

    from corpora.vocabularies.model import Vocabulary
    from impls.interface import Mode

CODE = """\
from {module} import Tokenizer

tokenizer = Tokenizer.from_file(VOCABULARY)


def encode(data):
    return tokenizer.encode(data.decode(), add_special_tokens=False).ids


def decode(ids):
    return tokenizer.decode(ids, skip_special_tokens=False).encode()
"""


def like_tokenizers(
    module: str, refuses: Callable[[Vocabulary, Mode], str | None] = lambda *_: None
) -> Callable[[Vocabulary, Mode], Way | str]:
    """The ways of such a library; refuses: why it does not run a vocabulary in a mode, if so."""
    code = CODE.format(module=module)

    def way(vocabulary: Vocabulary, mode: Mode) -> Way | str:
        trouble = refuses(vocabulary, mode) or ordinary_trouble(vocabulary, mode)
        return trouble or Way("tokenizer.json", lambda: ordinary_json(vocabulary, mode), code)

    return way
