"""Extended grapheme clusters, as of Unicode 16: table 1c of Unicode's annex 29.

The properties are those of the ``regex`` package, but for the marks that Unicode got after version
16, which is what tokenizers 0.23.3 knows (unicode-segmentation): to it they are ordinary
characters. The package's own ``\\X`` takes quadratic time for flags, and joins a linker and a
consonant behind it where no consonant stands before them.
"""

from __future__ import annotations

from itertools import accumulate, pairwise
from typing import TYPE_CHECKING

import numpy as np
import regex

if TYPE_CHECKING:
    from impls.kernels.layout import Longs

_CLUSTER = regex.compile(
    r"""
    \r\n | [\p{GCB=Control}\r\n]
    | \p{GCB=Prepend}*
      (?: # a conjunct: consonants with a linker between each two of them
          \p{InCB=Consonant}
          (?: \p{InCB=Extend}*+ \p{InCB=Linker} [\p{InCB=Extend}\p{InCB=Linker}]*+
              \p{InCB=Consonant} )+
        | # pictographs, joined
          \p{Extended_Pictographic}
          (?: \p{GCB=Extend}*+ \p{GCB=ZWJ} \p{Extended_Pictographic} )*+
        | # a flag
          \p{GCB=Regional_Indicator}{2}
        | # a syllable of Hangul
          \p{GCB=L}*+ (?: \p{GCB=V}++ | \p{GCB=LV} \p{GCB=V}*+ | \p{GCB=LVT} ) \p{GCB=T}*+
        | \p{GCB=L}++
        | \p{GCB=T}++
        | [^\p{GCB=Control}\r\n]
      )
      [\p{GCB=Extend}\p{GCB=ZWJ}\p{GCB=SpacingMark}]*+
    """,
    regex.VERBOSE,
)

_NEWER = regex.compile(
    "[\u05c8\u05c9\u0b53\u0b54\u1ade\u1adf\u1aec-\u1af0\U00010ecb-\U00010ecf\U00010ef0-\U00010ef9"
    "\U00011df0\U0001d127\U0001d128\U0001d250-\U0001d252\U0001d25b\U0001d25c\U0001d25f"
    "\U0001d280\U0001d281]"
)
"""The marks that came after Unicode 16."""
_NO_MARK = "\uffff"


def cluster_ends(data: bytes, ends: Longs) -> Longs:
    """Where each cluster of the texts ``data[ends[i - 1]:ends[i]]`` ends, all of them UTF-8."""
    found: list[int] = []
    start = 0
    for end in ends.tolist():
        text = data[start:end].decode()
        if text.isascii() and "\r" not in text:  # usual, and clear at a glance
            found += range(start + 1, end + 1)
        else:
            places = [match.end() for match in _CLUSTER.finditer(_NEWER.sub(_NO_MARK, text))]
            sizes = [len(text[a:b].encode()) for a, b in pairwise([0, *places])]
            found += accumulate(sizes[1:], initial=start + sizes[0]) if sizes else []
        start = end
    return np.array(found, dtype=np.int64)
