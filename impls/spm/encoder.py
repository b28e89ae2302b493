"""``spm.sentencepiece`` and ``spm.llama-cpp``: SentencePiece BPE in two variants.

The algorithm is in :mod:`impls.spm.merging`.
"""

from __future__ import annotations

import contextlib
from functools import cache, cached_property, lru_cache, partial
from importlib import metadata
from typing import TYPE_CHECKING

import numpy as np

from corpora.vocabularies.gguf_controls import TELLING, controls_of
from corpora.vocabularies.model import Algorithm, Alphabet, Normalizer, PieceType, RankOrder
from corpora.vocabularies.pieces import Pieces
from corpora.vocabularies.sentencepiece_model import unknown_trouble
from impls.batch_encoder import BatchEncoder
from impls.explanations import IDS, NORMALIZATION, SEGMENTATION, literal, shown_ids, shown_parts
from impls.interface import About, Capability, Mode, Rejected, Step
from impls.piece_decoding import SYMBOL, llama_cpp, sentencepiece
from impls.spm import variants
from impls.unigram.splitting import longest_first, whole

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from corpora.vocabularies.model import Vocabulary
    from impls.kernels.layout import Bytes, Ints, Longs
    from impls.spm.lexicon import Lexicon
    from impls.spm.stages import Stages
    from impls.spm.variants import Variant
    from impls.unigram.splitting import Cut

    EncodeTexts = Callable[
        [Lexicon, Bytes, Longs, Longs, Longs],
        tuple[Ints, int],
    ]
    """An encoder of normalized texts: see :func:`impls.spm.merging.encode_texts`."""


_SPECIAL = frozenset({PieceType.CONTROL, PieceType.UNKNOWN, PieceType.USER_DEFINED})

EMPTY = -1
"""No id, as in :mod:`impls.kernels.layout`: here without Numba."""


def symbol_cuts(vocabulary: Vocabulary, variant: Variant) -> dict[bool, Cut]:
    """What cuts out of inputs the symbols that llama.cpp looks for before anything else.

    That for True is of inputs with special tokens: it cuts out control and unknown tokens as well.
    """
    if variant.freezes:
        return {False: whole, True: whole}
    pieces = Pieces.of(vocabulary.pieces)
    ids = {text: pieces.find(text) for text in TELLING}
    controls = controls_of(text for text, found in ids.items() if found).texts
    control = {i for text in controls for i in ids[text]}

    def cut(found: set[int]) -> Cut:
        return longest_first({pieces[i].text.encode(): i for i in sorted(found)})

    return {
        False: cut({*pieces.of_types(PieceType.USER_DEFINED)} - control),
        True: cut({*pieces.of_types(*_SPECIAL)} | control),
    }


def escaped(data: bytes, ends: Longs, given: Longs, prefix: bytes) -> tuple[Bytes, Longs]:
    """The parts with spaces as U+2581, those that are text behind a prefix; and their ends.

    All of llama.cpp's normalization for SPM.
    """
    texts: list[bytes] = []
    start = 0
    for end, token in zip(ends.tolist(), given.tolist(), strict=True):
        text = data[start:end].replace(b" ", SYMBOL.encode())
        texts.append(prefix + text if text and token == EMPTY else text)
        start = end
    text_ends = np.cumsum([len(text) for text in texts], dtype=np.int64)
    return np.frombuffer(b"".join(texts), dtype=np.uint8), text_ends


