"""What a page draws: the data of its plots."""

from __future__ import annotations

import json
import re
from typing import Any

DATA = re.compile(r'<script type="application/json">(.*?)</script>', re.DOTALL)


def drawn(markup: object) -> list[dict[str, Any]]:
    """The plots of some markup, as they were written."""
    return [json.loads(found) for found in DATA.findall(str(markup))]


def plot_of(markup: object) -> dict[str, Any]:
    """The one plot of some markup."""
    (plot,) = drawn(markup)
    return plot
