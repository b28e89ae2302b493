"""The terminal: what a command prints is printed on a :class:`Display`, and on nothing else.

Half of what is printed was written by others: names of implementations, messages of exceptions,
paths. A display shows all of it by the rules of :mod:`corpora.plain_text`, so that no place that
prints has to think of it. ``tests/test_architecture.py`` finds whoever makes another console.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Iterable
from typing import IO, TYPE_CHECKING, Any, ClassVar

from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment
from rich.text import Text

from corpora.plain_text import pieces, printable
from harness.core import quiet

if TYPE_CHECKING:
    from reports.blocks import Block

LOG_WIDTH = 120
"""Columns where there is no terminal to ask: a table is not to be cut."""


class Display(Console):
    """A console on which text means nothing but itself.

    There is no markup, no emoji code and no highlighting. A string or a ``Text`` is one line: a
    line feed in it is shown as an escape, and what has several lines is printed line by line.
    verbose: whether the user wants to see what is compiled and loaded, too (``--verbose``).
    """

    verbose: ClassVar[bool] = False

    def __init__(self, **options: Any) -> None:
        super().__init__(highlight=False, markup=False, emoji=False, **options)
        if not self.is_terminal and "width" not in options and "COLUMNS" not in os.environ:
            self.width = LOG_WIDTH

    @property
    def file(self) -> IO[str]:
        """Where it prints: to the terminal, also while what others print is put aside."""
        return (self._file and super().file) or quiet.terminal(stderr=self.stderr) or super().file

    @file.setter
    def file(self, new: IO[str]) -> None:
        self._file = new

    def print(self, *objects: Any, **options: Any) -> None:
        """Print; of lines of text no word is broken, so that it can be copied.

        On a terminal a long line goes on in the next one; elsewhere it stays whole, so that it can
        be searched. What is laid out, as tables are, keeps to the width.
        """
        if all(isinstance(one, (str, Text)) for one in objects):
            words = (word for one in objects for word in str(one).split())
            broken = any(len(word) > self.width for word in words)
            options.setdefault("soft_wrap", broken or not self.is_terminal)
        super().print(*objects, **options)

    def show(self, blocks: Iterable[Block]) -> None:
        """Print what a report consists of, part by part."""
        from reports.blocks import terminal  # noqa: PLC0415 (an error alone does not need it)

        for part in terminal.render(blocks):
            self.print(part)

    def render_str(self, text: str, **layout: Any) -> Text:
        """Return a string as a text of one line, with nothing in it interpreted."""
        shown = {"style", "justify", "overflow"} & set(layout)
        return safe(self, Text(text, **{name: layout[name] for name in shown}))

    def render(
        self, renderable: RenderableType, options: ConsoleOptions | None = None
    ) -> Iterable[Segment]:
        """Yield the segments of anything that can be printed.

        A text is made safe before it is laid out. What comes from elsewhere, such as the cells of
        a table, passes here again as segments; line ends between these are the layout's own.
        """
        if isinstance(renderable, Text):
            renderable = safe(self, renderable)
        for segment in super().render(renderable, options):
            if segment.control or (segment.text.isascii() and segment.text.isprintable()):
                yield segment
            else:
                yield Segment(printable(segment.text), segment.style)


def safe(console: Console, text: Text) -> Text:
    """Return the text as one line of visible characters, its styles kept where they were."""
    if text.plain.isascii() and text.plain.isprintable():
        return text
    made = text.blank_copy()
    for part in text.render(console):
        made.append("".join(pieces(part.text, breaks="")), part.style)
    return made


class PlainFormatter(logging.Formatter):
    """Log lines and tracebacks (``--debug``) by the same rules; their line feeds stay."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the record as text that controls nothing."""
        return printable(super().format(record))
