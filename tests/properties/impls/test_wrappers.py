"""What wraps an encoder passes on every optional method of the interface."""

import numpy as np
import pytest

from impls import constrained, interface, prepared
from impls.interface import About, Mode, Unsupported
from impls.text_plugins import adapted
from tests.properties.impls.test_text_plugins import vocabulary

VOCABULARY = vocabulary()

TEXT = Mode()

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

SEEN = []
"""What the methods that echo were given."""


class Own:
    """An encoder of text with the methods that count characters. Each id is a character."""

    nanoseconds = 5

    def encode(self, text, mode):
        assert isinstance(text, str)
        return [ord(one) for one in text]

    encode_str = encode

    def encode_with_offsets(self, text, mode):
        return self.encode(text, mode), [(i, i + 1) for i in range(len(text))]

    def encode_batch(self, text, ends, mode):
        return np.array(self.encode(text, mode), np.int32), np.array(ends)

    def split(self, text, limit, mode):
        return [*range(limit, len(self.encode(text, mode)), limit), len(text)]

    def interval(self, text, ranges, mode):
        return [len(self.encode(text[start:end], mode)) for start, end in ranges]

    def reloaded(self):
        return Everything()

    def respelled(self):
        return None


def echo(self, *given):
    SEEN.append(given)
    return given


METHODS = {name for one in OPTIONAL.values() for name in vars(one) if not name.startswith("_")}
ECHOING = sorted(METHODS - set(vars(Own)))
Everything = type("Everything", (Own,), dict.fromkeys(ECHOING, echo))


class Plugin:
    about = About("everything", "1")
    text_only = True
    always_special = True
    native_formats = frozenset({"gguf"})

    def supports(self, vocabulary, mode):
        return None

    def load(self, vocabulary):
        return Everything()

    def recipe(self, vocabulary, mode):
        return "recipe"

    def steps(self, vocabulary, data, mode):
        return []


class TextOnly(Plugin):
    always_special = False


class SpecialOnly(Plugin):
    text_only = False


@pytest.mark.parametrize("plugin", [Plugin, TextOnly, SpecialOnly])
def test_each_wrapper_has_each_protocol(plugin):
    made = adapted(plugin())
    encoder = made.load(VOCABULARY)
    assert encoder.nanoseconds == 5
    for name, protocol in PROTOCOLS.items():
        if name != "Implementation":
            assert isinstance(encoder if name in OPTIONAL else made, protocol), name


@pytest.mark.parametrize("plugin", [Plugin, TextOnly])
def test_text_goes_in_and_bytes_come_out_of_each_method(plugin):
    encoder = adapted(plugin()).load(VOCABULARY)
    given = (WORD, [WORD, b""], [[WORD, 1]], 3, IDS, TEXT)
    for name in ECHOING:
        assert getattr(encoder, name)(*given) == given, name
        assert SEEN[-1] == ("né 中", ["né 中", ""], [["né 中", 1]], 3, IDS, TEXT), name
    assert encoder.encode(WORD, TEXT) == encoder.reloaded().encode(WORD, TEXT) == IDS
    assert encoder.respelled() is None
    assert encoder.encode_str("\ud800", TEXT) == [0xD800]


def test_places_in_a_text_count_bytes_outside_and_characters_inside():
    encoder = adapted(TextOnly()).load(VOCABULARY)
    spans = [(0, 1), (1, 3), (3, 4), (4, 7)]
    assert encoder.encode_with_offsets(WORD, TEXT) == (IDS, spans)
    assert encoder.split(WORD, 2, TEXT) == [3, 7]
    assert encoder.interval(WORD, [(0, 3), (1, 7)], TEXT) == [2, 3]
    ids, ends = encoder.encode_batch(WORD + b"a", np.array([7, 8]), TEXT)
    assert (ids.tolist(), ends.tolist()) == ([*IDS, 97], [4, 5])


@pytest.mark.parametrize("plugin", [Plugin, SpecialOnly])
def test_special_tokens_are_refused_by_each_method(plugin):
    encoder = adapted(plugin()).load(VOCABULARY)
    split, turned = [b"<|e", b"nd|>"], [b"nd|>", b"<|e"]
    for name in [*ECHOING, "encode", "encode_str"]:
        for text in (b"a<|end|>", "a<|end|>", [b"", b"<|end|>"], split, turned):
            with pytest.raises(Unsupported, match="special tokens"):
                getattr(encoder, name)(text, TEXT)
    with pytest.raises(Unsupported, match="special tokens"):
        encoder.reloaded().encode(b"<|end|>", TEXT)


@pytest.mark.parametrize(
    ("name", "asked"),
    [
        ("encode", (WORD[:2], TEXT)),
        ("append", ([WORD[4:5], WORD[5:]], TEXT)),
        ("interval", (WORD, [(0, 2)], TEXT)),
        ("encode_batch", (WORD, np.array([2, 7]), TEXT)),
    ],
)
def test_what_ends_inside_a_character_is_refused(name, asked):
    encoder = adapted(TextOnly()).load(VOCABULARY)
    with pytest.raises(Unsupported):
        getattr(encoder, name)(*asked)
