"""The message of one choice as far as it has come.

What cannot be read is refused when it comes, so that one bad chunk costs no more than itself.
"""

from typing import Any

from canonicall.wire.openai_chat.audio import decode_audio
from canonicall.wire.openai_chat.parts import decode_part
from canonicall.wire.openai_chat.reasoning import DETAILS, TEXT_FIELDS
from canonicall.wire.openai_chat.stream_calls import GrowingCalls
from canonicall.wire.reading import list_at, object_at, text_at
from canonicall.wire.streaming import Blocks

_GROWING_DETAILS = ("text", "summary", "data")
_GROWING_AUDIO = ("data", "transcript")
_ELSEWHERE = ("content", "role", "tool_calls", "function_call", DETAILS)
_LISTS = ("images", "annotations")


class GrowingMessage:
    """Collects the increments of a message, and says what is new in each."""

    def __init__(self, blocks: Blocks) -> None:
        self.calls = GrowingCalls(blocks)
        self.choice: dict[str, Any] = {}
        self.began = False
        self.reasoning_field = TEXT_FIELDS[0]
        self._content: list[str] = []
        self._parts: list[_GrowingPart] = []
        self._texts: dict[str, list[str]] = {}
        self._details: list[_GrowingPart] = []
        self._untold: list[_GrowingPart] = []
        """What has come of the details since they were told last."""
        self._audio = _GrowingPart({})
        self._rest: dict[str, Any] = {}

    def add(self, delta: dict[str, Any], where: str) -> tuple[str, str, str]:
        """Take a delta in, but for its calls. Returns new reasoning, new words, new refusal."""
        self.began = True
        content = delta.get("content")
        if content.__class__ is str and len(delta) == 1:
            if self._parts:
                self._add_part({"type": "text", "text": content})
            else:
                self._content.append(content)
            return "", content, ""
        return self._add_all(delta, content, where)

    def add_words(self, text: str) -> None:
        """Take in words that go on with those before."""
        self._content.append(text)

    def only_adds_words(self, delta: dict[str, Any]) -> bool:
        """Whether a delta that was taken in says nothing but words."""
        others = (value for field, value in delta.items() if field not in ("role", "content"))
        return not self._parts and isinstance(delta.get("content"), str) and not any(others)

    def merge_choice(self, choice: dict[str, Any]) -> None:
        """Keep what stands beside the delta. A reason once given is not taken back."""
        for field, value in choice.items():
            if field == "logprobs" and isinstance(value, dict):
                self._add_logprobs(value)
            elif field not in ("index", "delta", "message") and value not in (None, ""):
                self.choice[field] = value

    def take_details(self) -> list[dict[str, Any]]:
        """The reasoning details that have not been told; they count as told from now on."""
        untold, self._untold = self._untold, []
        return [detail.whole() for detail in untold]

    @property
    def last_thinking(self) -> dict[str, Any] | None:
        """The thinking chunk of the content that came last, if that is where reasoning stands."""
        parts = (part for part in reversed(self._parts) if part.fields.get("type") == "thinking")
        part = next(parts, None)
        return None if part is None else part.whole()

    @property
    def has_more(self) -> bool:
        """Whether there is more than words, reasoning and calls."""
        return bool(
            self._rest.get("images")
            or self._audio.whole()
            or any(part.fields.get("type") not in ("text", "thinking") for part in self._parts)
        )

    def whole(self, index: int) -> dict[str, Any]:
        """The choice of a response without streaming."""
        message: dict[str, Any] = {"role": "assistant", **self._rest}
        parts = [part.whole() for part in self._parts]
        message["content"] = parts or "".join(self._content) or None
        for field, pieces in self._texts.items():
            message[field] = "".join(pieces)
        if self._details:
            message[DETAILS] = [detail.whole() for detail in self._details]
        if self._audio.whole():
            message["audio"] = self._audio.whole()
        message |= self.calls.whole()
        return {"index": index, "message": message} | self.choice

    def _add_all(self, delta: dict[str, Any], content: Any, where: str) -> tuple[str, str, str]:
        words, thought = self._add_content(content, where)
        refusal = ""
        for field, value in delta.items():
            if value is None or field in _ELSEWHERE:
                continue
            if field in TEXT_FIELDS:
                thought += self._add_reasoning(field, text_at(value, f"{where}.{field}"))
            elif field == "refusal":
                refusal = text_at(value, f"{where}.refusal")
                self._texts.setdefault(field, []).append(refusal)
            elif field == "audio":
                self._add_audio(object_at(value, f"{where}.audio"), f"{where}.audio")
            elif field in _LISTS:
                self._add_list(field, list_at(value, f"{where}.{field}"), f"{where}.{field}")
            elif field not in self._rest or value not in ("", [], {}):
                self._rest[field] = value
        # Behind the field of its own, which says the same: what is in both is told once.
        if delta.get(DETAILS):
            thought += self._add_details(list_at(delta[DETAILS], f"{where}.{DETAILS}"))
        return thought, words, refusal

    def _add_content(self, content: Any, where: str) -> tuple[str, str]:
        """New words and new reasoning of a content; Mistral's is a list of parts."""
        if content is None or content == "":
            return "", ""
        if isinstance(content, str):
            if self._parts:
                self._add_part({"type": "text", "text": content})
            else:
                self._content.append(content)
            return content, ""
        words = thought = ""
        for number, value in enumerate(list_at(content, f"{where}.content")):
            place = f"{where}.content[{number}]"
            part = object_at(value, place)
            if part.get("type") != "thinking":
                decode_part(part, place, "", [])
            if part.get("type") == "text" and not part.get("text"):
                continue
            if self._content:
                self._parts.append(_GrowingPart({"type": "text", "text": "".join(self._content)}))
                self._content = []
            self._add_part(part)
            words += part["text"] if part.get("type") == "text" else ""
            if part.get("type") == "thinking":
                thought += _words_of_chunk(part)
                self.reasoning_field = "content"
        return words, thought

    def _add_part(self, part: dict[str, Any]) -> None:
        """Add a part to the content; it goes on with the last one if both are of a kind."""
        last = self._parts[-1].fields if self._parts else {}
        kind = part.get("type")
        if kind == "thinking":
            part = {**part, "thinking": [{"type": "text", "text": _words_of_chunk(part)}]}
            # `closed` says nothing here: Mistral writes it on some increments of one thought.
            if last.get("type") == "thinking" and not last.get("signature"):
                self._parts[-1].grow_thinking(part)
                return
        elif kind == "text" and last.get("type") == "text" and len(part) == len(last) == 2:
            self._parts[-1].grow(part, ("text",))
            return
        self._parts.append(_GrowingPart(part))

    def _add_reasoning(self, field: str, text: str) -> str:
        """New reasoning; hosts that send it in two fields mean it once."""
        if not text:
            return ""
        is_first = not self._texts.keys() & set(TEXT_FIELDS)
        self._texts.setdefault(field, []).append(text)
        if is_first:
            self.reasoning_field = field
        return text if field == self.reasoning_field else ""

    def _add_audio(self, audio: dict[str, Any], where: str) -> None:
        decode_audio(audio, where, "")
        self._audio.grow(audio, _GROWING_AUDIO)

    def _add_list(self, field: str, more: list[Any], where: str) -> None:
        """Images, each whole, or annotations."""
        if field == "images":
            for number, image in enumerate(more):
                decode_part(image, f"{where}[{number}]", "", [])
        self._rest[field] = [*self._rest.get(field, ()), *more]

    def _add_logprobs(self, more: dict[str, Any]) -> None:
        """Those of all tokens, one behind the other."""
        known = self.choice.get("logprobs")
        if not isinstance(known, dict):
            known = self.choice["logprobs"] = {}
        for field, tokens in more.items():
            if isinstance(tokens, list) and isinstance(known.get(field), list):
                known[field] += tokens
            elif tokens is not None or field not in known:
                known[field] = [*tokens] if isinstance(tokens, list) else tokens

    def _add_details(self, details: list[Any]) -> str:
        """New reasoning of details; those of one index and type are one."""
        said = ""
        for detail in details:
            if not isinstance(detail, dict):
                continue
            words = detail.get("text") or detail.get("summary")
            said += words if isinstance(words, str) else ""
            _add_detail(self._details, detail)
            _add_detail(self._untold, detail)
        has_own_field = bool(self._texts.keys() & set(TEXT_FIELDS))
        if said and not has_own_field:
            self.reasoning_field = DETAILS
        return "" if has_own_field else said


