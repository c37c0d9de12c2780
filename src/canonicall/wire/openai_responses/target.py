"""What the Responses API accepts."""

from canonicall.target import IdRule, NameRule, Target

FORMAT = "openai-responses"

TARGET = Target(
    format=FORMAT,
    provider="openai",
    domain="openai",
    # "Invalid 'input[95].call_id': string too long. Expected a string with maximum length 64"
    ids=IdRule(prefix="call_", max_length=64),
    # OpenAPI FunctionToolParam.name: ^[a-zA-Z0-9_-]+$, 1 to 128.
    names=NameRule(max_length=128),
    # Calls and their outputs are items of the input, one for each (response_input_item_param.py).
    results="items",
    # SDK response_function_call_output_item_param.py: input_text, input_image, input_file.
    result_media=("image", "document"),
    # SDK response_input_content_param.py, the same three.
    media=("image", "document"),
    # `instructions` stands for the first system message; later ones are items.
    system="top",
    developer=True,
    # "The encrypted content ... could not be verified": only who wrote it can read it, and only
    # inside one model family (guide "Reasoning models", reasoning.context).
    reasoning="signed",
    reasoning_state=("encrypted", "item_id"),
    reasoning_same_model=True,
    # SDK custom_tool_param.py.
    custom_tools=True,
    # SDK tool_choice_allowed_param.py.
    choice_names="many",
    # "Invalid 'tools': array too long. Expected an array with maximum length 128"
    max_tools=128,
    # "Expected an ID that begins with 'fc'."; "Duplicate item found with id" (vercel/ai#7883).
    item_ids=True,
)
