"""The request type of Ollama's SDK as a judge. It reads every schema keyword it knows, and no other.

Extra keywords are let pass, as the SDK itself does: it sends the schema as it was given.
"""

import pytest

from judges.sources import MISSING

pydantic = pytest.importorskip("pydantic", reason=MISSING)
types = pytest.importorskip("ollama._types", reason=MISSING)


def judge(body):
    """What the SDK's type has against a request."""
    try:
        types.ChatRequest.model_validate(body)
    except pydantic.ValidationError as error:
        return [f"{one['loc']}: {one['msg']}" for one in error.errors()]
    return []
