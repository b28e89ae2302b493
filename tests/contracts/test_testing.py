"""The plug-in for pytest: what it asserts, what its messages show, the fixture."""

from importlib.metadata import entry_points

import pytest

from corpora.vocabularies import sources
from harness.testing import assert_conforms, assert_same_ids, generated, texts
from impls import registry
from impls.interface import About, Capability, Mode, Rejected, Unsupported

pytest_plugins = ["pytester"]

TOY = "toy_bytes"
RAW = Mode(pretokenize=False)


class Mine:
    """bpe.naive, with a mistake wherever an input has ``b"z"`` followed by ``b"q"``."""

    about = About(name="mine", version="1")

    def supports(self, vocabulary, mode):
        return None if vocabulary.algorithm == "bpe" else "BPE only"

    def load(self, vocabulary):
        self._right = registry.resolve("bpe.naive").load(vocabulary)
        return self

    def encode(self, data, mode):
        ids = list(self._right.encode(data, mode))
        return [*ids[:-1], 65] if b"zq" in data else ids


def message(mine, reference="bpe.naive", **options):
    with pytest.raises(AssertionError) as caught:
        assert_same_ids(mine, reference, TOY, mode=RAW, **options)
    return str(caught.value)


def test_what_agrees_passes():
    assert_same_ids("bpe.heap", "bpe.naive", TOY, mode=RAW)
    assert_same_ids(Mine(), "bpe.naive", TOY, ["z", b"q\xff", "qz"], mode=RAW)


def test_a_difference_is_minimised_and_shown():
    told = message(Mine(), inputs=["fine", "the long text has zq in the middle of it", "zq"])
    assert "mine and bpe.naive differ on toy_bytes:" in told
    assert "input   'zq'  (2 bytes, minimised from 40)" in told
    assert "hex     7a71" in told
    assert "122='z' >65='A'" in told
    assert "122='z' >113='q'" in told
    assert "the first difference is at token 1" in told


def test_generated_inputs_find_it_and_are_the_same_again():
    vocabulary = sources.resolve(TOY)

    def no_newline(data):
        return [i for i in registry.resolve("bpe.naive").load(vocabulary).encode(data, RAW)
                if i != 10]  # fmt: skip

    assert "  input   '\\n'  (1 byte" in message(no_newline)
    assert list(generated(TOY, 300)) == list(generated(TOY, 300))
    assert list(generated(TOY, 300)) != list(generated(TOY, 300, seed=1))
    assert len(list(generated(TOY, 300))) == 300


def test_functions_exceptions_and_refusals():
    def raising(data):
        if b"!" in data:
            raise OverflowError("no\nroom")
        return list(data)

    def rejecting(data):
        raise Rejected

    def idle(data):
        raise Unsupported

    def mine(data):
        return list(data)

    told = message(raising, mine, inputs=["help! me"])
    assert "raises OverflowError: no" in told
    assert "input   '!'" in told
    assert "rejects it" in message(rejecting, mine, inputs=["x"])
    assert_same_ids(rejecting, rejecting, TOY, ["x"])
    assert "idle does not support it (no reason given)" in message(idle, mine, inputs=["x"])
    # Two that fail alike do not agree: neither has an answer.
    assert "raises" in message(raising, raising, inputs=["!"])


class Idle(Mine):
    """Says that it runs everything, and answers only the inputs that ``answers`` allows."""

    about = About(name="idle", version="1")

    def __init__(self, answers):
        self.answers = answers

    def encode(self, data, mode):
        if not self.answers(data, mode):
            raise Unsupported("too lazy\ntoday")
        return self._right.encode(data, mode)


def test_who_answers_nothing_has_not_the_same_ids():
    told = message(Idle(lambda data, mode: False), inputs=["a", b"\xff", "c"])
    assert "were not compared on any of 3 inputs on toy_bytes" in told
    assert "idle does not support it (too lazy" in told
    told = message("bpe.heap", Idle(lambda data, mode: mode.pretokenize), cases=50)
    assert "any of 50 inputs" in told
    assert_same_ids(Idle(lambda data, mode: b"c" in data), "bpe.heap", TOY, ["a", "c"], mode=RAW)


@pytest.mark.parametrize("vocabularies", [None, [TOY]])
def test_who_answers_nothing_does_not_conform(vocabularies):
    idle = Idle(lambda data, mode: False)
    with pytest.raises(AssertionError, match="nothing was compared: encode answers none of") as it:
        assert_conforms(idle, vocabularies)
    assert "Unsupported: too lazy" in str(it.value)
    # The empty input is no answer to speak of.
    with pytest.raises(AssertionError, match="nothing was compared"):
        assert_conforms(Idle(lambda data, mode: not data), vocabularies)


def test_a_mode_in_which_nothing_is_answered_does_not_conform():
    with pytest.raises(AssertionError, match="- answers on toy_bytes/text: nothing"):
        assert_conforms(Idle(lambda data, mode: not mode.pretokenize), [TOY])


