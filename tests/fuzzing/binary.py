"""Damage to the binary formats at the level of their fields: protocol buffers, GGUF, tar."""

from __future__ import annotations

import gzip
import io
import struct
import tarfile
from dataclasses import dataclass

import zstandard

from tests.fuzzing.mutation import TEXTS, damaged_bytes, damaged_tree, encoded, text_of, tree_of

LENGTHS = (0, 1, 2, 8, 255, 2**16, 2**31, 2**32 - 1, 2**40, 2**63, 2**64 - 1)
"""What a damaged length or count may be."""

# --- protocol buffers -----------------------------------------------------------------------------


def varint(number):
    """An unsigned integer as protocol buffers write it."""
    out = bytearray()
    while number > 127:
        out.append(number & 127 | 128)
        number >>= 7
    out.append(number)
    return bytes(out)


def _read_varint(data, at):
    number = shift = 0
    while True:
        byte = data[at]
        at += 1
        number |= (byte & 127) << shift
        if byte < 128:
            return number, at
        shift += 7


def parsed(data, depth):
    """The fields of a valid message; those of its messages too, ``depth`` deep."""
    fields = []
    at = 0
    while at < len(data):
        key, at = _read_varint(data, at)
        number, wire = key >> 3, key & 7
        pass
        if wire == 0:
            value, at = _read_varint(data, at)
        elif wire == 2:
            size, at = _read_varint(data, at)
            value, at = data[at : at + size], at + size
            if depth:
                value = parsed(value, depth - 1)
        else:
            size = 8 if wire == 1 else 4
            value, at = data[at : at + size], at + size
        fields.append((number, wire, value))
    return fields


def serialized(fields):
    """The bytes of a message."""
    out = b""
    for number, wire, value in fields:
        out += varint(number << 3 | wire)
        if isinstance(value, list):
            value = serialized(value)
        if isinstance(value, int):
            out += varint(value)
        elif wire == 2:
            out += varint(len(value)) + value
        else:
            out += value
    return out


def damaged_proto(fields, rng):
    """A message with up to three faults in its fields or those of its messages."""
    fields = [(n, w, list(v) if isinstance(v, list) else v) for n, w, v in fields]
    for _ in range(rng.choice((1, 1, 2, 3))):
        inside = [v for _, _, v in fields if isinstance(v, list) and v]
        target = rng.choice(inside) if inside and rng.random() < 0.75 else fields
        if not target:
            break
        at, kind = rng.randrange(len(target)), rng.randrange(8)
        number, wire, value = target[at]
        if kind == 0:
            del target[at]
        elif kind == 1:
            target.insert(rng.randrange(len(target)), target[at])
        elif kind == 2:
            target[at] = rng.randrange(1, 60), wire, value
        elif kind == 3:
            other = rng.randrange(len(target))
            target[at], target[other] = target[other], target[at]
        elif isinstance(value, int):
            target[at] = number, wire, rng.choice(LENGTHS)
        elif wire == 5:
            odd = rng.choice((float("nan"), float("inf"), -float("inf"), 0.0, 3e38, -1e-40))
            target[at] = number, wire, struct.pack("<f", odd)
        elif kind < 6:
            target[at] = number, wire, encoded(rng.choice(TEXTS))
        else:
            target[at] = number, wire, rng.randbytes(rng.choice((0, 1, 3, 40)))
    return serialized(fields)


# --- GGUF -----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class GgufField:
    """A field as it stands in a file: its length of the key can lie."""

    key: bytes
    kind: int
    body: bytes


_SIZES = {0: 1, 1: 1, 2: 2, 3: 2, 4: 4, 5: 4, 6: 4, 7: 1, 10: 8, 11: 8, 12: 8}


def gguf_fields(content):
    """The fields of a valid file."""
    found = []
    (count,) = struct.unpack_from("<Q", content, 16)
    at = 24

    def end(kind, at):
        if kind == 8:
            return at + 8 + int(struct.unpack_from("<Q", content, at)[0])
        if kind != 9:
            return at + _SIZES[kind]
        of, number = struct.unpack_from("<IQ", content, at)
        at += 12
        for _ in range(number):
            at = end(of, at)
        return at

    for _ in range(count):
        (size,) = struct.unpack_from("<Q", content, at)
        key = content[at + 8 : at + 8 + size]
        (kind,) = struct.unpack_from("<I", content, at + 8 + size)
        at += 12 + size
        stop = end(kind, at)
        found.append(GgufField(key, kind, content[at:stop]))
        at = stop
    return found


def _array(kind, count, body):
    return struct.pack("<IQ", kind, count) + body


def _text(text):
    return struct.pack("<Q", len(text)) + text


