"""Words for the schemas of :mod:`corpora.grammars.own_schemas`: what their templates draw from."""

from __future__ import annotations

STEMS: tuple[tuple[str, ...], ...] = (
    ("orderId", "orderName", "orderNumber", "orderedAt", "orders"),
    ("user_id", "user_name", "user_agent", "username", "users"),
    ("created", "createdAt", "createdBy", "creator", "creationDate"),
    ("Content-Type", "Content-Length", "Content-Language", "Content-Disposition", "Connection"),
    ("address", "addressLine1", "addressLine2", "addressee", "add"),
    ("is_active", "is_admin", "is_archived", "is_action_required", "isbn"),
    ("startDate", "startDateTime", "start", "startsWith", "state"),
    ("price", "priceCurrency", "priceValidUntil", "prices", "pricing"),
    ("background", "background-color", "background-image", "backgroundColor", "back"),
    ("name", "name_of_the_person", "name_of_the_place", "namespace", "names"),
    ("max_length", "max_tokens", "max_new_tokens", "maximum", "maxItems"),
    ("telephone", "telephoneNumber", "telefax", "tel", "telegram"),
    ("HTTPStatus", "HTTPSPort", "HTTP2", "HTTPMethod", "HTTP"),
    ("org.example.api", "org.example.app", "org.example", "org.examples", "organization"),
    ("@type", "@id", "@context", "@contexts", "@"),
    ("x1", "x10", "x100", "x2", "x"),
    ("größe", "größeneinheit", "grösse", "größter", "gruppe"),
    ("prénom", "prénoms", "préférence", "prefix", "pré"),
    ("имя", "имя_пользователя", "имена", "идентификатор", "и"),
    ("注文番号", "注文者", "注文", "注釈", "注文日時"),
)
"""Sibling keys that begin alike."""

CHAINS: tuple[tuple[str, ...], ...] = (
    ("inter", "internal", "international", "internationalization"),
    ("in", "inf", "info", "inform", "information", "informational"),
    ("pre", "prep", "prepare", "prepared", "preparedness"),
    ("re", "rest", "restaurant", "restaurants"),
    ("am", "amp", "ampl", "ample", "ampler"),
    ("north", "northeast", "northeastern", "northeasterner"),
    ("v1", "v1.0", "v1.0.1", "v1.0.10", "v1.0.10-beta"),
    ("GET", "GETTING", "GETTY"),
    ("under", "understand", "understanding", "understandingly"),
    ("USD", "USDC", "USDCoin"),
    ("new", "new york", "new york city", "new york city hall"),
    ("", "a", "aa", "aaa", "aaaa", "aaaaaaaa"),
    ("東", "東京", "東京都", "東京都庁"),
    ("сам", "само", "самолёт", "самолётостроение"),
    ("error", "error:", "error: ", "error: 4", "error: 404"),
    ("-", "--", "---", "----", "--------"),
)
"""Values of which each begins the next."""

CUTS: tuple[tuple[str, ...], ...] = (
    ("é", "è", "ê"),
    ("café", "cafè", "cafeteria"),
    ("naïve", "naîve", "naive"),
    ("日", "旦", "早"),
    ("漢字", "漢学", "漢"),
    ("😀", "😁", "😂"),
    ("status 🙂", "status 🙃", "status"),
    ("ключ", "ключи", "клюв"),
    ("한국", "한글", "한"),
    ("Ω", "Ω̄", "Π"),
    ("नमस्ते", "नमस्कार", "नमः"),
    ("a\u00a0b", "a\u00a9b", "a b"),
)
"""Values that part inside a character: it begins with the same bytes."""

LONG: tuple[tuple[str, ...], ...] = (
    ("University of Pennsylvania", "University of Pennsylvanicus", "University of Penn"),
    ("internationalization", "internationalisation", "internationalized"),
    ("antidisestablishmentarianism", "antidisestablishmentarian", "antidisestablish"),
    ("electroencephalographically", "electroencephalography", "electroencephalogram"),
    ("Donaudampfschifffahrtsgesellschaft", "Donaudampfschifffahrt", "Donaudampfer"),
    ("counterrevolutionaries", "counterrevolutionary", "counterrevolution"),
    ("responsibilities", "responsibility", "responsible"),
    ("dichlorodifluoromethane", "dichlorodiphenyltrichloroethane", "dichloromethane"),
    ("getElementsByClassName", "getElementsByTagName", "getElementById"),
    ("INTERNAL_SERVER_ERROR", "INTERNAL_SERVER_ERRORS", "INTERNAL_SERVICE"),
    ("/usr/local/share/applications", "/usr/local/share/application", "/usr/local/sh"),
    ("System.Collections.Generic", "System.Collections.Generics", "System.Collection"),
)
"""Long words and names with others that leave them late."""

