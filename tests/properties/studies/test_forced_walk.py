"""The walk of forced tokens: each count by its definition, on random sentences and policies."""

import base64
import random
from collections import Counter
from itertools import accumulate

import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpora.grammars.base import alike
from corpora.grammars.finite import FiniteLanguage
from corpora.vocabularies import sources
from corpora.vocabularies.merges import merges_from_ranks
from harness.engine.selection import SelectionError
from harness.studies.forced.judge import LISTED, Point
from harness.studies.forced.policies import named
from harness.studies.forced.results import WITNESSES, total
from harness.studies.forced.walk import Walk
from impls.constrained import NotAdmitted, OutsideMask
from impls.forced.exact import Exact
from impls.forced.interface import Context, Healed
from impls.forced.none import NoHealing
from impls.forced.spellings import cut_off
from impls.forced.tokenizer import Tokenizer
from tests.properties.impls.bpe_vocabularies import vocabulary

TOKENS = [b"a", b"b", b"c", b"d", b"x", b"ab", b"abc"]
TOKENIZER = Tokenizer(vocabulary(TOKENS, merges_from_ranks(TOKENS)), pretokenize=False)
EXACT = Exact(TOKENIZER)
COUNTED = (
    "sequences", "forced_tokens", "non_canonical", "non_canonical_instances", "unsafe", "longer",
    "shorter", "undecided", "gave_up", "not_admitted", "outside_mask",
)  # fmt: skip
JUDGED = ("listed", "listed_tokens", "listed_short", "misjudged", "sampled")
FAULTS = {"gave_up": ValueError, "not_admitted": NotAdmitted, "outside_mask": OutsideMask}


class Planted:
    """A policy that does as it is told."""

    def __init__(self, heal):
        self.heal = heal


def raising(error):
    def heal(context, forced, grammar):
        raise error("as planted")

    return Planted(heal)


def greedy(context, forced, grammar):
    """One token more than is safe, where there is one."""
    safe = EXACT.heal(context, forced, grammar).ids
    return Healed(TOKENIZER.encode(context.text + forced)[len(context.ids) :][: len(safe) + 1], b"")


OVERCONFIDENT = Planted(lambda context, forced, grammar: Healed(TOKENIZER.encode(forced), b""))
SILENT = Planted(lambda context, forced, grammar: Healed((), forced))
JUDGES = {"right": EXACT, "wrong": OVERCONFIDENT, "short": SILENT, "broken": raising(ValueError)}
POLICIES = {
    "none": NoHealing(TOKENIZER),
    "greedy": Planted(greedy),
    "backward": Planted(lambda c, forced, g: Healed(TOKENIZER.encode(forced)[::-1], b"")),
    "silent": SILENT,
    **{fault: raising(error) for fault, error in FAULTS.items()},
}


def walked(sentences, texts, policies, seed=0, tokenizer=TOKENIZER, every=1):
    walk = Walk(tokenizer, FiniteLanguage(sentences), policies, "test", seed, every)
    for text in texts:
        walk.instance(text)
    return walk.finished()


def shared(every):
    """What all of them begin with."""
    return min(every)[: alike(min(every), max(every))]


def spelled(ids):
    return b"".join(map(TOKENIZER.spelling, ids))


def safe(encoded, context, forced):
    """The longest tokens of forced bytes that all sentences have."""
    found = shared(encoded)
    if found[: len(context.ids)] != context.ids:
        return ()
    found = found[len(context.ids) :]
    return max((found[:end] for end in range(len(found) + 1)
                if forced.startswith(spelled(found[:end]))), key=len)  # fmt: skip


