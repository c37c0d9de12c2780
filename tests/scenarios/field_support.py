"""What the tests of the field catalogue share: a body is translated and has to be accepted."""

from canonicall.codec import translate
from canonicall.facts.registry import get_target
from canonicall.verify import verify
from scenarios.through_gateway import body_through, comparable

USER = {"role": "user", "content": "Go."}


def sent(body, source, target, **options):
    """The encoded request for `target`, which the judge has to accept."""
    goal = get_target(target)
    encoded = translate(body, source, goal, **options)
    assert [str(one) for one in verify(encoded.body, goal)] == []
    if not options:
        through = body_through(body, source, goal)
        assert through is None or through == comparable(encoded.body)
    return encoded