def test_a_given_vocabulary_must_be_run():
    assert_conforms("wordpiece.bert")
    with pytest.raises(AssertionError, match="answers on unigram_bytes: nothing was compared: sup"):
        assert_conforms("bpe.heap", [TOY, "unigram_bytes"])

    class Picky(Mine):
        def supports(self, vocabulary, mode):
            return "not today"

    with pytest.raises(AssertionError, match=r"says: not today"):
        assert_conforms(Picky())


class TextAlone(Mine):
    about = About(name="text-alone", version="1")
    text_only = True

    def encode(self, data, mode):
        return list(self._right.encode(data.encode(), mode))


def test_a_text_only_plug_in_is_adapted():
    assert_same_ids(TextAlone(), "bpe.naive", TOY, ["caf\u00e9", b"\xff"], mode=RAW)
    assert "rejects" not in message(TextAlone(), inputs=[b"\xff"])
    assert "text-alone does not support it" in message(TextAlone(), inputs=[b"\xff"])


class ClaimsToCount(Mine):
    about = About(
        name="claims", version="1", capabilities=frozenset({Capability.COUNT, Capability.SPLIT})
    )

    def __init__(self, longest):
        self.longest = longest

    def encode(self, data, mode):
        return self._right.encode(data, mode)

    def count(self, data, mode):
        if len(data) > self.longest:
            raise Unsupported("not yet")
        return len(self._right.encode(data, mode))

    def split(self, data, limit, mode):
        raise Unsupported("not ever")


def test_a_claim_that_is_never_kept_is_a_breach():
    with pytest.raises(AssertionError) as caught:
        assert_conforms(ClaimsToCount(-1), [TOY])
    lines = str(caught.value).splitlines()
    assert len(lines) == 3
    assert "claims 'count' but answered none of" in lines[1]
    assert "the first answer was Unsupported: not yet" in lines[1]
    assert "claims 'split' but answered none of" in lines[2]
    with pytest.raises(AssertionError, match="1 breaches of the interface:\n- claims: claims 'sp"):
        assert_conforms(ClaimsToCount(3), [TOY])


def test_long_outputs_are_cut_around_the_difference():
    def off(data):
        return [*data[:500], 7, *data[501:]]

    def mine(data):
        return list(data)

    def narrow(data):
        return off(data) if len(data) == 1000 else list(data)

    told = message(narrow, mine, inputs=["a" * 1000])
    assert "(488 before)" in told
    assert "(488 after)" in told
    assert len(told) < 4000


def test_misuse_is_said():
    with pytest.raises(ValueError, match="mine does not run unigram_bytes/text: BPE only"):
        assert_same_ids(Mine(), "sentencepiece", "unigram_bytes")
    with pytest.raises(ValueError, match="no input"):
        assert_same_ids("bpe.heap", "bpe.naive", TOY, [])
    with pytest.raises(ValueError, match="neither"):
        assert_same_ids(3, "bpe.naive", TOY, ["x"])


def test_the_fixture(pytester):
    pytester.makeconftest('pytest_plugins = ["harness.testing"]')
    pytester.makepyfile(
        """
        from harness.testing import assert_same_ids

        def test_mine(tokgate_vocabulary):
            def mine(data):
                return [] if b"7" in data else list(data)
            def theirs(data):
                return list(data)
            assert_same_ids(mine, theirs, tokgate_vocabulary, ["abc 789"])

        def test_name(tokgate_vocabulary):
            assert tokgate_vocabulary.id.startswith("toy_")
        """
    )
    pytester.makeini("[pytest]\ntokgate_vocabularies =\n    toy_bytes\n    toy_acbb\n")
    done = pytester.runpytest_subprocess("-v")
    done.assert_outcomes(passed=2, failed=2)
    done.stdout.fnmatch_lines(["*test_mine*toy_bytes*FAILED*", "E*input   '7'*(1 byte, minimised*"])
    # The traceback ends in the user's own test, not in ours.
    assert "testing.py:" not in done.stdout.str()
    missing = pytester.runpytest_subprocess("--tokgate-vocab", "no-such", "-k", "name")
    missing.assert_outcomes(errors=1)
    missing.stdout.fnmatch_lines(["*tokgate_vocabulary:*no-such*"])


def test_no_entry_point_slows_every_session():
    assert not [e for e in entry_points(group="pytest11") if e.value.startswith("harness")]


class TestTexts:
    def test_what_differs_is_told_with_its_line(self, tmp_path):
        path = tmp_path / "a.jsonl"
        path.write_text('{"t": "fine"}\n{"t": "a zq b"}\n')
        with pytest.raises(AssertionError, match=r"from    .*a\.jsonl:2\n"):
            assert_same_ids(Mine(), "bpe.naive", TOY, texts(f"{path}#field=t"))

    def test_a_record_that_cannot_be_read_is_no_pass(self, tmp_path):
        path = tmp_path / "a.jsonl"
        path.write_text('"fine"\nnone\n')
        with pytest.raises(ValueError, match=r"a\.jsonl:2: is not JSON"):
            assert_same_ids(Mine(), "bpe.naive", TOY, texts(str(path)))
