"""What holds of every state of every grammar, and walks through states."""

import pytest


def check_state(state):
    """The methods agree with one another, and the state is no dead end."""
    following = list(state.next_bytes())
    assert following == sorted(set(following))
    assert [b for b in range(256) if state.viable(bytes([b]))] == following
    assert state.viable(b"") == (state.complete or bool(following))
    assert state.viable(b""), "a dead end"
    forced = state.forced()
    alone = following[:1] if len(following) == 1 and not state.complete else []
    assert list(forced[:1]) == alone
    if forced:
        assert state.viable(forced)
        assert state.after(forced[:1]).forced() == forced[1:]
        assert state.after(forced).forced() == b""
    missing = next((b for b in range(256) if b not in following), None)
    if missing is not None:
        with pytest.raises(ValueError):
            state.after(bytes([missing]))


def check_walk(start, rng, steps):
    """The laws along a random walk; gives the bytes walked."""
    state, text = start, b""
    for _ in range(steps):
        check_state(state)
        following = state.next_bytes()
        if not following:
            break
        step = bytes([rng.choice(following)])
        state, text = state.after(step), text + step
    assert start.viable(text)
    return text


def check_finite(grammar, sentences):
    """The grammar is that of these sentences: everything against the definitions, everywhere."""
    assert grammar.sentences(len(sentences)) is not None
    assert list(grammar.sentences(len(sentences)) or ()) == sorted(sentences)
    if sentences:
        assert grammar.sentences(len(sentences) - 1) is None
    for text in {sentence[:end] for sentence in sentences for end in range(len(sentence) + 1)}:
        state = grammar.after(text)
        rests = {s[len(text) :] for s in sentences if s.startswith(text)}
        assert state.complete == (b"" in rests)
        assert list(state.next_bytes()) == sorted({rest[0] for rest in rests if rest})
        least, greatest = min(rests), max(rests)
        shared = next(
            (i for i, (a, b) in enumerate(zip(least, greatest, strict=False)) if a != b), len(least)
        )
        assert state.forced() == least[:shared]
        assert set(state.sentences(len(rests)) or ()) == rests
        check_state(state)