def expected(sentences, text, policies):
    """Counts of a walk of one text by their definitions, by policy, and those of the judge."""
    canonical, counts, judge, proved = TOKENIZER.encode(text), Counter(), Counter(), {}
    for name in sorted(policies, key=lambda name: name != "exact"):
        behind, wrong_before = 0, counts[name, "non_canonical"]
        for place in range(len(canonical)):
            context = Context(spelled(canonical[:place]), canonical[:place])
            begun = [one for one in sentences if one.startswith(context.text)]
            forced = shared(begun)[len(context.text) :]
            if place < behind or not forced:
                continue
            rests = [one[len(context.text + forced) :] for one in begun]
            try:
                ids = policies[name].heal(context, forced, FiniteLanguage(rests)).ids
            except (ValueError, *FAULTS.values()):
                counts[name, name if name in FAULTS else "gave_up"] += 1
                ids = ()
            whole, encoded = (*context.ids, *ids), list(map(TOKENIZER.encode, begun))
            wrong = bool(ids) and any(one[: len(whole)] != whole for one in encoded)
            if name == "exact":
                best = len(safe(encoded, context, forced))
                short = max(0, best - len(ids))
                judge.update(listed=1, listed_tokens=best, listed_short=short, misjudged=wrong)
                proved[place] = ids
                counts[name, "unsafe"] += wrong
            if ids:
                right = canonical[place:][: len(ids)] == ids
                behind = place + len(ids) if right else 0
                counts[name, "sequences"] += 1
                counts[name, "forced_tokens"] += len(ids)
                counts[name, "non_canonical"] += not right
                counts[name, "unsafe"] += not right
                if name != "exact" and place in proved:
                    sure = proved[place]
                    counts[name, "longer"] += len(ids) > len(sure)
                    counts[name, "shorter"] += len(ids) < len(sure)
                    counts[name, "unsafe"] += right and sure[: len(ids)] != ids and wrong
        counts[name, "non_canonical_instances"] += counts[name, "non_canonical"] > wrong_before
    return counts, judge


WORDS = st.lists(st.text("abcdx", min_size=1, max_size=7).map(str.encode), min_size=1, max_size=5)


@given(WORDS, WORDS, st.sampled_from([*JUDGES]), st.sets(st.sampled_from([*POLICIES])))
def test_all_is_counted_as_it_is_defined(sentences, others, judge, names):
    policies = {name: POLICIES[name] for name in sorted(names)} | {"exact": JUDGES[judge]}
    texts = [*sentences, *others]
    taken = [text for text in texts if text in sentences]
    both = [expected(sentences, text, policies) for text in taken]
    counts, judged = (sum(column, Counter()) for column in zip(*both, strict=True))
    # Texts of one schema count as if each was walked by itself.
    apart = total((walked(sentences, [text], policies) for text in texts), [*policies])
    for result in (walked(sentences, texts, policies), apart):
        assert result.instances == len(taken)
        assert result.refused_instances == len(texts) - len(taken)
        assert result.tokens == sum(len(TOKENIZER.encode(text)) for text in taken)
        assert judged == +Counter({name: getattr(result, name) for name in JUDGED})
        tallies = {
            (name, count): getattr(tally, count)
            for name, tally in result.tallies.items()
            for count in COUNTED
        }
        assert counts == +Counter(tallies)
        failing = sum(bool(tally.non_canonical) for tally in result.tallies.values())
        if result is not apart:
            assert sum(t.non_canonical_schemas for t in result.tallies.values()) == failing
            kept = Counter(one.policy for one in result.witnesses)
            assert kept == +Counter({n: min(WITNESSES, counts[n, "unsafe"]) for n in policies})
    for one in result.witnesses:
        context, forced, way = map(base64.b64decode, (one.context, one.forced, one.continuation))
        text, own = context + forced + way, (*TOKENIZER.encode(context), *one.ids)
        # Cut after what shows it: with one byte less nothing is wrong.
        assert TOKENIZER.encode(text)[: len(own)] != own
        assert not way or TOKENIZER.encode(text[:-1])[: len(own)] == own
        assert any(sentence.startswith(text) for sentence in sentences)
        # What is right there: all tokens that touch the bytes of those forced.
        right = TOKENIZER.encode(text)
        ends = list(accumulate(map(len, map(TOKENIZER.spelling, right)), initial=0))
        start, stop = len(context), len(context) + len(spelled(one.ids))
        touched = [at for at in range(len(right)) if ends[at + 1] > start and ends[at] < stop]
        assert one.canonical == [right[at] for at in touched]
        assert one.before == (start - ends[touched[0]] if touched else 0)
        assert [*map(base64.b64decode, one.canonical_surfaces)] == [
            TOKENIZER.spelling(token) for token in one.canonical
        ]