def damaged_gguf(fields, rng):
    """A file with up to three faults in its fields, and seldom one in its header."""
    fields = list(fields)
    for _ in range(rng.choice((1, 1, 2, 3))):
        at, kind = rng.randrange(len(fields)), rng.randrange(9)
        field = fields[at]
        if kind == 0 and len(fields) > 1:
            del fields[at]
        elif kind == 1:
            fields.insert(rng.randrange(len(fields)), field)
        elif kind == 2:
            fields[at] = GgufField(rng.choice(fields).key, field.kind, field.body)
        elif kind == 3:
            fields[at] = GgufField(field.key, rng.randrange(15), field.body)
        elif kind == 4:
            fields[at] = GgufField(field.key, 8, _text(encoded(rng.choice(TEXTS))))
        elif kind == 5:
            of, size = rng.choice(list(_SIZES.items()))
            fields[at] = GgufField(field.key, of, rng.randbytes(size))
        elif kind == 6:
            of, size = rng.choice(list(_SIZES.items()))
            count = rng.choice((0, 1, 3, 8, 16))
            fields[at] = GgufField(field.key, 9, _array(of, count, rng.randbytes(size * count)))
        elif kind == 7:
            texts = [encoded(rng.choice(TEXTS)) for _ in range(rng.choice((0, 1, 3, 8)))]
            body = _array(8, len(texts), b"".join(map(_text, texts)))
            fields[at] = GgufField(field.key, 9, body)
        elif field.kind == 9 and len(field.body) >= 12:
            of, _ = struct.unpack_from("<IQ", field.body)
            body = struct.pack("<IQ", of, rng.choice(LENGTHS)) + field.body[12:]
            fields[at] = GgufField(field.key, 9, body)
        else:
            fields[at] = GgufField(field.key, field.kind, damaged_bytes(field.body, rng))
    version = 3 if rng.random() < 0.97 else rng.choice((0, 1, 2, 4, 3 << 24, 2**31))
    count = len(fields) if rng.random() < 0.95 else rng.choice(LENGTHS)
    tensors = 0 if rng.random() < 0.97 else rng.choice(LENGTHS)
    out = b"GGUF" + struct.pack("<IQQ", version, tensors, count)
    for field in fields:
        size = len(field.key) if rng.random() < 0.99 else rng.choice(LENGTHS)
        out += struct.pack("<Q", size) + field.key + struct.pack("<I", field.kind) + field.body
    return out


# --- tar ------------------------------------------------------------------------------------------

NAMES = (
    *("a.json", "b/c.json", "/abs/d.json", "../e.json", "./f.json", "x/../g.json", ".json", "h"),
    *("n\n.json", "u\udcff.json", "x" * 300 + ".json", "d/" * 60 + "a.json", "//y.json", "i.JSON"),
)

KINDS = (
    *(tarfile.REGTYPE, tarfile.REGTYPE, tarfile.REGTYPE, tarfile.REGTYPE, tarfile.LNKTYPE),
    *(tarfile.SYMTYPE, tarfile.DIRTYPE, tarfile.FIFOTYPE, tarfile.CHRTYPE, tarfile.CONTTYPE),
    *(tarfile.GNUTYPE_SPARSE, tarfile.XHDTYPE, tarfile.GNUTYPE_LONGNAME, b"Z"),
)

CASE = tree_of(
    {
        "schema": {"type": "object", "properties": {"a": {"type": "string"}}},
        "tests": [{"valid": True, "data": {"a": "x"}}, {"valid": False, "data": 1}],
    }
)


def damaged_tar(rng):
    """An archive of cases, some damaged, under names and of types that none should have."""
    raw = io.BytesIO()
    layout = rng.choice((tarfile.PAX_FORMAT, tarfile.GNU_FORMAT, tarfile.USTAR_FORMAT))
    with tarfile.open(fileobj=raw, mode="w", format=layout, errors="surrogateescape") as archive:
        for number in range(rng.choice((0, 1, 2, 5))):
            tree = CASE if rng.random() < 0.5 else damaged_tree(CASE, rng)
            content = encoded(text_of(tree))
            if rng.random() < 0.1:
                content = damaged_bytes(content, rng)
            plain = rng.random() < 0.5
            member = tarfile.TarInfo(f"{number}.json" if plain else rng.choice(NAMES))
            member.type = tarfile.REGTYPE if plain else rng.choice(KINDS)
            member.linkname = rng.choice(NAMES)
            if layout == tarfile.PAX_FORMAT and rng.random() < 0.2:
                member.pax_headers = {
                    rng.choice(("path", "size", "mtime", "GNU.sparse.map", "GNU.sparse.size")): (
                        rng.choice(("-1", "1", "x", str(2**70), "0,5", "a.json"))
                    )
                }
            member.size = len(content)
            try:
                archive.addfile(member, io.BytesIO(content))
            except (ValueError, tarfile.TarError, UnicodeError):  # what a format cannot say
                continue
    content = raw.getvalue()
    if rng.random() < 0.3:
        content = damaged_bytes(content, rng)
    if rng.random() < 0.1:  # a header that is valid but for one number
        content = _other_size(content, rng)
    kind = rng.randrange(6)
    if kind == 0:
        content = gzip.compress(content, 1, mtime=0)
    elif kind == 1:
        content = zstandard.ZstdCompressor().compress(content)
    if kind < 2 and rng.random() < 0.3:
        content = damaged_bytes(content, rng)
    return content


def _other_size(content, rng):
    """The size in the first header replaced, and its checksum mended."""
    if len(content) < 512:
        return content
    head = bytearray(content[:512])
    size = rng.choice((0, 1, 2**30, 2**33, 2**62, -1))
    field = (
        b"%011o\x00" % size
        if 0 <= size < 8**11
        else b"\x80" + size.to_bytes(11, "big", signed=True)
    )
    head[124:136] = field
    head[148:156] = b" " * 8
    head[148:156] = b"%06o\x00 " % sum(head)
    return bytes(head) + content[512:]