EMOJI: tuple[tuple[str, ...], ...] = (
    ("👩", "👩‍🚀", "👩‍👩‍👧", "👩‍👩‍👧‍👦"),
    ("👍", "👍🏽", "👍🏿", "👎"),
    ("🇩🇪", "🇩🇰", "🇩", "🇫🇷"),
    ("❤", "❤️", "❤️‍🔥", "🧡"),
    ("1️⃣", "1", "10", "🔟"),
    ("🏳️", "🏳️‍🌈", "🏴‍☠️", "🏴"),
    ("☀️", "☀", "☁️", "⛅"),
    ("ok 👌", "ok 👌👌", "ok", "ok!"),
    ("🙈🙉🙊", "🙈🙉", "🙈", "🙊"),
    ("🧑🏻‍💻", "🧑‍💻", "🧑🏿‍💻", "💻"),
    ("⚠️ warning", "⚠️ warnings", "⚠ warning", "warning"),
    ("🤦🏼‍♂️", "🤦🏼‍♀️", "🤦", "🤷"),
)
"""Sequences of emoji, some of which begin others."""

ESCAPES: tuple[tuple[str, ...], ...] = (
    ("line\nbreak", "line\nbroken", "line"),
    ('say "hi"', 'say "high"', "say"),
    ("C:\\temp", "C:\\test", "C:\\"),
    ("tab\there", "tab\t", "tab"),
    ("\\", "\\\\", "\\\\\\"),
    ("a/b", "a\\/b", "a//b"),
    ("\r\n", "\r", "\n"),
    ("\b\f", "\b", "\f"),
    ("\x00", "\x01", "\x1f"),
    ("\\n", "\n", "\\nn"),
    ('<b>"it\'s"</b>', '<b>"it"</b>', "<b>"),
    ("\u2028", "\u2029", "\u2029\ufeff"),
)
"""Values that JSON writes with escapes."""

SPACES: tuple[tuple[str, ...], ...] = (
    ("total  ", "total  5", "total  five", "total "),
    (" ", "  ", "   ", "    "),
    ("a\u00a0", "a\u00a0\u00a0", "a\u00a0\u00a01"),
    ("page 1", "page 10", "page  1", "page"),
    ("  indented", "   indented", "    indented"),
    ("1 000", "1 000 000", "1  000", "1"),
    ("x \u3000", "x \u3000y", "x "),
    ("end ", "end  ", "end  of", "end"),
    ("\t\t", "\t", "\t\t\tif"),
    ("5 %", "5  %", "5", "50 %"),
    ("tel: 555", "tel:  555", "tel: 5550", "tel: "),
    ("no  ", "no  1", "no  !", "no  é"),
)
"""Runs of white space before digits, letters, signs and the end."""

CONTRACTIONS: tuple[tuple[str, ...], ...] = (
    ("I'm", "I'll", "I've", "I'd"),
    ("don't", "don'ts", "don't you", "done"),
    ("we're", "we'rewolf", "we'", "we"),
    ("IT'S", "IT'SELF", "IT'", "it's"),
    ("l'eau", "l'été", "l'", "le"),
    ("o'clock", "o'connor", "o'", "o"),
    ("rock'n'roll", "rock'n", "rock'", "rock"),
    ("'s", "'sup", "'", "''"),
    ("y'all'd've", "y'all'd", "y'all", "y'"),
    ("she'ſ", "she's", "she'", "she"),
    ("d’accord", "d'accord", "d’", "d'"),
    ("can't've", "can't", "cannot", "can"),
)
"""Apostrophes, at which pre-tokenizers look for the endings of English."""

RUNS: tuple[tuple[str, ...], ...] = (
    ("aaaaaaaa", "aaaaaaaaa", "aaaaaaaaaaaaaaaa"),
    ("________", "_________", "______"),
    ("00000000", "000000000", "0000000000000000"),
    ("========", "================", "=========="),
    ("ababababab", "abababababa", "abababababc"),
    ("123123123", "1231231231", "12312312"),
    ("hahahaha", "hahahahaha", "hahahah"),
    ("!!!!!!!!", "!!!!!!!!?", "!!!!"),
    ("ееееее", "еееееее", "eeeeee"),
    ("zzzzzzzzzzzzzzzz", "zzzzzzzzzzzzzzz", "zzzz"),
    ("....", "...", ".........."),
    ("xXxXxX", "xXxXxXx", "xXxX"),
)
"""The same characters again and again, in lengths of which one begins the other."""
