"""The text of a record: a field by name, the text itself, or fields in fields."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import msgspec

from corpora.texts.documents import Fault, Record, RecordError
from corpora.vocabularies.reading import line_of, shown

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence

USUAL = ("text", "content", "body", "sentence", "prompt")
"""Names of the field with the text, where the user names none: the first that a record has."""

EACH = "*"
"""This stands in place of a name for each value of a list, as in ``messages.*.content``."""

NAMES_SHOWN = 8
"""Fields of a record that a message names."""


def records(numbered: Iterable[tuple[int, Any]], field: str) -> Iterator[Record | Fault]:
    """The texts of what a format reads, and what is wrong in the place of each that has none.

    numbered: numbers of records with their texts as bytes, with values that have them in a field
    (see :func:`texts_of`), or with the RecordError of one.
    """
    try:
        for number, value in numbered:
            if type(value) is bytes:
                yield Record(value, number)
            elif isinstance(value, RecordError):
                yield Fault(number, value)
            else:
                try:
                    for text in texts_of(value, field):
                        yield Record(text, number)
                except RecordError as error:
                    yield Fault(number, error)
    except RecordError as error:
        yield Fault(error.number, error)


def decoded(line: bytes) -> Any:
    """One JSON value, or the RecordError that says what is wrong with it."""
    try:
        return msgspec.json.decode(line)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        pass
    # The slower one also reads lone surrogates, which other writers write, and says what is wrong.
    try:
        return json.loads(line)
    except UnicodeDecodeError as error:
        what = f"is not UTF-8 at byte {error.start + 1} of the record; JSON has to be"
    except (ValueError, RecursionError) as error:
        what = f"is not JSON ({line_of(error)}); mend the line, or take it out"
    return RecordError(what)


def texts_of(record: Any, field: str) -> Iterable[bytes]:
    """The texts of a decoded record: of a string itself, of an object its field.

    field: names separated by dots, with numbers or ``*`` for lists; empty for the usual ones.
    Raises RecordError where there is none, or no string.
    """
    if type(record) is dict:  # nearly all records of nearly all corpora: without a generator
        text = record.get(field or USUAL[0])
        if type(text) is str:
            return (encoded(text),)
    if not field:
        if isinstance(record, str):
            return (encoded(record),)
        field = usual(record) if isinstance(record, dict) else ""
        if not field:
            raise RecordError(without("", record))
    return _walk(record, field.split("."), field)


def usual(names: Collection[str]) -> str:
    """The first of the usual names of a text's field that is among ``names``, or nothing."""
    return next((name for name in USUAL if name in names), "")


def encoded(text: str) -> bytes:
    """The bytes of a text: UTF-8, and those of lone surrogates as if they were characters."""
    return text.encode("utf-8", "surrogatepass")


def column_of(names: Sequence[str], field: str) -> str:
    """The column of a table that has the texts: by its name, by a usual one, or the only one.

    Raises RecordError, naming those that there are.
    """
    chosen = field if field in names else field.split(".", maxsplit=1)[0]
    chosen = chosen or usual(names) or (names[0] if len(names) == 1 else "")
    if chosen not in names:
        raise RecordError(without(field, dict.fromkeys(names)))
    return chosen


def without(field: str, record: Any) -> str:
    """What to say of a record that lacks the field: what it has, and how to name one."""
    what = f"has no field {field!r}" if field else "has no field of a usual name for its text"
    if not isinstance(record, dict):
        names_of = {"list": "a list", "str": "a string"}
        kind = names_of.get(type(record).__name__, "no object")
        if field:
            return f"{what}, as it is {kind}; leave #field= out for records that are strings"
        return f"is {kind} ({shown(record)}) and no text; a record is a string, or an object"
    names = ", ".join(str(name)[:40] for name in list(record)[:NAMES_SHOWN]) or "none"
    return f"{what}, but {names}; name one after the path: #field=NAME"


def _walk(value: Any, names: list[str], field: str) -> Iterator[bytes]:
    if not names:
        if isinstance(value, str):
            yield encoded(value)
        elif isinstance(value, bytes):
            yield value
        elif value is not None:  # a record without a text is an empty one
            raise RecordError(
                f"has {shown(value)} in its field {field!r}, which is no text; name another"
            )
        return
    name, rest = names[0], names[1:]
    if isinstance(value, list):
        if name == EACH:
            for one in value:
                yield from _walk(one, rest, field)
            return
        if name.isdecimal() and int(name) < len(value):
            yield from _walk(value[int(name)], rest, field)
            return
    if not isinstance(value, dict) or name not in value:
        whole = ".".join(names)
        if isinstance(value, dict) and whole in value:  # a name that has dots itself
            yield from _walk(value[whole], [], field)
            return
        raise RecordError(without(field, value))
    yield from _walk(value[name], rest, field)
