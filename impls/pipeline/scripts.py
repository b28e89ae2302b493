"""Scripts, by which ``UnicodeScripts`` parts a text: SentencePiece's rules in tokenizers' way.

Kana counts as Han, and the space as of every script, as do characters of none. What stands before
the first character of a script is lost.
"""

from __future__ import annotations

from functools import lru_cache

import regex

from impls.interface import Unsupported
from impls.pipeline.characters import ranged

_NAMES = """
Adlam Ahom Anatolian_Hieroglyphs Arabic Armenian Avestan Balinese Bamum Bassa_Vah Batak Bengali
Bhaiksuki Bopomofo Brahmi Braille Buginese Buhid Canadian_Aboriginal Carian Caucasian_Albanian
Chakma Cham Cherokee Common Coptic Cuneiform Cypriot Cyrillic Deseret Devanagari Duployan
Egyptian_Hieroglyphs Elbasan Ethiopic Georgian Glagolitic Gothic Grantha Greek Gujarati Gurmukhi
Han Hangul Hanunoo Hatran Hebrew Hiragana Imperial_Aramaic Inherited Inscriptional_Pahlavi
Inscriptional_Parthian Javanese Kaithi Kannada Katakana Kayah_Li Kharoshthi Khmer Khojki Khudawadi
Lao Latin Lepcha Limbu Linear_A Linear_B Lisu Lycian Lydian Mahajani Malayalam Mandaic Manichaean
Marchen Meetei_Mayek Mende_Kikakui Meroitic_Cursive Meroitic_Hieroglyphs Miao Modi Mongolian Mro
Multani Myanmar Nabataean New_Tai_Lue Newa Nko Ogham Ol_Chiki Old_Hungarian Old_Italic
Old_North_Arabian Old_Permic Old_Persian Old_South_Arabian Old_Turkic Oriya Osage Osmanya
Pahawh_Hmong Palmyrene Pau_Cin_Hau Phags_Pa Phoenician Psalter_Pahlavi Rejang Runic Samaritan
Saurashtra Sharada Shavian Siddham SignWriting Sinhala Sora_Sompeng Sundanese Syloti_Nagri Syriac
Tagalog Tagbanwa Tai_Le Tai_Tham Tai_Viet Takri Tamil Tangut Telugu Thaana Thai Tibetan Tifinagh
Tirhuta Ugaritic Vai Warang_Citi Yi
"""
"""Those of Unicode 9, which the library's table is of. Characters of any other are of none."""