@given(WORDS, st.integers())
def test_a_sample_is_a_sentence(sentences, seed):
    point = Point(TOKENIZER, Context(b"", ()), b"", FiniteLanguage(sentences))
    assert point.sampled(random.Random(seed)) in sentences


MANY = [b"xab" + b"cd"[n % 2 : n % 2 + 1] + b"d" * n for n in range(LISTED + 1)]


def test_of_many_sentences_the_judge_is_held_to_one_at_random_and_the_others_to_its_proof():
    policies = {"exact": OVERCONFIDENT}
    runs = [walked(MANY, [b"xabdddd"], policies, seed) for seed in range(20)]
    # Further on few sentences are left, and these are listed.
    assert {run.sampled for run in runs} == {1}
    assert 0 < sum(run.misjudged for run in runs) < len(runs)
    of_proof = walked(MANY, [b"xabdddd"], {"exact": EXACT, "none": NoHealing(TOKENIZER)})
    tally = of_proof.tallies["none"]
    assert (tally.non_canonical, tally.unsafe, tally.undecided) == (0, 1, 0)
    assert {one.of for one in of_proof.witnesses} == {"sentence"}


def test_only_some_answers_are_checked():
    assert 0 < walked([b"xd"], [b"xd"] * 200, {"exact": EXACT}, every=16).listed < 50


def test_policies_that_should_do_the_same_are_compared_where_both_were_asked():
    pair = {"healed:tokens=4": OVERCONFIDENT, "llguidance": SILENT}
    assert walked([b"xd"], [b"xd"] * 2, pair).differing == {"healed:tokens=4, llguidance": 2}
    assert walked([b"xd"], [b"xd"], dict.fromkeys(pair, SILENT)).differing == {}


def test_seams_are_counted():
    class Contrary:
        """Encodes xa, by itself, otherwise than before b."""

        def encode(self, data):
            return (3,) if data == b"xa" else tuple(data)

        def stands_alone(self, context):
            return self.encode(context.text) == context.ids

        def steps(self, data):
            return [(token_id, self.spelling(token_id)) for token_id in self.encode(data)]

        def spelling(self, token_id):
            return bytes((token_id,))

    first = Planted(lambda context, forced, grammar: Healed(tuple(forced[:1]), forced[1:]))
    tally = walked([b"xab"], [b"xab"], {"all": first}, tokenizer=Contrary()).tallies["all"]
    assert (tally.sequences, tally.seam, tally.non_canonical) == (3, 1, 0)


def test_names_of_policies():
    assert named(["healed", "exact", "healed:4"]) == ["healed:tokens=4", "exact"]
    assert named(["healed:bytes=7:conservative"]) == ["healed:bytes=7:conservative"]
    assert "llguidance" in named([])
    for wrong in ("healed:words=3", "exactly", "", "healed:tokens=", "none:4"):
        with pytest.raises(SelectionError, match="--policy"):
            named([wrong])


def test_parts_of_characters_at_either_end():
    tokenizer = Tokenizer(sources.resolve("toy_bytes"))
    rng = random.Random(0)
    for _ in range(200):
        text = "".join(rng.choices("aé漢🙂 1", k=6)).encode()
        start, end = rng.randrange(len(text)), rng.randrange(len(text) + 1)
        part = text[start:end]
        assert b"".join(map(tokenizer.spelling, tokenizer.encode(part))) == part
    ends = [cut_off(b) for b in (b"", b"a", b"\x82a", b"\x98\x80\x80", b"\x98\x80\x80\x80")]
    assert ends == [0, 0, 1, 3, 3]
