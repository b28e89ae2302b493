"""What of a command's work is its contract: names and structure, no prose and no number.

JSON is its paths of keys (``findings[].id``), a page its headings and the heads of its tables,
JUnit its cases with how each ended.
"""

import inspect
import json
import re
import tomllib
from dataclasses import fields, is_dataclass
from enum import Enum
from html import unescape
from pathlib import Path
from xml.etree import ElementTree as ET

OPEN = frozenset({"versions", "machine", "arms", "found", "listed", "sightings", "cases"})
"""Maps and lists that depend on what is installed, or on what a search by the clock comes upon."""

VARYING = frozenset({"Phase", "Preparing", "SlowOnce", "Counted", "Unsettled", "NotReached"})
"""Events that a busy machine or a first run adds to a record."""

NUMBER = re.compile(r"\bf-[0-9a-f]+\b|\d[\d,.]*")


def paths(value, at=""):
    """The path of each value that is no map and no list of maps."""
    if isinstance(value, dict | list) and at.rpartition(".")[2] in OPEN:
        yield f"{at}.*"
    elif isinstance(value, dict) and value:
        for key, one in value.items():
            yield from paths(one, f"{at}.{key}" if at else key)
    elif isinstance(value, list) and any(isinstance(one, dict) for one in value):
        for one in value:
            yield from paths(one, f"{at}[]")
    else:
        yield at


def of_json(text):
    """The paths of one JSON value, each once, in order."""
    return sorted(set(paths(json.loads(text))))


def of_toml(text):
    """The paths of a TOML file."""
    return sorted(set(paths(tomllib.loads(text))))


def of_lines(text):
    """The paths of JSON lines, by the name of the event; lines of other records are one kind."""
    found = {}
    for raw in map(json.loads, text.splitlines()):
        kind = raw.pop("event", "line")
        if kind not in VARYING:
            found.setdefault(kind, set()).update(paths(raw))
    return {kind: sorted(found[kind]) for kind in sorted(found)}


def of_junit(text):
    """How each case of each suite ended; of the expectations, those that are shipped as one."""
    found = {}
    for suite in ET.fromstring(text):
        name = suite.get("name", "")
        for case in suite:
            ended = next((one.tag for one in case if one.tag != "system-out"), "ok")
            key = "*" if name == "expectations" else case.get("name", "")
            found.setdefault(name, {})[key] = ended
    return found


def of_sarif(text):
    """The paths, the rules, and the rule and level of each result."""
    runs = json.loads(text)["runs"]
    results = {f"{one['ruleId']} {one['level']}" for run in runs for one in run["results"]}
    rules = {rule["id"] for run in runs for rule in run["tool"]["driver"]["rules"]}
    return {"paths": of_json(text), "rules": sorted(rules), "results": sorted(results)}


def of_markdown(text):
    """The headings, and the heads of tables."""
    lines = text.splitlines()
    heads = {at - 1 for at, line in enumerate(lines) if re.fullmatch(r"\|[-:| ]+\|", line)}
    return [
        NUMBER.sub("#", line)
        for at, line in enumerate(lines)
        if line.startswith("#") or at in heads
    ]


HIDDEN = re.compile(r"<(script|style)\b.*?</\1>", re.DOTALL)
SHOWN = re.compile(r"<(h1|h2|tr)\b[^>]*>(.*?)</\1>", re.DOTALL)
HEAD = re.compile(r"<th\b(?![^>]*scope=\"?row)[^>]*>(.*?)</th>", re.DOTALL)
SIZES = {"", "# B", "# KiB", "# MiB", "# k"}
"""Heads of columns that time decides."""


def words(markup):
    """The text of a piece of a page, without its tags and numbers."""
    return NUMBER.sub("#", " ".join(unescape(re.sub(r"<[^>]*>", "", markup)).split()))


def of_html(text):
    """The headings, and the heads of tables, each once; no script or style of another address."""
    lines = []
    for tag, inside in SHOWN.findall(HIDDEN.sub("", text)):
        heads = [words(one) for one in HEAD.findall(inside)]
        if tag != "tr":
            lines.append(f"{'#' * int(tag[1])} {words(inside)}")
        elif set(heads) - SIZES:
            lines.append(f"| {' | '.join(heads)} |")
    foreign = re.findall(r"<(?:script|link|img)[^>]*(?:src|href)=\"(?:https?:)?//[^\"]*", text)
    return list(dict.fromkeys([*lines, *foreign]))


READERS = {
    ".json": of_json,
    ".jsonl": of_lines,
    ".toml": of_toml,
    ".xml": of_junit,
    ".sarif": of_sarif,
    ".md": of_markdown,
    ".html": of_html,
}
"""By the end of a file's name."""


def folder(out, read):
    """The names of all files below a folder, and the contents of those named."""
    names = {
        re.sub(r"\bf-[0-9a-f]+", "f-#", str(one.relative_to(out)))
        for one in out.rglob("*")
        if one.is_file() and not one.name.endswith(("-wal", "-shm", ".lock", ".pickle"))
    }
    contents = {name: READERS[Path(name).suffix]((out / name).read_text("utf-8")) for name in read}
    return {"files": sorted(names), **contents}


def of_module(module, classes):
    """The public names of a module that it defines: parameters, fields and members of each."""
    found = {}
    for name, value in vars(module).items():
        if name.startswith("_") or getattr(value, "__module__", "") != module.__name__:
            continue
        if inspect.isfunction(value):
            found[name] = [*inspect.signature(value).parameters]
        elif classes and isinstance(value, type):
            found[name] = sorted(_members(value))
    return found


def _members(kind):
    if is_dataclass(kind):
        yield from (one.name for one in fields(kind))
    if issubclass(kind, Enum):
        yield from (f"{one.name} = {one.value}" for one in kind)
    for name, value in vars(kind).items():
        if not name.startswith("_") and inspect.isfunction(value):
            yield f"{name}({', '.join(inspect.signature(value).parameters)})"
