"""What the Responses API keeps, and what can be done with it."""

import json

from canonicall import translate
from canonicall.testing.exchange import SimRequest
from canonicall.testing.simulator import Simulator
from testing.asking import ASKED, KEY, QUESTION, RESPONSES, ask, get

BODY = ASKED["openai-responses"][3]


def outputs(reply):
    return [
        {"type": "function_call_output", "call_id": item["call_id"], "output": "sunny"}
        for item in reply["output"]
        if item["type"] == "function_call"
    ]


def test_a_response_can_be_read_again_and_deleted():
    simulator = Simulator("openai", call_tools="*")
    _, first = ask(simulator, RESPONSES, BODY)
    path = f"{RESPONSES}/{first['id']}"
    assert get(simulator, path) == (200, first)
    deleted = {"id": first["id"], "object": "response", "deleted": True}
    assert ask(simulator, path, method="DELETE") == (200, deleted)
    assert ask(simulator, path, method="DELETE")[0] == 404
    assert get(simulator, path)[0] == 404
    assert get(simulator, f"{path}/input_items")[0] == 404


def test_the_next_request_goes_on_from_what_is_stored():
    simulator = Simulator("openai", call_tools="*")
    _, first = ask(simulator, RESPONSES, BODY)
    going_on = {**BODY, "previous_response_id": first["id"], "input": outputs(first)}
    status, second = ask(simulator, RESPONSES, going_on)
    assert status == 200
    assert "sunny" in second["output"][-1]["content"][0]["text"]
    _, items = get(simulator, f"{RESPONSES}/{second['id']}/input_items")
    assert [item["type"] for item in items["data"]] == [
        *("message", "reasoning", "function_call", "function_call"),
        *("function_call_output", "function_call_output"),
    ]
    assert items["data"][0]["content"] == QUESTION


def test_the_stored_calls_have_to_be_answered():
    simulator = Simulator("openai", call_tools="*")
    _, first = ask(simulator, RESPONSES, BODY)
    for given in ("Well?", outputs(first)[:1], []):
        going_on = {**BODY, "previous_response_id": first["id"], "input": given}
        status, body = ask(simulator, RESPONSES, going_on)
        assert status == 400
        assert "No tool output found for function call" in body["error"]["message"]


def test_nothing_is_kept_where_the_client_says_so():
    simulator = Simulator("openai", call_tools="*")
    _, first = ask(simulator, RESPONSES, {**BODY, "store": False})
    assert get(simulator, f"{RESPONSES}/{first['id']}")[0] == 404
    going_on = {**BODY, "previous_response_id": first["id"], "input": outputs(first)}
    status, body = ask(simulator, RESPONSES, going_on)
    assert (status, body["error"]["code"]) == (400, "previous_response_not_found")


def test_one_simulator_knows_nothing_of_another():
    _, first = ask(Simulator("openai", call_tools="*"), RESPONSES, BODY)
    going_on = {**BODY, "previous_response_id": first["id"], "input": outputs(first)}
    assert ask(Simulator("openai", call_tools="*"), RESPONSES, going_on)[0] == 400


def test_what_only_the_real_provider_has_stored_passes_where_any_will_do():
    going_on = {**BODY, "previous_response_id": "resp_of_the_real_one", "input": "Go on."}
    assert ask(Simulator("openai", signatures="any", call_tools="*"), RESPONSES, going_on)[0] == 200
    talking = {**BODY, "conversation": "conv_of_the_real_one", "input": "Go on."}
    assert ask(Simulator("openai", signatures="any", call_tools="*"), RESPONSES, talking)[0] == 200
    status, body = ask(Simulator("openai", call_tools="*"), RESPONSES, talking)
    assert (status, body["error"]["code"], body["error"]["param"]) == (404, None, None)


