"""Mistakes with special tokens."""

from __future__ import annotations

from typing import TYPE_CHECKING

from harness.studies.selftest.mutant import planted
from harness.studies.selftest.plain.bpe import PlainBpe
from impls.interface import Mode

if TYPE_CHECKING:
    from collections.abc import Iterable

ON = "tekken_240911"


@planted("equivalence", on=ON, mode="text", stages=("special-tokens",), shows=(b"<s>",))
class AlwaysOn(PlainBpe):
    """Special tokens are read from ordinary text, too: what a prompt injects is obeyed."""

    modes = ("text",)

    def parts(self, text: str, mode: Mode) -> Iterable[str | int]:
        return super().parts(text, Mode(special="all"))


@planted("equivalence", on=ON, mode="special", stages=("special-tokens",), shows=(b"a<s>",))
class NotAtTheEnd(PlainBpe):
    """A special token that ends the text is taken for text."""

    modes = ("special",)

    def special_at(self, text: str, place: int) -> str | None:
        found = super().special_at(text, place)
        return None if found is not None and place + len(found) == len(text) else found


@planted("equivalence", on=ON, mode="special", stages=("special-tokens",), shows=(b"<s><s>a",))
class NotAdjacent(PlainBpe):
    """Of two special tokens side by side, the second is taken for text."""

    modes = ("special",)

    def parts(self, text: str, mode: Mode) -> Iterable[str | int]:
        before: str | int = ""
        texts = {token_id: special for special, token_id in self.specials.items()}
        for part in super().parts(text, mode):
            if part == "":
                continue
            if isinstance(part, int) and isinstance(before, int):
                part = texts[part]
            before = part
            yield part


@planted("equivalence", on=ON, mode="special", stages=("special-tokens",), shows=(b"<S>",))
class AnyCase(PlainBpe):
    """Special tokens are found in capitals, too."""

    modes = ("special",)

    def special_at(self, text: str, place: int) -> str | None:
        found = super().special_at(text, place)
        shouted = (one for one in ("<s>", "</s>") if text.startswith(one.upper(), place))
        return found or next(shouted, None)


@planted("equivalence", on=ON, mode="special", stages=("text",), shows=(b"a <s>",))
class StripsBefore(PlainBpe):
    """White space before a special token is dropped."""

    modes = ("special",)

    def parts(self, text: str, mode: Mode) -> Iterable[str | int]:
        every = list(super().parts(text, mode))
        for part, following in zip(every, [*every[1:], ""], strict=True):
            yield part.rstrip() if isinstance(part, str) and isinstance(following, int) else part


@planted("equivalence", on=ON, mode="special", stages=("special-tokens",), shows=(b"<s>a<s>",))
class FirstOnly(PlainBpe):
    """Only the first of several equal special tokens is found."""

    modes = ("special",)

    def parts(self, text: str, mode: Mode) -> Iterable[str | int]:
        seen: set[int] = set()
        texts = {token_id: special for special, token_id in self.specials.items()}
        for part in super().parts(text, mode):
            if isinstance(part, int):
                yield texts[part] if part in seen else part
                seen.add(part)
            else:
                yield part
