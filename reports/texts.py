"""The section "Your texts": how much was read, and whose ids and token counts differ on it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, fields
from typing import Any

from harness.events import TextsCompared, TokenCounts
from harness.verdict.coverage import Coverage
from reports.blocks import Details, Items, Paragraph, Section, Table
from reports.blocks.units import plural
from reports.studies import bad

FIRST_SHOWN = 20
"""Differing documents of one implementation under one contract that are named."""

PRINTED = 5
"""Documents that differ which a terminal names, too."""

MIB = 1 << 20

BESIDES = {
    "duplicates": "duplicates passed over",
    "cut": "longer than 1 MiB, cut into pieces that are compared as documents are",
    "not_utf8": "not UTF-8, given as raw bytes",
    "unfit": "outside of the vocabulary's letters",
    "unreadable": "could not be read",
}
"""What is counted besides while texts are read."""

SHOWN = ("tokens", "more", "fewer", "unanswered")
"""The last columns of the table."""

COUNTED = [one.name for one in fields(TokenCounts) if one.name != "against"]
"""What is summed over all batches of texts."""

DIGEST = (1 << 63) - 1
"""Digests are summed modulo a power of two, whatever the order in which batches are answered."""

Document = Mapping[str, Any]


def document(coverage: Coverage, found: Iterable[TextsCompared]) -> dict[str, Any] | None:
    """All that a run tells of the user's texts, as ``summary.json`` has it; None without texts.

    read: by vocabulary, its last event. compared: everybody over all documents, as
    :class:`harness.events.texts.TokenCounts`, with the first that differ. alone: likewise those
    who had nobody to be compared with. digests: of all ids of everybody.
    """
    if coverage.given is None:
        return None
    rows: dict[tuple[str, str], dict[str, Any]] = {}
    for event in found:
        for name, one in event.counts.items():
            about = {"contract": event.contract, "implementation": name, "against": one.against}
            none = {**about, **dict.fromkeys(COUNTED, 0), "first": []}
            row = rows.setdefault((event.contract, name), none)
            for kind in COUNTED:
                row[kind] += getattr(one, kind)
            row["first"] += [asdict(each) for each in event.first if each.implementation == name]
            del row["first"][FIRST_SHOWN:]
    digests = [
        {name: row[name] for name in ("contract", "implementation", "tokens")}
        | {"digest": f"{row.pop('digest') & DIGEST:016x}"}
        for row in rows.values()
    ]
    return {
        **asdict(coverage.given),
        "read": [asdict(one) for one in coverage.texts.values()],
        "compared": [row for row in rows.values() if row["against"]],
        "alone": [row for row in rows.values() if not row["against"] and row["documents"]],
        "digests": digests,
    }


def told(row: Document) -> str:
    """What was found of one implementation under one contract, in a sentence."""
    documents, against, tokens = row["documents"], row["against"], row["tokens"]
    left = f"; {row['unanswered']:,} could not be compared" if row["unanswered"] else ""
    if not row["differing"]:
        return (
            f"the ids of {against} in all {plural(documents, 'document')} ({tokens:,} tokens){left}"
        )
    others = row["against_tokens"]
    share = f"({100 * (tokens - others) / (others or 1):+.3f} % of {others:,})"
    return (
        f"other ids than {against} in {row['differing']:,} of {plural(documents, 'document')}: "
        f"{row['more']:,} tokens more and {row['fewer']:,} fewer {share}, with {row['changed']:,} "
        f"tokens in what differs{left}"
    )


def faults(texts: Document) -> list[str]:
    """What could not be read, a line each."""
    return list(dict.fromkeys(line for one in texts["read"] for line in one["faults"]))


def reading(one: Document, given: Document) -> str:
    """How much of the texts was read for a vocabulary, in a line; as events have both."""
    megabytes = one["bytes"] / MIB
    whole = "all of them" if one["whole"] else "not to their end"
    if not one["whole"] and given.get("bytes"):
        how = "a sample that the seed decides" if given["sampled"] else "in their order"
        whole = f"{one['read'] / given['bytes']:.0%} of the files gone through, {how}"
    rate = f", {megabytes / one['seconds']:,.1f} MiB/s" if one["seconds"] > 1 else ""
    further = "".join(f"; {what}: {one[kind]:,}" for kind, what in BESIDES.items() if one[kind])
    documents = plural(one["documents"], "document")
    return f"{one['vocabulary']}: {documents}, {megabytes:,.1f} MiB, {whole}{rate}{further}"


def sections(texts: Document | None) -> list[Section]:
    """What is shown of them; nothing where none were given."""
    if texts is None:
        return []
    rows = [
        (
            row["implementation"], row["contract"], row["against"], row["documents"],
            bad(row["differing"]), *(row[kind] for kind in SHOWN),
        )
        for row in texts["compared"]
    ]  # fmt: skip
    table = Table(
        "Table of your texts",
        "Implementation | Where | Compared with | Documents: | Differing: | Tokens: | More: | "
        "Fewer: | Not compared:",
        rows,
        "Ids and token counts on your texts, compared with the most trusted implementation",
        empty="No two implementations were compared on them.",
    )
    named = [
        f"{one['place']}: {one['implementation']} and {one['against']} differ from token "
        f"{one['token']:,} on {row['contract']} ({one['tokens']:,} tokens, "
        f"{one['against_tokens']:,} of {one['against']})"
        for row in texts["compared"]
        for one in row["first"]
    ]
    alone = [
        f"{one['implementation']} gives {plural(one['tokens'], 'token')} on {one['contract']}, "
        "and no other implementation to compare it with."
        for one in texts["alone"]
    ]
    more = Details("More documents that differ", [Items(named[PRINTED:])])
    blocks = [
        *(Paragraph(reading(one, texts), "quiet") for one in texts["read"]),
        table,
        Items([*alone, *named[:PRINTED], *faults(texts)]),
        *[more] * bool(named[PRINTED:]),
    ]
    return [Section("Your texts", blocks, "texts")]


def changes(old: Document | None, new: Document | None) -> Iterator[str]:
    """What became of ids and token counts from one run to another on the same texts, a line each.

    Nothing where the two did not read the same documents, all of them and in order.
    """
    if old is None or new is None:
        return
    if not (documents := _in_order(old)) or documents != _in_order(new):
        yield "your texts: the two runs did not read the same documents in order; not compared"
        return
    before = {(row["contract"], row["implementation"]): row for row in old["digests"]}
    for row in new["digests"]:
        where, name = place = row["contract"], row["implementation"]
        if place in before:
            then, now = before[place]["tokens"], row["tokens"]
            same = before[place]["digest"] == row["digest"]
            counts = f", {then:,} tokens then and {now:,} now: {now - then:+,}" * (not same)
            ids = "the same ids as" if same else "other ids than"
            yield f"your texts: {name} gives {ids} before on {where}{counts}"


def _in_order(texts: Document) -> list[int]:
    """How many documents were read for each vocabulary; none if not all of them, and in order.

    Another run of the same texts has the same batches where they were.
    """
    read, sure = texts["read"], texts["only"] and not texts["sampled"]
    return [one["documents"] for one in read] if sure and all(r["whole"] for r in read) else []
