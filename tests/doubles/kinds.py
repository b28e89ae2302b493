"""Plug-ins with one mistake of each kind that maintainers report, and right ones beside them."""

import codecs

from harness.studies.selftest.plain.bpe import PlainBpe


class Incremental(PlainBpe):
    """Right: decodes by Python's own incremental decoder, in a stream as well."""

    name = "incremental"

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
