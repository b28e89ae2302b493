"""The op ``heal`` of the stdio protocol, seen from the harness; a part of ``ExternalEncoder``."""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING, Any

from impls.interface import Unsupported

if TYPE_CHECKING:
    from collections.abc import Sequence

    from impls.interface import Mode


class HealsByProgram:
    """An encoder whose program heals. It has ``_one``, a request for one result."""

    _pretokenized: Sequence[object] = ()
    """The ops that the program's hello says it does with pre-tokenization, too."""

    _one: Any

    def heal(
        self, forced: bytes, recent: Sequence[int], allowed: Sequence[bytes] | None, mode: Mode
    ) -> tuple[Sequence[int], bytes]:
        """The program's forced tokens, and what it leaves over."""
        if mode.pretokenize and "heal" not in self._pretokenized:
            raise Unsupported("'heal' is not among its pretokenized_operations")
        continuations = None if allowed is None else [_text(one) for one in allowed]
        item = {"forced": _text(forced), "recent": list(recent), "allowed": continuations}
        asked = {"pretokenize": mode.pretokenize, "special": mode.special}
        result = self._one("heal", "ids", item, list, **asked)
        if not isinstance(result.get("leftover"), str):
            raise TypeError("a result of 'heal' has no 'leftover' in base64")
        return result["ids"], base64.b64decode(result["leftover"], validate=True)


def _text(data: bytes) -> str:
    return base64.b64encode(data).decode("ascii")
