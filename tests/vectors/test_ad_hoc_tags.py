"""Tags named like tools, with elements or YAML inside, against the vectors of a public middleware."""

from batches import each
from vectors.recorded import as_recorded
from vectors.support import Case, by_reason, case, check, needs_vectors, vectors
from vectors.vector import Vector

pytestmark = needs_vectors

FORMATS = ("toolname_as_tag_xml", "yaml_in_xml")
EXCEPTIONS = by_reason(
    (
        "keys that mean something to JavaScript are keys like any other",
        """
        ai-sdk-middleware-0181 ai-sdk-middleware-0206 ai-sdk-middleware-0211
        ai-sdk-middleware-0212 ai-sdk-middleware-0213 ai-sdk-middleware-0214
        ai-sdk-middleware-0222 ai-sdk-middleware-0341 ai-sdk-middleware-0342
        ai-sdk-middleware-0343
        """,
    ),
    (
        "of an argument said twice the last counts, with a finding",
        "ai-sdk-middleware-0193 ai-sdk-middleware-0200 ai-sdk-middleware-0450",
    ),
    (
        "arguments that the schema does not have are kept; a validator will tell",
        """
        ai-sdk-middleware-0199 ai-sdk-middleware-0233 ai-sdk-middleware-0234
        ai-sdk-middleware-0250
        """,
    ),
    ("CDATA is undone everywhere", "ai-sdk-middleware-0201"),
    (
        "a name on a line of its own is no tag",
        "ai-sdk-middleware-0173 ai-sdk-middleware-0262",
    ),
    ("what stands in an element that is not closed is its text", "ai-sdk-middleware-0257"),
    (
        "without a schema a value is text, and one that is wrapped up is none",
        """
        ai-sdk-middleware-0301 ai-sdk-middleware-0302 ai-sdk-middleware-0363
        ai-sdk-middleware-0364
        """,
    ),
    (
        "tags in the words of a message are kept",
        "ai-sdk-middleware-0354 ai-sdk-middleware-0365",
    ),
    ("words for a tool that takes one text are that text", "ai-sdk-middleware-0357"),
    ("the end of the call ends an argument that is not closed", "ai-sdk-middleware-0415"),
    ("code that is no YAML is not read as YAML", "ai-sdk-middleware-0001"),
)


def case_of(vector: Vector) -> Case:
    return case(as_recorded(vector))


@each("vector", vectors(*FORMATS))
def test_vector(vector: Vector) -> None:
    check(case_of(vector), EXCEPTIONS)
