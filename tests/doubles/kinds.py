"""Plug-ins with one mistake of each kind that maintainers report, and right ones beside them."""

import codecs
import re
import time

from harness.studies.selftest.plain.bpe import PlainBpe
from impls.interface import Capability


class Incremental(PlainBpe):
    """Right: decodes by Python's own incremental decoder, in a stream as well."""

    name = "incremental"
    modes = ("text",)

    def decode(self, ids):
        return self.vocabulary.spell(list(ids)).decode(errors="replace").encode()

    def decode_stream(self, ids):
        return self.decode_stream_after([], ids)

    def decode_stream_after(self, prompt, ids):
        decoder = codecs.getincrementaldecoder("utf-8")("replace")
        spelling = self.vocabulary.spelling
        for one in prompt:
            decoder.decode(spelling(one))
        return [decoder.decode(spelling(one)).encode() for one in ids]


class PromptAgain(Incremental):
    """Gives the text of a prompt again that ends inside a character."""

    name = "prompt-again"

    def decode_stream_after(self, prompt, ids):
        given = super().decode_stream_after(prompt, ids)
        text = self.decode(prompt)
        return [text * text.endswith("\ufffd".encode()) + one for one in given[:1]] + given[1:]


class HoldsBack(Incremental):
    """Holds text back for as long as it ends with U+FFFD, as tokenizers 0.23 does."""

    name = "holds-back"

    def decode_stream(self, ids):
        given, begun = [], 0
        for k in range(1, len(ids) + 1):
            text = self.decode(ids[begun:k])
            held = text.endswith("\ufffd".encode())
            given.append(b"" if held else text)
            begun = begun if held else k
        return given


class Threaded(PlainBpe):
    """Right: one that is asked for long texts, too."""

    name = "threaded"
    max_input = 1 << 20
    modes = ("text",)


class CutAtLines(Threaded):
    """Cuts a text of 64 KiB for its threads behind a line end in its middle."""

    name = "cut-at-lines"
    least, place = 1 << 16, re.compile(r"\n(?=.)", re.DOTALL)

    def coded(self, data, mode):
        cut = self.place.search(data.decode(), len(data) // 2) if len(data) >= self.least else None
        if cut is None:
            return super().coded(data, mode)
        at = len(data.decode()[: cut.end()].encode())
        return [*super().coded(data[:at], mode), *super().coded(data[at:], mode)]


class CutAtSpaces(CutAtLines):
    """Cuts a text of 256 KiB before a space."""

    name = "cut-at-spaces"
    least, place = 1 << 18, re.compile(r"(?=[ ])")


class Shaped(PlainBpe):
    """Right: pads, from several threads as well."""

    name = "shaped"
    capabilities = PlainBpe.capabilities | {Capability.THREADS}

    def padded(self, inputs, multiple, left, mode):
        rows = [self.encode(data, mode) for data in inputs]
        length = -(-max(map(len, rows)) // multiple) * multiple
        found = []
        for row in rows:
            gap, kept = [0] * (length - len(row)), [1] * len(row)
            mask = [0] * len(gap) + kept if left else kept + [0] * len(gap)
            found.append((gap + row if left else row + gap, mask))
        return found


class Borrowed(Shaped):
    """Fails while another thread pads: what it pads with is its state."""

    name = "borrowed"
    padding = 0

    def padded(self, inputs, multiple, left, mode):
        self.padding += 1
        try:
            time.sleep(0.001)
            return super().padded(inputs, multiple, left, mode)
        finally:
            self.padding -= 1

    def encode(self, data, mode):
        if self.padding > 1:
            raise RuntimeError("Already borrowed")
        return super().encode(data, mode)


class KeepsPadding(Shaped):
    """The call after one that pads is padded, too."""

    name = "keeps-padding"
    capabilities = PlainBpe.capabilities
    least = 0

    def padded(self, inputs, multiple, left, mode):
        found = super().padded(inputs, multiple, left, mode)
        self.least = multiple
        return found

    def encode(self, data, mode):
        ids, least = super().encode(data, mode), self.least
        self.least = 0
        return ids + [0] * (-len(ids) % least) if least else ids


class TrimmedKeys(PlainBpe):
    """Remembers texts by what is left of them without white space at their ends."""

    name = "trimmed-keys"

    def coded(self, data, mode):
        known = self.__dict__.setdefault("texts", {})
        return known.setdefault((data.strip(), mode), super().coded(data, mode))


class CleansBytes(PlainBpe):
    """Takes spaces before punctuation out of a text of bytes."""

    name = "cleans-bytes"

    def decode_cleaned(self, ids):
        return self.decode(ids).replace(b" !", b"!").replace(b" .", b".")


class NamesTrimmed(PlainBpe):
    """Names tokens without the space that they begin with."""

    name = "names-trimmed"

    def token_strings(self, data, mode):
        spelling = self.vocabulary.spelling
        return [spelling(one).decode(errors="replace").lstrip() for one in self.encode(data, mode)]