class SpmEncoder(BatchEncoder):
    """The encoder of a vocabulary in one variant. Holds no state between calls.

    Raises VocabularyError for a vocabulary that the variant's engine refuses or dies of.
    """

    def __init__(self, vocabulary: Vocabulary, variant: Variant) -> None:
        # Here and not above: Numba takes a second to import, and listing names needs none of it.
        from impls.spm.lexicon import make_lexicon  # noqa: PLC0415
        from impls.spm.merging import encode_texts  # noqa: PLC0415
        from impls.spm.reading import read_pieces  # noqa: PLC0415
        from impls.unigram.normalizer import make_rules  # noqa: PLC0415

        self._reading = cache(partial(read_pieces, vocabulary, variant))
        self.lexicon = make_lexicon(vocabulary, variant, self._reading)
        self._rules = make_rules(vocabulary) if variant.normalizes else None
        self._prefix = SYMBOL.encode() if vocabulary.normalizer.add_dummy_prefix else b""
        self._cuts = symbol_cuts(vocabulary, variant)
        self._decode = (sentencepiece if variant.normalizes else llama_cpp)(vocabulary)
        self._encode_texts: EncodeTexts = encode_texts

    def encode_batch(self, data: bytes, ends: Longs, mode: Mode) -> tuple[Ints, Longs]:
        """All inputs; Rejected for a character without an id, of which llama.cpp dies."""
        part_ends, given, counts = self.parts(data, ends, mode)
        text, text_ends = self.normalized(data, part_ends, given)
        id_ends = np.empty(len(part_ends), dtype=np.int64)
        run = self._encoder_of(data, part_ends)
        ids, lost = run(self.lexicon, text, text_ends, given, id_ends)
        if lost >= 0:
            raise Rejected(f"byte 0x{lost:02x} has no token")
        # An input without parts (an empty one) ends where the one before it does.
        return ids, np.append(0, id_ends)[counts]

    def normalized(self, data: bytes, ends: Longs, given: Longs) -> tuple[Bytes, Longs]:
        """The texts of the parts as the variant normalizes them, and their ends."""
        if self._rules is None:
            return escaped(data, ends, given, self._prefix)
        from impls.unigram.normalizer import prepare  # noqa: PLC0415 - Numba

        codes, none = np.frombuffer(data, dtype=np.uint8), np.empty(0, dtype=np.int64)
        text, segments, _ = prepare(self._rules, 0, none, codes, ends, given)
        text.flags.writeable = False  # as above, so that one code is compiled for both
        return text, segments[:, 0].copy()

    def parts(self, data: bytes, ends: Longs, mode: Mode) -> tuple[Longs, Longs, Longs]:
        """Symbols that are cut out, and texts; see :mod:`impls.unigram.splitting`."""
        return self._cuts[mode.special == "all"](data, ends)

    def _encoder_of(self, data: bytes, ends: Longs) -> EncodeTexts:
        """What encodes the texts of these inputs."""
        return self._encode_texts

    def stages(self, data: bytes, mode: Mode) -> Stages:
        """What becomes of a text, by the functions that encode it."""
        from impls.spm.stages import Stages, part_lists  # noqa: PLC0415 - as above

        texts: list[bytes] = []
        lists: tuple[list[bytes], list[bytes], list[bytes]] = ([], [], [])
        ends, given, _ = self.parts(data, np.array([len(data)]), mode)
        start = 0
        for end, token in zip(ends.tolist(), given.tolist(), strict=True):
            raw, start = data[start:end], end
            if token >= 0:
                parts = ([raw], [raw], [raw])
            else:
                one = np.array([EMPTY], dtype=np.int64)
                text, _ = self.normalized(raw, np.array([len(raw)]), one)
                raw, parts = text.tobytes(), part_lists(self.lexicon, text)
            texts.append(raw)
            for found, more in zip(lists, parts, strict=True):
                found += more
        ids: tuple[int, ...] | None = None
        with contextlib.suppress(Rejected):
            ids = tuple(self.encode(data, mode))
        begun, merged, resegmented = map(tuple, lists)
        return Stages(b"".join(texts), begun, merged, resegmented, ids)

    def decode(self, ids: Sequence[int]) -> bytes:
        """The text as the engine gives it; IndexError for an id that does not exist."""
        return self._decode(ids)


class SpmImplementation:
    """SentencePiece BPE in one variant."""

    encoder_type: type[SpmEncoder] = SpmEncoder

    def __init__(self, name: str, variant: Variant) -> None:
        self._name = name
        self.variant = variant

    @cached_property
    def about(self) -> About:
        """Who it is; its version is tokgate's."""
        return About(
            name=self._name,
            version=metadata.version("tokgate"),
            capabilities=frozenset({Capability.DECODE, Capability.THREADS}),
            engine="" if self.variant.normalizes else "llama.cpp",
        )

    def supports(self, vocabulary: Vocabulary, mode: Mode) -> str | None:
        """SentencePiece BPE vocabularies that the engine can be given, as text."""
        if vocabulary.algorithm is not Algorithm.BPE:
            return "byte-pair encoding only"
        if vocabulary.alphabet is not Alphabet.CHARACTERS or not vocabulary.pieces:
            return "needs scored SentencePiece pieces"
        if vocabulary.rank_order is not RankOrder.SCORES:
            return "its merges have no scores"
        normalizer = vocabulary.normalizer
        if normalizer.form is not None:
            return "no Unicode normalization form but the charsmap's"
        if not mode.pretokenize:
            return "the variant's handling of white space cannot be left out"
        if self.variant.normalizes:
            if mode.special == "all":
                return "never reads control tokens from text"
            return unknown_trouble(vocabulary)
        if controls_of(piece.text for piece in vocabulary.pieces).unknown:
            return "several tokens for one part of filling a gap, of which llama.cpp takes any"
        plain = Normalizer(add_dummy_prefix=normalizer.add_dummy_prefix, escape_whitespaces=True)
        if normalizer != plain:
            return "no normalization but escaped spaces and the dummy space before the text"
        return None if vocabulary.byte_fallback else "always has byte fallback"

    def load(self, vocabulary: Vocabulary) -> SpmEncoder:
        """Build the tables: well under a second for 32,000 pieces, once compiled."""
        encoder = self.encoder_type(vocabulary, self.variant)
        # Compile now, where a caller expects to wait, and not inside the first timed call.
        with contextlib.suppress(Rejected):
            encoder.encode(b"a", Mode())
        return encoder

    def steps(self, vocabulary: Vocabulary, data: bytes, mode: Mode) -> list[Step]:
        """The stages of one input; see :class:`impls.interface.Explains`."""
        found = _explaining(vocabulary, self.variant).stages(data, mode)
        return [
            Step(NORMALIZATION, literal(found.normalized)),
            Step("symbols", shown_parts(found.symbols)),
            Step(SEGMENTATION, shown_parts(found.merged)),
            Step("resegmentation", shown_parts(found.resegmented)),
            Step(IDS, shown_ids(found.ids or ())),
        ]


@lru_cache(maxsize=8)
def _explaining(vocabulary: Vocabulary, variant: Variant) -> SpmEncoder:
    """The tables take long, and of one vocabulary many texts are explained."""
    return SpmEncoder(vocabulary, variant)


SENTENCEPIECE = SpmImplementation("spm.sentencepiece", variants.SENTENCEPIECE)
LLAMA_CPP = SpmImplementation("spm.llama-cpp", variants.LLAMA_CPP)
