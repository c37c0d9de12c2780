"""What the spans of agents and those of the gateway share.

The conventions for generative AI are in development, so what is reported is that of one version,
and changes with `SEMCONV_VERSION` only. It is the last one in open-telemetry/semantic-conventions;
they go on in open-telemetry/semantic-conventions-genai, which has other names for the metrics.
"""

from opentelemetry import trace
from opentelemetry.trace import Span, Status, StatusCode, Tracer

from canonicall.reply import Usage

SEMCONV_VERSION = "1.41.0"
SCHEMA_URL = f"https://opentelemetry.io/schemas/{SEMCONV_VERSION}"


def tracer(provider: trace.TracerProvider | None) -> Tracer:
    """Ours, of a provider of traces; None is the one that is set for the process."""
    return trace.get_tracer("canonicall", tracer_provider=provider, schema_url=SCHEMA_URL)


def usage_attributes(usage: Usage) -> dict[str, int]:
    """Tokens, by the names of the conventions."""
    told = {
        "gen_ai.usage.input_tokens": usage.input_tokens,
        "gen_ai.usage.output_tokens": usage.output_tokens,
    }
    if usage.cache_read_tokens:
        told["gen_ai.usage.cache_read.input_tokens"] = usage.cache_read_tokens
    if usage.cache_write_tokens:
        told["gen_ai.usage.cache_creation.input_tokens"] = usage.cache_write_tokens
    return told


def fail(span: Span, kind: str, why: str = "") -> None:
    """It ended badly."""
    span.set_attribute("error.type", kind)
    span.set_status(Status(StatusCode.ERROR, why or None))