def test_a_streamed_response_is_stored_as_it_was_told():
    simulator = Simulator("openai", call_tools="*")
    asked = SimRequest.of("POST", RESPONSES, {**BODY, "stream": True}, KEY)
    *_, last = simulator.answer(asked).data.strip().split(b"\n\n")
    told = json.loads(last.partition(b"data: ")[2])["response"]
    _, stored = get(simulator, f"{RESPONSES}/{told['id']}")
    assert stored["output"] == told["output"]
    assert (stored["status"], stored["model"]) == (told["status"], told["model"])


def test_a_stream_that_failed_is_not_stored():
    simulator = Simulator("openai", faults=["error_in_200"], call_tools="*")
    asked = SimRequest.of("POST", RESPONSES, {**BODY, "stream": True}, KEY)
    *_, last = simulator.answer(asked).data.strip().split(b"\n\n")
    told = json.loads(last.partition(b"data: ")[2])["response"]
    assert told["status"] == "failed"
    assert get(simulator, f"{RESPONSES}/{told['id']}")[0] == 404


def test_items_can_be_referred_to_while_they_are_stored():
    simulator = Simulator("openai", call_tools="*")
    _, first = ask(simulator, RESPONSES, BODY)
    references = [{"type": "item_reference", "id": item["id"]} for item in first["output"]]
    user = {"role": "user", "content": QUESTION}
    asked = {**BODY, "input": [user, *references, *outputs(first)]}
    assert ask(simulator, RESPONSES, asked)[0] == 200
    ask(simulator, f"{RESPONSES}/{first['id']}", method="DELETE")
    status, body = ask(simulator, RESPONSES, asked)
    assert status == 400
    assert "not found" in body["error"]["message"] or "No tool call" in body["error"]["message"]


def test_a_stored_call_wants_the_reasoning_it_was_made_from():
    simulator = Simulator("openai", call_tools="*")
    _, first = ask(simulator, RESPONSES, BODY)
    thought, call, *_ = first["output"]
    asked = {"role": "user", "content": QUESTION}
    whole = [asked, *first["output"], *outputs(first)]
    assert ask(simulator, RESPONSES, BODY | {"input": whole})[0] == 200
    parted = [item for item in whole if item is not thought]
    status, body = ask(simulator, RESPONSES, BODY | {"input": parted})
    assert status == 400
    assert body["error"]["message"] == (
        f"Item '{call['id']}' of type 'function_call' was provided without its required"
        f" 'reasoning' item: '{thought['id']}'."
    )


def test_a_call_without_its_id_stands_alone():
    """Nobody knows where it came from; nor where nothing was stored."""
    simulator = Simulator("openai", call_tools="*")
    _, first = ask(simulator, RESPONSES, BODY)
    calls = [item for item in first["output"] if item["type"] == "function_call"]
    asked = {"role": "user", "content": QUESTION}
    plain = [{name: one[name] for name in one if name != "id"} for one in calls]
    alone = [asked, *plain, *outputs(first)]
    assert ask(simulator, RESPONSES, BODY | {"input": alone})[0] == 200
    unstored = Simulator("openai", call_tools="*")
    _, second = ask(unstored, RESPONSES, BODY | {"store": False})
    calls = [item for item in second["output"] if item["type"] == "function_call"]
    named = [asked, *calls, *outputs(second)]
    assert ask(unstored, RESPONSES, BODY | {"input": named})[0] == 200


def test_another_model_gets_the_calls_without_their_ids():
    """Its reasoning cannot be read there, so the calls are not what was stored either."""
    simulator = Simulator("openai", call_tools="*")
    _, first = ask(simulator, RESPONSES, BODY)
    asked = {"role": "user", "content": QUESTION}
    body = BODY | {"input": [asked, *first["output"], *outputs(first)]}
    for model in ("gpt-5.6", "gpt-4o"):
        target = f"openai/openai-responses:{model}"
        rendered = translate(body, "openai-responses", target, provider="openai").body
        assert not [item for item in rendered["input"] if item.get("id")]
        assert ask(simulator, RESPONSES, rendered)[0] == 200
