"""Whose an item is, by its id."""

import pytest

from canonicall.blocks import Opaque
from canonicall.wire.carried import UNKNOWN_ISSUER
from canonicall.wire.openai_responses.fields import domain_of_item, made_id, opaque_id

ITEMS = [
    ("function_call", "fc_1"),
    ("custom_tool_call", "ctc_1"),
    ("reasoning", "rs_1"),
    ("message", "msg_1"),
    ("web_search_call", "ws_1"),
    ("computer_call", "anything"),
]


@pytest.mark.parametrize("domain", ["openai", "azure-openai"])
@pytest.mark.parametrize(("kind", "id"), ITEMS)
def test_an_id_with_the_prefix_of_its_type_is_the_providers(kind, id, domain):
    item = {"type": kind, "id": id}
    assert opaque_id(item, "$", domain) == (Opaque(domain, "item_id", id),)


@pytest.mark.parametrize(("kind", "_"), ITEMS[:4])
def test_an_id_without_its_prefix_belongs_to_nobody(kind, _):
    """Clients write call ids, UUIDs or ids of their own there; OpenAI refuses them."""
    item = {"type": kind, "id": "call_1"}
    assert opaque_id(item, "$", "openai") == (Opaque(UNKNOWN_ISSUER, "item_id", "call_1"),)


def test_hosts_that_do_not_store_items_have_ids_of_any_form():
    """Recorded: DeepSeek writes UUIDs, xAI `tco_...` for reasoning."""
    item = {"type": "reasoning", "id": "84cf774d"}
    assert opaque_id(item, "$", "deepseek") == (Opaque("deepseek", "item_id", "84cf774d"),)


@pytest.mark.parametrize("domain", ["openai", "deepseek"])
@pytest.mark.parametrize(("kind", "id"), ITEMS)
def test_an_id_that_was_made_for_a_client_names_nothing(kind, id, domain):
    item = {"type": kind, "id": made_id(id.partition("_")[0], "x")}
    assert opaque_id(item, "$", domain) == ()
    assert domain_of_item(item, "$", domain) == UNKNOWN_ISSUER
