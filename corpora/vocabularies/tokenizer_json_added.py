"""The added tokens of a tokenizer.json as the library tokenizers keeps them.

It gives ids by itself while it reads a file, and passes over what the file says of them. Other
libraries take the file's word, so that the same file has other ids there, and none of them is
wrong: all are given one file, which has the ids that the reference gives.
"""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import msgspec

from corpora.vocabularies.reading import decode_json, shown_json

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from corpora.vocabularies.model import AddedToken

Json = dict[str, Any]


class _Tokens(msgspec.Struct):
    """The tokens of a model of any kind, whose ids may be anything."""

    vocab: dict[str, Any] | list[tuple[str, float]] | None = None


@dataclass(frozen=True, slots=True)
class Kept:
    """What becomes of a file's added tokens.

    places: of those that are kept, in the file's list. tokens: these, with their ids.
    remark: what a user must know of it; empty where the file says the same.
    """

    places: tuple[int, ...]
    tokens: tuple[AddedToken, ...]
    remark: str = ""


def kept_of(model: msgspec.Raw, added: Sequence[AddedToken], where: str) -> Kept:
    """The added tokens beside a model as the library keeps them; ``where`` names the file."""
    if not added or bytes(memoryview(model)[:1]) != b"{":
        return Kept(tuple(range(len(added))), tuple(added))
    vocab = decode_json(model, _Tokens, where, "model").vocab or {}
    if isinstance(vocab, list):
        return kept({text: place for place, (text, _) in enumerate(vocab)}, len(vocab), added)
    known = {token.text: vocab.get(token.text) for token in added}
    ids = {text: token_id for text, token_id in known.items() if type(token_id) is int}
    return kept(ids, len(vocab), added)


def shared_ids(model: msgspec.Raw, added: Sequence[AddedToken], where: str) -> frozenset[int]:
    """Ids that two tokens have, be it of the model's or added ones, of a model that is sound."""
    vocab = decode_json(model, _Tokens, where, "model").vocab or {}
    texts = dict(vocab) if isinstance(vocab, dict) else {t: i for i, (t, _) in enumerate(vocab)}
    texts.update({token.text: token.id for token in added})
    return frozenset(one for one, many in Counter(texts.values()).items() if many > 1)


def kept(vocab: Mapping[str, int], size: int, added: Sequence[AddedToken]) -> Kept:
    """The added tokens as the library keeps them.

    It takes the id that the text has in the model's vocabulary, else the next free one: past the
    vocabulary's size, and past those that it has given so. One without text, and one that is
    there already, it passes over.

    vocab: the ids of the model's tokens. size: how many tokens the model has.
    """
    places: list[int] = []
    tokens: list[AddedToken] = []
    given: dict[str, int] = {}
    seen: set[AddedToken] = set()
    next_id = size
    for place, token in enumerate(added):
        nameless = replace(token, id=0)
        if not token.text or nameless in seen:
            continue
        seen.add(nameless)
        token_id = vocab.get(token.text, given.get(token.text))
        if token_id is None:
            token_id, next_id = next_id, next_id + 1
            given[token.text] = token_id
        places.append(place)
        tokens.append(replace(token, id=token_id))
    moved = [
        (added[place], token)
        for place, token in zip(places, tokens, strict=True)
        if added[place].id != token.id
    ]
    said: list[str] = []
    if moved:
        theirs, ours = moved[0]
        many = f"{len(moved)} added tokens" if len(moved) > 1 else "an added token"
        said.append(
            f"tokenizers gives {many} other ids than the file, such as {ours.id} for "
            f"{shown_json(ours.text)}, which the file has as {theirs.id}"
        )
    gone = len(added) - len(places)
    if gone:
        many = f"{gone} added tokens that are" if gone > 1 else "an added token that is"
        said.append(f"tokenizers passes over {many} empty or there already")
    remark = f"{'; '.join(said)}; all are given the file as tokenizers understands it"
    return Kept(tuple(places), tuple(tokens), remark if said else "")


def with_kept(content: bytes, kept: Kept) -> bytes:
    """A file whose added tokens are those that the library keeps, with the ids that it gives."""
    document: Json = json.loads(content)
    entries = document["added_tokens"]
    document["added_tokens"] = [
        {**entries[place], "id": token.id}
        for place, token in zip(kept.places, kept.tokens, strict=True)
    ]
    return json.dumps(document, ensure_ascii=False).encode("utf-8", "surrogatepass")
