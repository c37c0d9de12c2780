"""Rendering: the cost of one more turn, and how cost grows with the conversation."""

from canonicall import Conversation, Renderer, Text, get_target, render
from measuring import Ratio, Side, compare
from traffic import mixed_messages

TURNS = 1_000
MESSAGES_PER_TURN = 4


def ratios() -> list[Ratio]:
    """One more turn against all turns, and ten times the messages."""
    return [_one_more_turn("anthropic"), _one_more_turn("openai"), _growth("anthropic")]


def _one_more_turn(provider: str) -> Ratio:
    target = get_target(provider)
    messages = mixed_messages(TURNS * MESSAGES_PER_TURN, reuse_ids=True)
    conversation = Conversation.of(messages)
    renderer = Renderer(target)
    renderer.render(conversation)

    def again() -> object:
        conversation.user([Text("And now?")])
        return renderer.render(conversation)

    def full() -> object:
        return render(conversation, target)

    what = f"{provider}: one more turn / all {TURNS:,} turns"
    return compare(what, Side(again, 1), Side(full, 1), goal=0.03)


def _growth(provider: str) -> Ratio:
    target = get_target(provider)
    long = Conversation.of(mixed_messages(10_000, reuse_ids=True))
    short = Conversation.of(mixed_messages(1_000, reuse_ids=True))
    return compare(
        f"{provider}: 10,000 messages / 1,000",
        Side(lambda: render(long, target), 1),
        Side(lambda: render(short, target), 1),
        goal=12,
    )
