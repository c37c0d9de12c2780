"""Every code that a body can have: what is wrong, what to do, and where such a fault is made.

The codes are stable: programs compare them. The provider's own wording differs from one provider to
the next and stands in the violation itself.
"""

from typing import NamedTuple

from canonicall.findings import Fault


class Code(NamedTuple):
    """What a code means and how to put it right."""

    why: str
    repair: str
    fault: Fault = Fault.RENDER


CODES = {
    # The body as a whole.
    "malformed_body": Code(
        "This part of the body is of another kind than the format says.",
        "Send the kind of value that the format names.",
        Fault.INPUT,
    ),
    "missing_field": Code("A field that has to be there is missing.", "Add the field."),
    "unknown_field": Code("The provider does not know this field here.", "Leave the field out."),
    "unknown_value": Code(
        "A field has a value that is not one of those it may have.",
        "Send one of the values that the answer names.",
    ),
    "empty_input": Code("The request has no message.", "Send at least one user message."),
    "state_not_kept": Code(
        "The request continues what is kept on a server, and this provider does not keep it.",
        "Send the whole conversation, or send the request to the provider that keeps the rest.",
    ),
    # Calls and results.
    "missing_result": Code(
        "A call has no result.",
        "Send one result for every call, at once after the message that holds the calls.",
    ),
    "orphan_result_sent": Code(
        "A result answers no call of the message before it.",
        "Leave the result out, or send the message with its call before it.",
        Fault.INPUT,
    ),
    "duplicate_result_sent": Code("A call has two results.", "Keep one result for each call."),
    "results_not_adjacent": Code(
        "Another message stands between a call and its result.",
        "Move the result to directly after the message with its call.",
    ),
    "results_not_first": Code(
        "Other content stands before the results.",
        "Put the results first and the rest of the message behind them.",
    ),
    "calls_not_last": Code(
        "Text stands behind calls in the assistant's message.",
        "Put the text before the calls.",
    ),
    "results_not_alone": Code(
        "Results share their message with other content.",
        "Give the results a message of their own.",
    ),
    "unequal_results": Code(
        "There are not as many results as calls.",
        "Send exactly one result for every call, all of them in one message.",
    ),
    "empty_result": Code("A result has no content.", "Send a short text as the result."),
    "bad_result_content": Code(
        "A result holds content that cannot stand in a result.",
        "Send text, and media in a user message behind the results.",
    ),
    "error_result_not_text": Code(
        "A failed result holds something besides text.", "Send only text in a failed result."
    ),
    "result_without_name": Code(
        "A result does not name its tool.", "Give the result the name of the tool that was called."
    ),
    "response_not_object": Code(
        "The value of a result is not an object.", 'Wrap the value: {"output": value}.'
    ),
    "server_call_unanswered": Code(
        "A call of a provider's own tool has no result.",
        "Keep the call and its result together, or leave both out.",
    ),
    "calls_misplaced": Code(
        "A message with calls stands where none may stand.",
        "Let calls follow a user message or results.",
    ),
    "calls_in_wrong_role": Code(
        "Calls stand in a message that is not the assistant's.",
        "Move them to an assistant message.",
    ),
    "empty_tool_calls": Code("The list of calls is empty.", "Leave the list out."),
    "too_many_calls": Code(
        "One message has more calls than the model allows.", "Split the calls over messages."
    ),
    "text_beside_calls": Code(
        "A message has text and calls.", "Leave out the text of messages that have calls."
    ),
    # Ids, names, arguments.
    "missing_call_id": Code("An id is missing.", "Give calls and results ids.", Fault.PROJECTION),
    "bad_call_id": Code(
        "An id has characters or a form that the provider does not accept.",
        "Rewrite the id in the call and in its result alike.",
        Fault.PROJECTION,
    ),
    "call_id_too_long": Code(
        "An id is too long.",
        "Shorten the id in the call and in its result alike.",
        Fault.PROJECTION,
    ),
    "duplicate_call_id": Code(
        "Two calls have one id.", "Give every call its own id.", Fault.PROJECTION
    ),
    "bad_item_id": Code(
        "An item's id is not one of this provider's.", "Leave the id out.", Fault.PROJECTION
    ),
    "duplicate_item_id": Code("Two items have one id.", "Send every item once.", Fault.PROJECTION),
    "bad_speaker_name": Code(
        "The name of the one who speaks has characters that the provider does not accept.",
        "Replace the characters, or leave the name out.",
    ),
    "bad_tool_name": Code(
        "A tool's name has characters or a length that the provider does not accept.",
        "Rename the tool in its definition, its calls and the tool choice alike.",
        Fault.PROJECTION,
    ),
    "duplicate_tool_name": Code(
        "Two tools have one name.", "Rename one of the tools.", Fault.PROJECTION
    ),
    "arguments_not_object": Code(
        "The arguments of a call are not an object.", "Send an object, {} where there are none."
    ),
    "arguments_not_text": Code(
        "The arguments of a call are not a text.", "Send the arguments as JSON text."
    ),
    "arguments_not_json": Code(
        "The arguments of a call are not the JSON text of an object.",
        'Send the JSON text of an object, "{}" where there are none.',
    ),
    # Messages.
    "blank_text": Code("A text is empty or blank.", "Leave blank text out."),
    "empty_message": Code("A message has no content.", "Leave the message out."),
    "bad_part": Code(
        "A content part has a type that cannot stand here, or is not exactly one thing.",
        "Send one part for each piece of content, of a type that belongs to the role.",
    ),
    "bad_document_name": Code(
        "A document has a name that the provider does not accept, or that another document has.",
        "Rename the document.",
        Fault.PROJECTION,
    ),
    "document_without_text": Code(
        "A message has a document and no text.", "Send a text in the same message."
    ),
    "unknown_role": Code(
        "The provider does not know this role.", "Use one of the roles the provider names."
    ),
    "roles_do_not_alternate": Code(
        "Two messages of one role stand in a row.", "Merge messages of one role into one message."
    ),
    "bad_role_order": Code(
        "This role may not follow the role before it.", "Move the message to where it may stand."
    ),
    "misplaced_instructions": Code(
        "Instructions stand where the model does not accept them.",
        "Move them to the start of the conversation, or send them as user text.",
    ),
    "user_after_tool": Code(
        "A user message follows results at once.", "Put a short assistant message between them."
    ),
    "must_start_with_user": Code(
        "The first message is not the user's.", "Begin with a user message."
    ),
    "must_end_with_user": Code(
        "The last message is the assistant's.", "End with a user message or with results."
    ),
    "trailing_whitespace": Code(
        "The assistant's last text ends in white space.", "Cut the white space off."
    ),
    "too_many_messages": Code(
        "There are more messages than the provider takes.",
        "Leave out or sum up the oldest messages.",
    ),
    "compaction_misplaced": Code(
        "A signed summary of the provider's does not come first.",
        "Send it first, in place of the messages it sums up, or leave it out.",
    ),
    "compaction_repeated": Code(
        "There are two signed summaries of the provider's.", "Send only the last one."
    ),
    # Reasoning.
    "thinking_unsigned": Code(
        "Reasoning has no signature of the provider.",
        "Leave the reasoning out, or send it as plain text.",
    ),
    "thinking_last": Code(
        "Reasoning is the last block of its message.", "Leave out reasoning that nothing follows."
    ),
    "thinking_missing": Code(
        "Thinking is on, and the calls being answered are not preceded by reasoning.",
        "Send the reasoning that came with the calls, or turn thinking off for this request.",
    ),
    "thinking_while_off": Code(
        "Thinking is off, and the assistant's last message holds reasoning.",
        "Leave the reasoning out, or turn thinking on.",
    ),
    "thinking_unsupported": Code(
        "The model does not know this way of turning thinking on or off.",
        "Use the setting that the model documents: adaptive for newer models, enabled for older"
        " ones.",
    ),
    "effort_unsupported": Code(
        "The model does not know this level of effort.",
        "Use one of the levels that the error names; a model that knows none is told none.",
    ),
    "thinking_budget": Code(
        "The budget for thinking does not fit.",
        "Give at least 1024 tokens, and fewer than max_tokens.",
    ),
    "reasoning_missing": Code(
        "A message with calls has no reasoning, and the model demands it.",
        "Send the reasoning back; where there is none, send the placeholder.",
    ),
    "reasoning_refused": Code(
        "The model does not accept reasoning here.", "Leave the reasoning out."
    ),
    "reasoning_without_following": Code(
        "A reasoning item is not followed by what was made from it.",
        "Keep it together with the item behind it, or leave both their ids and it out.",
    ),
    "signature_missing": Code(
        "The first call of a step has no thought signature.",
        "Send the signature the call came with, or the value that skips the check.",
    ),
    # Tools and tool choice.
    "tools_missing": Code(
        "The history has calls or results, and no tools are declared.",
        "Declare the tools that occur in the history.",
    ),
    "empty_tools": Code("The list of tools is empty.", "Leave the list out."),
    "too_many_tools": Code("There are more tools than the provider takes.", "Offer fewer tools."),
    "empty_description": Code(
        "The description of a tool is empty.", "Leave the description out, or write one."
    ),
    "bad_tool_schema": Code(
        "The schema of a tool is missing or is not one the provider takes.",
        'Send a schema with "type": "object" and only the keywords the provider knows.',
    ),
    "invalid_schema": Code(
        "The schema of a tool is not valid JSON Schema.",
        "Correct the keyword, or the reference that leads nowhere.",
    ),
    "bad_parameter_name": Code(
        "The name of a parameter has characters or a length that the provider does not accept.",
        "Rename the parameter.",
        Fault.PROJECTION,
    ),
    "strict_schema": Code(
        "The schema of a strict tool uses something that strict mode does not know.",
        "Simplify the schema, or do not mark the tool as strict.",
    ),
    "too_many_strict_tools": Code(
        "More tools are marked as strict than the provider takes.",
        "Mark fewer tools as strict.",
    ),
    "strict_unsupported": Code(
        "The model has no strict tools, and refuses the mark.", "Leave `strict` out."
    ),
    "schema_too_complex": Code(
        "The schemas of strict tools are too large, alone or together.",
        "Offer fewer strict tools, or simpler schemas.",
    ),
    "tool_search_missing": Code(
        "A tool is to be loaded later, and nothing is there to search for it.",
        "Offer the tool that searches, or load all tools at once.",
    ),
    "tools_mixed": Code(
        "Functions are offered beside tools that the provider runs on its side.",
        "Offer one kind of tools only.",
    ),
    "choice_without_tools": Code(
        "A tool choice is given, and no tools are.", "Leave the tool choice out, or send tools."
    ),
    "choice_unsupported": Code(
        "The model does not know this tool choice.", "Use a choice the model knows."
    ),
    "choice_names_unknown_tool": Code(
        "The tool choice names a tool that is not declared.", "Declare the tool, or name another."
    ),
    "forced_choice_with_thinking": Code(
        "A tool is forced while the model thinks.", "Let the model choose, or turn thinking off."
    ),
    # Parameters.
    "parameter_unsupported": Code(
        "The model does not know this parameter or this value of it.", "Leave the parameter out."
    ),
    "bad_output_format": Code(
        "The format of the reply, or its schema, is not one that the provider takes.",
        "Send a schema that the provider takes, or leave the format out.",
    ),
    "json_word_missing": Code(
        "A JSON object is asked for, and no message says so in words.",
        "Write the word JSON into a message.",
        Fault.INPUT,
    ),
    # Cache marks.
    "too_many_cache_marks": Code(
        "There are more cache marks than the provider takes.", "Remove the oldest marks."
    ),
    "cache_mark_order": Code(
        "A cache mark that lasts an hour stands behind a shorter one, or one block has both.",
        "Give the later mark the shorter lifetime, or the earlier ones the longer.",
    ),
    "bad_cache_mark": Code(
        "A cache mark is of a kind, or has a lifetime, that the provider does not know.",
        "Use a lifetime that the provider names, or none.",
    ),
    "cache_mark_misplaced": Code(
        "A cache mark stands where the provider takes none.",
        "Put the mark on another block.",
    ),
    "cache_mark_on_deferred_tool": Code(
        "A tool that is loaded later carries a cache mark.",
        "Move the mark to a tool that is loaded at once, or leave it out.",
    ),
    "cache_mark_on_blank_text": Code(
        "A cache mark stands on an empty text.", "Move the mark to a block that has content."
    ),
}
