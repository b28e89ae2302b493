"""What wraps an encoder passes on every optional method of the interface."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from corpora.vocabularies.model import Vocabulary
from impls import constrained, interface, prepared
from impls.interface import About, Mode, Unsupported
from impls.text_plugins import adapted
from tests.impls.test_text_plugins import vocabulary

VOCABULARY = vocabulary()

TEXT, SPECIAL = Mode(), Mode(special="all")

OF_IMPLEMENTATIONS = {"Implementation", "Explains", "ReadsFiles", "Reproducible"}

PROTOCOLS = {
    name: found
    for module in (interface, prepared, constrained)
    for name, found in vars(module).items()
    if getattr(found, "_is_runtime_protocol", False) and found.__module__ == module.__name__
}
OPTIONAL = {name: one for name, one in PROTOCOLS.items() if name not in OF_IMPLEMENTATIONS}

WORD = "né 中".encode()
"""Seven bytes, four characters."""

IDS = [ord(one) for one in "né 中"]

ASKED: dict[str, tuple[tuple[Any, ...], Any]] = {
    "encode": ((WORD, TEXT), IDS),
    "encode_str": (("\ud800", TEXT), [0xD800]),
    "encode_many": (([WORD, b""], TEXT), [IDS, []]),
    "encode_with_offsets": ((WORD, TEXT), (IDS, [(0, 1), (1, 3), (3, 4), (4, 7)])),
    "encode_with_unstable": ((WORD, TEXT), (IDS[:2], [IDS[2:]])),
    "encode_with_added": ((WORD, b"a", TEXT), [1, *IDS, 2, 97]),
    "encode_with_dropout": ((WORD, TEXT), IDS),
    "truncated": ((WORD, 2, 0, False, TEXT), [IDS[:2], IDS[2:]]),
    "padded": (([b"a", b""], 1, False, TEXT), [([97], [1]), ([0], [0])]),
    "decode": ((IDS,), WORD),
    "decode_stream": ((IDS,), [b"n", "é".encode(), b" ", "中".encode()]),
    "decode_without_specials": ((IDS,), WORD),
    "decode_cleaned": ((IDS,), WORD),
    "count": ((WORD, TEXT), 4),
    "count_till_limit": ((WORD, 3, TEXT), None),
    "split": ((WORD, 2, TEXT), [3, 7]),
    "append": (([WORD, b"a"], TEXT), [4, 5]),
    "prepend": (([WORD, b"a"], TEXT), [4, 5]),
    "interval": ((WORD, [(0, 3), (1, 7)], TEXT), [2, 3]),
    "heal": ((WORD, [97], [b"a"], TEXT), (IDS[:3], "中".encode())),
    "reloaded": ((), None),
    "respelled": ((), None),
    "warm_up": (([TEXT, SPECIAL],), None),
    "prepare": ((WORD, TEXT), None),
    "prepare_count": ((WORD, TEXT), None),
    "prepare_batch": (([WORD], TEXT, 1), None),
    "start": (("{}", "compact"), ...),
    "encode_batch": ((WORD + b"a", np.array([7, 8]), TEXT), None),
}
"""What each method is asked in bytes, and its answer; None for answers that are looked at below."""


class Everything:
    """An encoder of text that has every optional method. Each id is a character."""

    nanoseconds = 5

    def encode(self, text: str, mode: Mode) -> list[int]:
        assert isinstance(text, str)
        return [ord(one) for one in text]

    encode_str = encode_with_dropout = encode

    def encode_many(self, inputs: list[str], mode: Mode) -> list[list[int]]:
        return [self.encode(text, mode) for text in inputs]

    def encode_with_offsets(self, text: str, mode: Mode) -> tuple[list[int], list[tuple[int, int]]]:
        return self.encode(text, mode), [(i, i + 1) for i in range(len(text))]

    def encode_with_unstable(self, text: str, mode: Mode) -> tuple[list[int], list[list[int]]]:
        return self.encode(text[:2], mode), [self.encode(text[2:], mode)]

    def encode_with_added(self, text: str, pair: str | None, mode: Mode) -> list[int]:
        return [1, *self.encode(text, mode), 2, *self.encode(pair or "", mode)]

    def encode_batch(self, text: str, ends: Any, mode: Mode) -> Any:
        return np.array(self.encode(text, mode), np.int32), np.array(ends)

    def truncated(
        self, text: str, length: int, overlap: int, left: bool, mode: Mode
    ) -> list[list[int]]:
        return [self.encode(text[:length], mode), self.encode(text[length:], mode)]

    def padded(
        self, inputs: list[str], multiple: int, left: bool, mode: Mode
    ) -> list[tuple[list[int], list[int]]]:
        return [(self.encode(one, mode) or [0], [len(one)]) for one in inputs]

    def decode(self, ids: list[int]) -> str:
        return "".join(map(chr, ids))

    decode_without_specials = decode_cleaned = decode

    def decode_stream(self, ids: list[int]) -> list[str]:
        return [chr(one) for one in ids]

    def count(self, text: str, mode: Mode) -> int:
        return len(self.encode(text, mode))

    def count_till_limit(self, text: str, limit: int, mode: Mode) -> int | None:
        return len(text) if len(self.encode(text, mode)) <= limit else None

    def split(self, text: str, limit: int, mode: Mode) -> list[int]:
        return [*range(limit, len(self.encode(text, mode)), limit), len(text)]

    def append(self, chunks: list[str], mode: Mode) -> list[int]:
        return [len(self.encode("".join(chunks[: i + 1]), mode)) for i in range(len(chunks))]

    prepend = append

    def interval(self, text: str, ranges: list[tuple[int, int]], mode: Mode) -> list[int]:
        return [len(self.encode(text[start:end], mode)) for start, end in ranges]

    def heal(
        self, forced: str, recent: list[int], allowed: list[str], mode: Mode
    ) -> tuple[list[int], str]:
        assert allowed == ["a"]
        return self.encode(forced[:3], mode), forced[3:]

    def reloaded(self) -> Everything:
        return Everything()

    def respelled(self) -> Everything | None:
        return None

    def warm_up(self, modes: list[Mode]) -> None:
        assert modes == [TEXT, SPECIAL]

    def prepare(self, text: str, mode: Mode) -> Any:
        return lambda: self.encode(text, mode)

    def prepare_count(self, text: str, mode: Mode) -> Any:
        return lambda: len(self.encode(text, mode))

    def prepare_batch(self, texts: list[str], mode: Mode, threads: int) -> Any:
        return lambda: [self.encode(text, mode) for text in texts]

    def start(self, schema: str, whitespace: str) -> object:
        assert (schema, whitespace) == ("{}", "compact")
        return ...


class Plugin:
    about = About("everything", "1")
    text_only = True
    always_special = True
    native_formats = frozenset({"gguf"})

    def supports(self, vocabulary: Vocabulary, mode: Mode) -> str | None:
        return None

    def load(self, vocabulary: Vocabulary) -> Everything:
        return Everything()

    def recipe(self, vocabulary: Vocabulary, mode: Mode) -> str:
        return "recipe"

    def steps(self, vocabulary: Vocabulary, data: bytes, mode: Mode) -> list[Any]:
        return []


class TextOnly(Plugin):
    always_special = False


class SpecialOnly(Plugin):
    text_only = False


def test_every_optional_method_is_asked_below() -> None:
    methods = {
        name
        for protocol in OPTIONAL.values()
        for name in vars(protocol)
        if not name.startswith("_")
    }
    assert methods == set(ASKED)
    assert isinstance(Plugin(), tuple(PROTOCOLS[name] for name in ("Explains", "ReadsFiles")))


@pytest.mark.parametrize("plugin", [Plugin, TextOnly, SpecialOnly])
def test_each_wrapper_has_each_protocol(plugin: type[Plugin]) -> None:
    made = adapted(plugin())
    encoder: Any = made.load(VOCABULARY)
    assert encoder.nanoseconds == 5
    for name, protocol in PROTOCOLS.items():
        if name != "Implementation":
            assert isinstance(encoder if name in OPTIONAL else made, protocol), name


@pytest.mark.parametrize("plugin", [Plugin, TextOnly])
def test_text_goes_in_and_bytes_come_out_of_each_method(plugin: type[Plugin]) -> None:
    encoder: Any = adapted(plugin()).load(VOCABULARY)
    for name, (asked, wanted) in ASKED.items():
        given = getattr(encoder, name)(*asked)
        if name in ("prepare", "prepare_count", "prepare_batch"):
            assert given() == {"prepare": IDS, "prepare_count": 4, "prepare_batch": [IDS]}[name]
        elif name == "encode_batch":
            assert given[0].tolist() == [*IDS, 97]
            assert given[1].tolist() == [4, 5]
        elif name == "reloaded":
            assert given.encode(WORD, TEXT) == IDS
        else:
            assert given == wanted, name


@pytest.mark.parametrize(
    ("name", "asked"),
    [
        ("encode", (b"a<|end|>", TEXT)),
        ("encode_str", ("a<|end|>", TEXT)),
        ("truncated", (b"a<|end|>", 2, 0, False, TEXT)),
        ("padded", ([b"", b"<|end|>"], 1, False, TEXT)),
        ("append", ([b"<|e", b"nd|>"], TEXT)),
        ("prepend", ([b"nd|>", b"<|e"], TEXT)),
        ("prepare", (b"<|end|>", TEXT)),
    ],
)
def test_special_tokens_are_refused_by_each_method(name: str, asked: tuple[Any, ...]) -> None:
    for plugin in (Plugin, SpecialOnly):
        encoder: Any = adapted(plugin()).load(VOCABULARY)
        with pytest.raises(Unsupported, match="special tokens"):
            getattr(encoder, name)(*asked)
        with pytest.raises(Unsupported, match="special tokens"):
            encoder.reloaded().encode(b"<|end|>", TEXT)


@pytest.mark.parametrize(
    ("name", "asked"),
    [
        ("append", (["中".encode()[:1], "中".encode()[1:]], TEXT)),
        ("interval", (WORD, [(0, 2)], TEXT)),
        ("encode_batch", (WORD, np.array([2, 7]), TEXT)),
    ],
)
def test_what_ends_inside_a_character_is_refused(name: str, asked: tuple[Any, ...]) -> None:
    encoder: Any = adapted(TextOnly()).load(VOCABULARY)
    with pytest.raises(Unsupported):
        getattr(encoder, name)(*asked)
