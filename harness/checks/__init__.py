"""Properties that outcomes must have: one file a property."""

from harness.checks import (
    batch,
    certificate,
    chat,
    chunks,
    clean_up,
    count_till_limit,
    determinism,
    equivalence,
    heal,
    incremental,
    interval,
    minimality,
    mixed_calls,
    offsets,
    re_encoding,
    reachability,
    releases,
    reload,
    round_trip,
    shapes,
    single_ids,
    skip_specials,
    specials,
    split,
    stream_decoder,
    streaming,
    surrogates,
    survival,
    template,
    token_strings,
    unstable,
    validity,
)
from harness.checks.base import Check

CHECKS: dict[str, Check] = {
    check.name: check()
    for check in (
        survival.Survival,
        equivalence.Equivalence,
        certificate.Certificate,
        round_trip.RoundTrip,
        re_encoding.ReEncoding,
        determinism.Determinism,
        mixed_calls.MixedCalls,
        batch.Batch,
        reload.Reload,
        specials.Specials,
        streaming.Streaming,
        stream_decoder.StreamDecoder,
        single_ids.SingleIds,
        skip_specials.SkipSpecials,
        clean_up.CleanUp,
        shapes.Truncation,
        shapes.PaddedRows,
        template.AddedSpecials,
        chat.Conversations,
        token_strings.TokenStrings,
        unstable.UnstableEnds,
        surrogates.Surrogates,
        chunks.Chunks,
        validity.Validity,
        offsets.Offsets,
        releases.ReleaseOffsets,
        releases.ReleaseDecode,
        minimality.Minimality,
        reachability.Reachability,
        incremental.Incremental,
        interval.Interval,
        count_till_limit.CountTillLimit,
        split.Split,
        heal.Heal,
    )
}
"""All checks by name, in the order in which they judge."""

DEFAULT = {name: check for name, check in CHECKS.items() if check.by_default}
"""Those that are run where the user names none."""


def inputless(bucket: str) -> bool:
    """Whether findings of a bucket may have no input that brings them back."""
    check = CHECKS.get(bucket.split("/", maxsplit=1)[0])
    return check is not None and check.alone


MEASURES = {
    "scaling": "cost grows linearly with the length of the input, on every hostile family",
    "canonicality": "tokens that a grammar forces are the tokenizer's own, on the shipped schemas",
}
"""The measurements of a run besides the checks of cases. They are chosen by name, as checks are."""