# Characters that are of another script to the `regex` package than in that table, found by asking
# tokenizers 0.23.3 about every one. A test asks again.
_UNSETTLED = ranged(
    """
    0558 0560 0588-0589 058B-058C 05C8-05C9 05EF 061C-061D 07FD-07FF 0860-086A 0870-0891
    0897-089F 08B5 08BE-08D3 0953-0954 09FC-09FE 0A76 0AFA-0AFF 0B53-0B55 0C04 0C3C 0C5C-0C5D
    0C77 0C84 0CDC-0CDD 0CF3 0D00 0D04 0D3B-0D3C 0D81 0E86 0E89 0E8C 0E8E-0E93 0E98 0EA0
    0EA8-0EA9 0EAC 0EBA 0ECE 170D 1715 171F 180F 1878 1ABF-1AF0 1B4C 1B4E-1B4F 1B7D-1B7F
    1C89-1C8A 1C90-1CBA 1CBD-1CBF 1CF7 1CFA 1DF6-1DFA 208F 209D-209F 20BF-20C4 23FF 2427-2429
    2B96-2B97 2BBA-2BBC 2BC9 2BD2-2BEB 2BF0-2BFF 2C2F 2C5F 2E45-2E5D 2E60-2E63 2FFC-2FFF
    312E-312F 31BB-31BF 31E4-31E5 31EF 32FF 4DB6-4DBF 9FD6-9FFF A7AF A7B8-A7DD A7E2 A7F1-A7F6
    A82C A8FE-A8FF AB66-AB6D FBC2-FBD2 FD40-FD4F FD90-FD91 FDC8-FDCF FDFE-FDFF 1019C 1032D-1032F
    10780-10785 10787-107B0 107B2-107BF 10A34-10A35 10A48 10EC2-10EC7 10EC9-10EEE 10EF0-10EFF
    11070-11075 110C2 110CD 11144-11147 111CE-111CF 1123F-11241 1133B 1145A 1145E-11461
    116B8-116B9 116D0-116E3 1171A 11740-11746 11AB0-11ABF 11B00-11B0A 11B60-11B67 11DF0-11DF1
    11FB0 11FC0-11FF1 11FFF 1246F 12475-1247F 12550-125A7 1264C-12686 1342F-13455 13460-143FA
    16F45-16F4A 16F4F 16F7F-16F87 16FE2-16FE3 16FF0-16FF6 187ED-187FF 18AF3-18AFF 18D00-18D20
    18D80-18DF2 1AFF0-1AFF3 1AFF5-1AFFB 1AFFD-1AFFE 1B002-1B128 1B132 1B150-1B152 1B155
    1B164-1B168 1CC00-1CCFC 1CD00-1CEB3 1CEBA-1CED0 1CED2-1CED4 1CEDD-1CEFD 1CF00-1CF2D
    1CF30-1CF46 1CF50-1CFC3 1D127-1D128 1D1E9-1D1FF 1D250-1D281 1D2C0-1D2D3 1D2E0-1D2F3
    1D372-1D378 1D6A6 1DB00-1DB1C 1DF00-1DF81 1DF90-1DF96 1DFCD-1DFFF 1E030-1E06D 1E08F
    1E7E0-1E7E6 1E7E8-1E7EB 1E7ED-1E7EE 1E7F0-1E7FE 1E94B 1EC71-1ECB4 1ED01-1ED3D 1F10D-1F10F
    1F12F 1F16C-1F16F 1F1AD-1F1AE 1F260-1F265 1F6D3-1F6D9 1F6DC-1F6DF 1F6F7-1F6FC 1F774-1F77F
    1F7D5-1F7DB 1F7E0-1F7EB 1F7F0-1F7FF 1F8B0-1F8BB 1F8C0-1F8C1 1F8D0-1F8D8 1F900-1F90F 1F91F
    1F928-1F92F 1F931-1F932 1F93F 1F94C-1F94F 1F95F-1F97F 1F992-1F9BF 1F9C1-1FA57 1FA60-1FA6D
    1FA70-1FA7C 1FA80-1FAC6 1FAC8 1FACC-1FADD 1FADF-1FAEB 1FAEF-1FAFA 1FB00-1FB92 1FB94-1FBFA
    2A6D7-2A6DF 2B735-2B73F 2B81E 2CEA2-2CEAD 2CEB0-2EBE0 2EBF0-2EE5D 30000-3134A 31350-33479
    """
)

_ANY = ""
"""The script of what goes with every other."""

_ONE_OF = regex.compile("|".join(rf"(\p{{Script={name}}})" for name in _NAMES.split()))
_JOINED = {"Hiragana": "Han", "Katakana": "Han"}
_MARK_OF_LENGTH = "\u30fc"


@lru_cache(maxsize=1 << 16)
def script_of(character: str) -> str:
    """The script of a character; empty for one that goes with every other."""
    if character in _UNSETTLED:
        raise Unsupported("a character of this text is of another script in other versions")
    if character == " ":
        return _ANY
    if character == _MARK_OF_LENGTH:
        return "Han"
    match = _ONE_OF.match(character)
    if match is None or match.lastindex is None:
        return _ANY
    name = _NAMES.split()[match.lastindex - 1]
    return _JOINED.get(name, name)


def parted_by_script(text: str) -> list[str]:
    """The pieces of a text, each of one script."""
    starts: list[int] = []
    before = None
    for at, script in enumerate(map(script_of, text)):
        if script != _ANY:
            if script != before:
                starts.append(at)
            before = script
    ends = [*starts[1:], len(text)]
    return [text[at:end] for at, end in zip(starts, ends, strict=False)]
