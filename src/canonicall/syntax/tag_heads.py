"""Opening tags: their attributes, and whatever else stands in them.

Nothing that stands in a tag is lost: what is no attribute is told apart by whether the tag was
closed. In one that was not, it may be words that have nothing to do with any tag.
"""

import re
from typing import TypeAlias

from canonicall.syntax.reader import Reader, Reading
from canonicall.syntax.stops import stops

Attributes: TypeAlias = dict[str, str]

_ATTRIBUTE = re.compile(r"""([\w.:-]+?)\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'>/]+))""")
_MOST_HEAD = 512
"""No opening tag is longer than this: what is longer opens nothing."""
SELF_CLOSED = "/"
"""Says of a tag that it closes itself."""
WORDS = " "
"""What stands in a tag that is not closed, and is no attribute: it may be no tag at all."""
_UNREAD = ""
"""What stands in a tag that is closed, and is no attribute."""
_TOKENIZER_BLANK = "\u0120"


def read_head(reader: Reader, tag_end: str, begun: str = "") -> Reading[Attributes | None]:
    """The rest of an opening tag: its attributes, and what is said behind `=` as its `name`.

    None if the tag has no end. `begun`: what of it was taken already.
    """
    head, end = yield from _up_to_end(reader, tag_end, begun)
    if not end:
        return None
    if end == tag_end:
        reader.take(len(end))
    text = (begun + head).replace(_TOKENIZER_BLANK, " ").strip()
    found: Attributes = {}
    if text.endswith("/") and end == tag_end:
        found[SELF_CLOSED] = ""
        text = text[:-1].rstrip()
    if text.startswith("="):
        found["name"] = text[1:].strip().strip("\"'")
        return found
    rest = []
    at = 0
    for one in _ATTRIBUTE.finditer(text):
        is_new = one[1] not in found
        rest.append(text[at : one.start() if is_new else one.end()])
        at = one.end()
        found.setdefault(one[1], one[2] or one[3] or one[4] or "")
    words = "".join((*rest, text[at:])).strip()
    if words:
        found[_UNREAD if end == tag_end else WORDS] = words
    return found


def _up_to_end(reader: Reader, tag_end: str, begun: str) -> Reading[tuple[str, str]]:
    """The text of an opening tag, and what ends it. In quotes, `<` is a character like others."""
    ends = stops(tag_end, "<", "\n")
    head = ""
    while True:
        said, end = yield from reader.up_to(ends, _MOST_HEAD - len(head))
        head += said
        if not end:
            reader.give_back(head)
            return "", ""
        if end != "<" or (begun + head).count('"') % 2 == 0:
            return head, end
        head += reader.take(1)


def unread(head: Attributes, known: str, *, frames: str = "(?!)") -> str:
    """What stands in an opening tag beside the attribute that is known and those that frame."""
    others = head.keys() - {known, SELF_CLOSED, WORDS, _UNREAD}
    said = (f"{name}={head[name]}" for name in head if name in others)
    odd = (one for one in said if not re.fullmatch(frames, one, re.IGNORECASE))
    return " ".join((*odd, head.get(_UNREAD, "")))
