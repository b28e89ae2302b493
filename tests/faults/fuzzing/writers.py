"""Trees written as files, of each format: whatever a tree has become, something is written."""

import io
import json
import re
import struct
import tarfile

from tests.faults.fuzzing.damage import Object, Raw, pairs


def encoded(text):
    """UTF-8, lone surrogates as the bytes that some programs write for them."""
    return text.encode("utf-8", "surrogatepass")


def text_of(value):
    """A value as plain text: what stands in a line, or in a name."""
    return value if isinstance(value, str) else json_text(value)


# Texts.


def json_text(tree):
    """The JSON text of a tree."""
    if isinstance(tree, Raw):
        return tree
    if isinstance(tree, Object):
        return "{" + ",".join(f"{json.dumps(str(k))}:{json_text(v)}" for k, v in pairs(tree)) + "}"
    if isinstance(tree, list):
        return "[" + ",".join(map(json_text, tree)) + "]"
    return json.dumps(tree, default=str)


def to_json(tree):
    """A file of JSON."""
    return encoded(json_text(tree))


def to_json_lines(tree):
    """A file of JSON, one value in a line."""
    lines = tree if isinstance(tree, list) else [tree]
    return encoded("".join(json_text(line) + "\n" for line in lines))


def to_ranks(tree):
    """A file of ranks: a line for each entry, its fields between spaces."""
    lines = tree if isinstance(tree, list) else [tree]
    fields = (line if isinstance(line, list) else [line] for line in lines)
    return encoded("".join(" ".join(map(text_of, some)) + "\n" for some in fields))


def _toml_key(key):
    text = text_of(key)
    return text if isinstance(key, Raw) or re.fullmatch(r"[\w-]+", text) else json.dumps(text)


def _toml_value(value):
    if isinstance(value, Object):
        inside = (f"{_toml_key(key)} = {_toml_value(one)}" for key, one in pairs(value))
        return "{" + ", ".join(inside) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(_toml_value, value)) + "]"
    plain = value is None or isinstance(value, str | int | float)
    return json_text(value) if plain else str(value)  # a date


def to_toml(tree):
    """A file of TOML, its arrays of tables under headers."""
    lines = []
    for key, value in pairs(tree):
        if isinstance(value, list) and value and all(isinstance(one, Object) for one in value):
            for one in value:
                lines.append(f"[[{_toml_key(key)}]]")
                lines += [f"{_toml_key(name)} = {_toml_value(part)}" for name, part in pairs(one)]
        else:
            lines.insert(0, f"{_toml_key(key)} = {_toml_value(value)}")
    return encoded("\n".join(lines) + "\n")


# Binary formats.


def varint(number):
    """An unsigned integer as protocol buffers write it."""
    out, number = bytearray(), number % 2**64
    while number > 127:
        out.append(number & 127 | 128)
        number >>= 7
    return bytes([*out, number])


def to_proto(tree):
    """A message of protocol buffers: an object whose keys are the numbers of fields."""
    out = b""
    for key, value in pairs(tree):
        number = key << 3 if isinstance(key, int) else len(text_of(key)) << 3
        if isinstance(value, int):
            out += varint(number) + varint(value)
        elif isinstance(value, float):
            wide = abs(value) > 1e38
            out += varint(number | (1 if wide else 5)) + struct.pack("<d" if wide else "<f", value)
        else:
            body = _proto_body(value)
            length = len(body) << 24 if isinstance(value, Raw) else len(body)
            out += varint(number | 2) + varint(length) + body
    return out


def _proto_body(value):
    if isinstance(value, bytes):
        return value
    return to_proto(value) if isinstance(value, Object) else encoded(text_of(value))


def _gguf_text(text):
    data = encoded(text_of(text))
    return struct.pack("<Q", len(data) << 32 if isinstance(text, Raw) else len(data)) + data


def _gguf_value(value):
    """The number of a type, and a value of it."""
    if isinstance(value, Raw):  # strings, as many as the file cannot have
        return 9, struct.pack("<IQ", 8, 1 << len(value) % 64) + encoded(value)
    if isinstance(value, str):
        return 8, _gguf_text(value)
    if isinstance(value, bytes):
        return 9, struct.pack("<IQ", 0, len(value)) + value
    if isinstance(value, list):
        items = [_gguf_value(one) for one in value]
        kind = items[0][0] if items else 8
        return 9, struct.pack("<IQ", kind, len(items)) + b"".join(body for _, body in items)
    if isinstance(value, bool):
        return 7, bytes([value])
    if isinstance(value, float):
        wide = abs(value) > 1e38
        return (12, struct.pack("<d", value)) if wide else (6, struct.pack("<f", value))
    if isinstance(value, int):
        small = -(2**31) <= value < 2**31
        return (5, struct.pack("<i", value)) if small else (10, struct.pack("<Q", value % 2**64))
    return 13, b""  # no type of the format


HEADER = ("version", "tensors", "count")


def to_gguf(tree):
    """A file of GGUF: an object of its fields, the numbers of the header among them."""
    every = [*pairs(tree)]
    fields = [(key, value) for key, value in every if key not in HEADER]
    told = {key: value for key, value in every if key in HEADER and isinstance(value, int)}
    header = [told.get(name, len(fields)) % 2**64 for name in HEADER]
    out = b"GGUF" + struct.pack("<IQQ", header[0] % 2**32, *header[1:])
    for key, value in fields:
        kind, body = _gguf_value(value)
        out += _gguf_text(key) + struct.pack("<I", kind) + body
    return out


LAYOUTS = (tarfile.PAX_FORMAT, tarfile.GNU_FORMAT, tarfile.USTAR_FORMAT)


def to_tar(tree):
    """A tar archive: a list of members, each with ``content``, and what its header says."""
    out = io.BytesIO()
    for number, one in enumerate(tree if isinstance(tree, list) else [tree]):
        told = {key: value for key, value in pairs(one) if isinstance(key, str)}
        content = encoded(text_of(told.get("content")))
        member = tarfile.TarInfo(text_of(told.get("name")))
        member.type = encoded(text_of(told.get("type")))[:1] or tarfile.REGTYPE
        member.linkname = text_of(told.get("link", ""))
        size = told.get("size")
        member.size = size if isinstance(size, int) else len(content)
        member.pax_headers = {text_of(key): text_of(value) for key, value in pairs(told.get("pax"))}
        try:
            head = member.tobuf(LAYOUTS[number % len(LAYOUTS)], "utf-8", "surrogateescape")
        except (ValueError, UnicodeError, struct.error):  # what a layout cannot say
            continue
        out.write(head + content + bytes(-len(content) % 512))
    return out.getvalue() + bytes(1024)
