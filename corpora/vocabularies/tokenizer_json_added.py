"""The added tokens of a tokenizer.json as the library tokenizers keeps them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from corpora.vocabularies.model import Unexpressed
from corpora.vocabularies.reading import shown_json

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from corpora.vocabularies.model import AddedToken


@dataclass(frozen=True, slots=True)
class Kept:
    """What becomes of a file's added tokens.

    The library tokenizers gives ids by itself while it reads a file, and passes over what the file
    says of them. Other libraries take the file's word, so that the same file has other ids there,
    and none of them is wrong: all are given one file, which has the ids that the reference gives.

    places: of those that are kept, in the file's list. tokens: these, with their ids.
    remark: what a user must know of it; empty where the file says the same.
    """

    places: tuple[int, ...]
    tokens: tuple[AddedToken, ...]
    remark: str = ""


def kept(vocab: Mapping[str, int], size: int, added: Sequence[AddedToken]) -> Kept:
    """The added tokens as the library keeps them.

    It takes the id that the text has in the model's vocabulary, else the next free one: past the
    vocabulary's size, and past those that it has given so. One without text, and one that is
    there already, it passes over.

    vocab: the ids of the model's tokens. size: how many tokens the model has.
    """
    tokens: dict[int, AddedToken] = {}
    given: dict[str, int] = {}
    seen: set[AddedToken] = set()
    for place, token in enumerate(added):
        nameless = replace(token, id=0)
        if not token.text or nameless in seen:
            continue
        seen.add(nameless)
        if token.text not in vocab:
            given.setdefault(token.text, size + len(given))
        tokens[place] = replace(token, id=vocab.get(token.text, given.get(token.text, 0)))
    said: list[str] = []
    moved = [(added[place], token) for place, token in tokens.items() if added[place] != token]
    if moved:
        theirs, ours = moved[0]
        many = f"{len(moved)} added tokens" if len(moved) > 1 else "an added token"
        said.append(
            f"tokenizers gives {many} other ids than the file, such as {ours.id} for "
            f"{shown_json(ours.text)}, which the file has as {theirs.id}"
        )
    gone = len(added) - len(tokens)
    if gone:
        many = f"{gone} added tokens that are" if gone > 1 else "an added token that is"
        said.append(f"tokenizers ignores {many} empty or already present")
    remark = f"{'; '.join(said)}; all are given the file as tokenizers understands it"
    return Kept(tuple(tokens), tuple(tokens.values()), remark if said else "")


def check_added(
    vocab: Mapping[str, int], added: Sequence[AddedToken], where: str, size: int | None = None
) -> None:
    """That each added token has an id of its own, which tokenizers keeps. Raises Unexpressed.

    The library takes the next id past the vocabulary's size, which may be another token's where
    ids of the vocabulary have holes. size: how many tokens the model has, if not that of ``vocab``.
    """
    found = kept(vocab, len(vocab) if size is None else size, added)
    if found.remark:
        raise Unexpressed(where, (found.remark,))
    taken, texts = set(vocab.values()), set[str]()
    for token in added:
        shown = f"the added token {shown_json(token.text)}"
        if token.text in texts:
            raise Unexpressed(where, (f"{shown}, which appears twice, with different flags",))
        if token.text not in vocab and token.id in taken:
            raise Unexpressed(
                where, (f"the id {token.id} of {shown}, which another token has, too",)
            )
        texts.add(token.text)