class _GrowingPart:
    """An object some of whose texts come in pieces. They are put together once, at the end."""

    def __init__(self, fields: dict[str, Any]) -> None:
        self.fields = dict(fields)
        self._pieces: dict[str, list[str]] = {}

    def grow(self, more: dict[str, Any], growing: tuple[str, ...]) -> None:
        """Add an increment: texts named in `growing` go on, other fields take its value."""
        for field, value in more.items():
            if field in growing and isinstance(value, str):
                known = self.fields.get(field)
                first = [known] if isinstance(known, str) else []
                self._pieces.setdefault(field, first).append(value)
            elif value is not None:
                self.fields[field] = value

    def grow_thinking(self, more: dict[str, Any]) -> None:
        """The same for a thinking chunk, whose words stand inside a list."""
        first = _words_of_chunk(self.fields)
        self._pieces.setdefault("thinking", [first]).append(_words_of_chunk(more))
        self.fields |= {field: value for field, value in more.items() if field != "thinking"}

    def whole(self) -> dict[str, Any]:
        grown: dict[str, Any] = {field: "".join(said) for field, said in self._pieces.items()}
        if "thinking" in grown:
            grown["thinking"] = [{"type": "text", "text": grown["thinking"]}]
        return self.fields | grown


def _add_detail(details: list[_GrowingPart], detail: dict[str, Any]) -> None:
    """Add a detail; it goes on with the last one if both have the same index and type."""
    last = details[-1].fields if details else {}
    if last and all(last.get(key) == detail.get(key) for key in ("index", "type")):
        details[-1].grow(detail, _GROWING_DETAILS)
    else:
        details.append(_GrowingPart(detail))


def _words_of_chunk(part: dict[str, Any]) -> str:
    held = part.get("thinking")
    if isinstance(held, str):
        return held
    chunks = held if isinstance(held, list) else []
    return "".join(
        chunk["text"]
        for chunk in chunks
        if isinstance(chunk, dict) and isinstance(chunk.get("text"), str)
    )
