"""What a page draws: the data of its plots."""

import json
import re

DATA = re.compile(r'<script type="application/json">(.*?)</script>', re.DOTALL)


def drawn(markup):
    """The plots of some markup, as they were written."""
    return [json.loads(found) for found in DATA.findall(str(markup))]


def plot_of(markup):
    """The one plot of some markup."""
    (plot,) = drawn(markup)
    return plot
