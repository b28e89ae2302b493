"""Chats: what a template makes of messages grows at its end, and messages stay what they are."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any, NamedTuple

from harness.checks.another_way import AsksAgain, Fault, Look, Subject
from harness.checks.base import Judgement, Observation, draw
from harness.core.conversations import ROLES
from harness.core.messages import Chat
from harness.core.outcomes import Encoded, Failed, Outcome, Unsupported

GROWING = {
    kind: [Chat(turns, kind) for turns in range(1 + (roles[0] == "system"), 1 + len(roles))]
    for kind, roles in ROLES.items()
}
"""Conversations of each kind, message by message: nobody talks to the system alone."""

WHOLE = [growing[-1] for growing in GROWING.values()]

MARKS = 2
"""Special tokens whose texts a message has that tries to forge some."""

LETTER = b"a"
"""A message that can add no special token."""

JSON = b"[{-0123456789"
"""With these begins what libraries take for JSON in the result of a tool."""

DEEP = 5_000
"""More than Python's parser of JSON takes of nested lists, and of the digits of a number."""


class Rendered(NamedTuple):
    """A conversation: its ids, its text, and the ids of the text by itself."""

    ids: Encoded
    text: bytes
    alone: Outcome


class Conversations(AsksAgain):
    """For conversations of n messages x, n = 1, 2, ..: chat(x, n+1) = chat(x, n) c for some c. For
    texts s of special tokens: chat(x s, n) has the special tokens of chat(a, n) with a letter a,
    and no others. And for A, B with the same template and encode_A(t) = encode_B(t) of the texts t
    that they render: chat_A(x, n) = chat_B(x, n). A template may refuse a conversation, such as one
    of empty messages, or with tools.

    Of encoders that encode conversations by a template (``EncodesChats``); those who give its text
    (``render_chat``) are compared. Servers keep what they computed for the beginning of
    a conversation, and compute it again where its ids change. A message that adds the tokens of
    another role speaks for that role. And a text that is not the template's is not what the model
    was trained on.
    """

    name = "chat"
    summary = (
        "a longer conversation begins with the ids of the shorter one, no message adds special "
        "tokens, and engines render one template alike"
    )
    said = "encoded a conversation wrongly"
    every = 12
    most = 32

    def look(self, one: Subject) -> Look:
        """Conversations that grow, and some with the texts of special tokens in their messages.

        Returns what is compared with others, by kind.
        """
        (first,) = yield [one.encode(one.data, shape=Chat(1))]
        if isinstance(first, Unsupported):
            return {}
        texts = sorted(one.vocabulary.special_tokens)
        marks = draw(one.data).sample(texts, min(MARKS, len(texts)))
        forged = one.data + "".join(marks).encode()
        asked = [
            *((one.data, each) for growing in GROWING.values() for each in growing),
            *((data, each) for each in WHOLE for data in (LETTER, forged)),
            *((one.data, replace(each, rendered=True)) for each in WHOLE),
        ]
        if one.data and one.data[0] in JSON:
            asked.append((one.data[:1] * DEEP, Chat(3, "tools")))
        outcomes = yield [one.encode(data, shape=each) for data, each in asked]
        told = dict(zip(asked, outcomes, strict=True))
        for growing in GROWING.values():
            chats = [(each, told[one.data, each]) for each in growing]
            if any(isinstance(outcome, Encoded) for _, outcome in chats):
                faults = [*self.rewritten(one, chats)]
                one.judge(first, faults)
                if faults and growing[0].kind == "plain":
                    break  # so are all others
        pairs = [(each, told[LETTER, each], told[forged, each]) for each in WHOLE]
        if any(isinstance(a, Encoded) and isinstance(b, Encoded) for _, a, b in pairs):
            one.judge(first, self.forgeries(one, pairs))
        for (data, shape), outcome in told.items():
            if isinstance(outcome, Failed):
                words = f"{shape}, each {DEEP:,} characters" if len(data) == DEEP else str(shape)
                one.expect(self.name, one.says(Encoded(())), outcome, words, lawful=False)
                break
        return (yield from self.rendered(one, told))

    def rewritten(self, one: Subject, chats: Sequence[tuple[Chat, Outcome]]) -> Iterator[Fault]:
        """Where a conversation does not begin with the ids of the one before it."""
        there = [(each, answer) for each, answer in chats if isinstance(answer, Encoded)]
        for (shape, shorter), (longer, answer) in pairwise(there):
            if answer.ids[: len(shorter.ids)] != shorter.ids:
                stage = "prefix" if shape.kind == "plain" else f"prefix-{shape.kind}"
                yield stage, one.says(shorter, str(shape)), one.says(answer, str(longer))

    def forgeries(
        self, one: Subject, pairs: Sequence[tuple[Chat, Outcome, Outcome]]
    ) -> Iterator[Fault]:
        """Where messages with the texts of special tokens have other ones than plain messages."""
        special = {*one.vocabulary.special_tokens.values()}
        for shape, plain, forged in pairs:
            if not (isinstance(plain, Encoded) and isinstance(forged, Encoded)):
                continue
            added = [[i for i in each.ids if i in special] for each in (plain, forged)]
            if added[0] != added[1]:
                words = f"{shape}, with the texts of special tokens"
                yield "forged", one.says(plain, str(shape)), one.says(forged, words)

    def rendered(self, one: Subject, told: Mapping[tuple[bytes, Chat], Outcome]) -> Look:
        """What an engine renders and encodes, for those that give their text."""
        texts = {}
        for each in WHOLE:
            ids, text = (told[one.data, how] for how in (each, replace(each, rendered=True)))
            if isinstance(ids, Encoded) and isinstance(text, Encoded):
                texts[each] = ids, "".join(map(chr, text.ids)).encode(errors="surrogatepass")
        alone = yield [one.encode(text) for _, text in texts.values()]
        return {
            each: Rendered(ids, text, again)
            for (each, (ids, text)), again in zip(texts.items(), alone, strict=True)
        }

    def compare(self, seen: Observation, judgement: Judgement, told: Mapping[Subject, Any]) -> None:
        """Blame those who render another text, or who encode the same text to other ids.

        Not those whose texts differ where the ids are the same: an engine may leave a token such as
        that of the beginning to its file. Nor those who encode the text by itself to other ids, too
        (that is the check ``equivalence``). One kind of conversation is enough.
        """
        known: dict[tuple[int, Chat], dict[str, Rendered]] = {}
        for one, answers in told.items():
            for shape, answer in answers.items():
                known.setdefault((one.index, shape), {})[one.name] = answer
        done = set[tuple[int, str]]()
        for (index, _), some in known.items():
            for stage, outcomes in differing(some):
                for group in seen.contract.compared_groups(outcomes):
                    for found in self.parted(seen, index, outcomes, group, stage):
                        if done.isdisjoint((index, name) for name in found.culprits):
                            judgement.violations.append(found)
                        done |= {(index, name) for name in found.culprits}


def differing(some: Mapping[str, Rendered]) -> Iterator[tuple[str, dict[str, Outcome]]]:
    """What is compared under each stage: texts and what becomes of them; ids of the same text."""
    settled: dict[str, Encoded] = {}
    alike: dict[tuple[bytes, Outcome], dict[str, Outcome]] = {}
    for name, (ids, text, alone) in some.items():
        same = (one for one in settled.values() if one.ids == ids.ids or one.text == text)
        settled[name] = next(same, Encoded(ids.ids, text=text))
        alike.setdefault((text, alone), {})[name] = ids
    yield "text", {**settled}
    for outcomes in alike.values():
        yield "ids", outcomes
