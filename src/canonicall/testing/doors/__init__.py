"""How each wire format is served."""

from canonicall.testing.doors.anthropic import MessagesDoor
from canonicall.testing.doors.bedrock import ConverseDoor
from canonicall.testing.doors.cohere import CohereDoor
from canonicall.testing.doors.door import Door
from canonicall.testing.doors.gemini import GeminiDoor
from canonicall.testing.doors.ollama import OllamaDoor
from canonicall.testing.doors.openai_chat import ChatDoor
from canonicall.testing.doors.openai_responses import ResponsesDoor

DOORS: dict[str, Door] = {
    door.format: door
    for door in (
        ChatDoor(),
        ResponsesDoor(),
        MessagesDoor(),
        GeminiDoor(),
        ConverseDoor(),
        CohereDoor(),
        OllamaDoor(),
    )
}
