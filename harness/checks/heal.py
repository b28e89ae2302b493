"""Healing: every token that is forced is one that the tokenizer itself would give."""

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import accumulate

from corpora.vocabularies.model import Vocabulary
from harness.checks.another_way import AsksAgain, Fault, Look, Subject
from harness.checks.base import ids_of, spelled, verbatim, without_specials
from harness.checks.heal_questions import HealQuestion, alike, question
from harness.checks.services import DEFINITION, against, unanswered
from harness.core.outcomes import Encoded, Outcome
from impls.interface import Capability

COMPLETE = frozenset({"finite", "schema"})
"""Kinds of grammars of which all sentences are asked."""

TOKENS_SHOWN = 6
"""Tokens that stand in a finding's line: where they part is among the last ones."""

SHOWN = 40
"""Bytes of a text that stand in a finding's line."""


class Heal(AsksAgain):
    """For (t, l) = heal(f, encode(c), W): t spells f without its end l, and for all w in W:
    encode(c f w) begins with encode(c) followed by t.

    Context, forced bytes and grammar are drawn from the input. A w that changes the tokens of the
    context itself says nothing of those that are forced, and is passed over. A healer that takes
    more back than need be is slower, not wrong: the report says which share it forces of the
    tokens with which all of W begin, where W is all that the grammar allows.
    """

    name = "heal"
    summary = "a healer forces only tokens that the tokenizer itself would give, whatever follows"
    said = "forced a token that the tokenizer itself would not give"
    every = 4
    needs = (Capability.HEAL,)
    where = (without_specials,)

    def look(self, one: Subject) -> Look:
        """Have context and sentences encoded by who defines them, then heal after the context."""
        asked = question(one.data, one.vocabulary, text=one.contract.mode.pretokenize)
        # The definition's, where both mean the same.
        defined = one.participant.about.defined and DEFINITION in one.seen.results
        whose = DEFINITION if defined else one.name
        texts = yield [one.encode(text, by=whose) for text in asked.texts]
        if not isinstance(texts[0], Encoded):
            return  # where a part is rejected, nobody knows what is right
        read = asked.forced + b"".join(asked.allowed or ())
        given = asked.forced, list(texts[0].ids), asked.allowed and list(asked.allowed)
        (outcome,) = yield [one.serve(Capability.HEAL, read, *given)]
        found = [*faults(one, whose, asked, texts, outcome)]
        most = possible(one, asked, texts)
        one.judge(outcome, found)
        if not found and most and isinstance(outcome, Encoded):
            share = {"forced": min(len(outcome.ids), most), "possible": most}
            one.judgement.forced.setdefault(one.name, Counter()).update(share)


def faults(
    one: Subject, whose: str, asked: HealQuestion, texts: Sequence[Outcome], outcome: Outcome
) -> Iterator[Fault]:
    """What is wrong. texts: the encodings of ``asked.texts``."""
    if not isinstance(outcome, Encoded):
        if all(isinstance(text, Encoded) for text in texts):
            yield unanswered(one, outcome)
        return
    vocabulary, ids, leftover = one.vocabulary, outcome.ids, outcome.text or b""
    where = f"after {shown(asked.context)}, with {shown(asked.forced)} forced"
    if not asked.forced.endswith(leftover):
        law = "what is left over is the end of the forced bytes"
        wrong = f"leaves {shown(leftover)} over {where}"
        yield against(one, "leftover", law, wrong)
    taken, said = asked.forced.removesuffix(leftover), spelled(vocabulary, ids)
    if said != taken and verbatim(one.contract):
        law = f"the forced tokens spell {shown(taken)}, all that is not left over"
        spelling = "nothing" if said is None else shown(said)
        wrong = f"forces {list(ids)}, which spell {spelling}, {where}"
        yield against(one, "spelling", law, wrong)
    context = ids_of(texts[0])
    for way, text in zip(asked.sentences, texts[1:], strict=True):
        before, after = ids_of(text)[: len(context)], ids_of(text)[len(context) :]
        if isinstance(text, Encoded) and before == context and after[: len(ids)] != ids:
            given = tokens(vocabulary, after[: len(ids) + 1])
            law = f"the tokens are {given}, .. when the text goes on with {shown(way)}"
            wrong = f"forces {tokens(vocabulary, ids)} {where}"
            yield against(one, "canonical", law, wrong, f"{whose} (encode)")


def possible(one: Subject, asked: HealQuestion, texts: Sequence[Outcome]) -> int | None:
    """How many tokens might be forced: those with which all sentences begin, within the forced
    bytes. None where the healer is not told all that may follow, or nobody knows.
    """
    told = asked.kind in COMPLETE and asked.allowed == asked.sentences
    known = told and all(isinstance(text, Encoded) for text in texts)
    context, *sentences = map(ids_of, texts)
    same = alike(sentences) if known else -1
    if same < len(context) or sentences[0][: len(context)] != context or not verbatim(one.contract):
        return None
    spelled = map(one.vocabulary.spelling, sentences[0][len(context) : same])
    return sum(end <= len(asked.forced) for end in accumulate(map(len, spelled)))


def tokens(vocabulary: Vocabulary, ids: Sequence[int]) -> str:
    """Ids with what they spell, for a person; the last few where they are many."""
    texts = [
        f"{one} ({shown(vocabulary.tokens[one])})" if 0 <= one < len(vocabulary) else str(one)
        for one in ids[-TOKENS_SHOWN:]
    ]
    return ("" if len(ids) <= TOKENS_SHOWN else ".., ") + (", ".join(texts) or "nothing")


def shown(data: bytes | None) -> str:
    """Bytes for a person, the end of them where they are long."""
    data = data or b""
    text = repr(data[-SHOWN:].decode("utf-8", "backslashreplace"))
    return text if len(data) <= SHOWN else f"..{text}"
