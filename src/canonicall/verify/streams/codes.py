"""Every code that only a stream can have. The others are those of bodies (`verify/codes.py`).

The codes are stable: programs compare them. What a client makes of such a stream differs from one
client to the next and stands in the violation itself.
"""

from canonicall.findings import Fault
from canonicall.verify.codes import Code

STREAM_CODES = {
    # Frames.
    "frame_unreadable": Code(
        "A frame is damaged, or its payload is not a JSON object.",
        "Write whole frames, each with one JSON object.",
        Fault.INPUT,
    ),
    "frame_cut": Code(
        "The stream ends inside a frame.", "End every frame as the framing says.", Fault.INPUT
    ),
    "frame_malformed": Code(
        "A part of a frame is of another kind than the format says.",
        "Write the kind of value that the format names.",
    ),
    "frame_field_missing": Code("A field that clients read is missing.", "Write the field."),
    "unknown_event": Code(
        "The format has no such event.", "Write only events that the format names."
    ),
    "event_name_differs": Code(
        "The name of a frame is not the type of its event.", "Name the frame after its event."
    ),
    # The course of a stream.
    "stream_not_started": Code(
        "An event stands before the one that starts the stream.", "Write the start first."
    ),
    "stream_started_twice": Code("The stream starts a second time.", "Write the start once."),
    "event_out_of_order": Code(
        "An event stands where it may not stand.", "Write the events in the order of the format."
    ),
    "event_after_end": Code("An event follows the end of the stream.", "Write nothing behind it."),
    "stream_not_ended": Code(
        "The stream stops without its end.",
        "Write the end; where the reply was cut, the error of the format.",
    ),
    "sequence_broken": Code(
        "The numbers of the events do not count up one by one.", "Number the events 0, 1, 2."
    ),
    "stream_id_changed": Code(
        "The id of the reply changes within the stream.", "Give every event the same id."
    ),
    # Blocks: what is begun, added to and ended.
    "index_out_of_order": Code(
        "A block has another number than the next one.", "Number blocks 0, 1, 2 as they begin."
    ),
    "block_not_open": Code(
        "Something is added to a block that is not open, or ends it.",
        "Begin a block before its content, and add nothing once it has ended.",
    ),
    "block_left_open": Code(
        "A block is still open where it has to be ended.",
        "End each block before the next one, and all before the end.",
    ),
    "delta_does_not_fit": Code(
        "Content is of another kind than the block it is added to.",
        "Add only what belongs to the kind of the block.",
    ),
    "content_twice": Code(
        "Something that clients add up comes twice.",
        "Write it once: either whole at the start or in pieces.",
    ),
    "done_differs": Code(
        "What is given as whole is not what its pieces make.",
        "Write as whole exactly what the pieces make.",
    ),
    "call_incomplete": Code(
        "A call begins without its id, its type or its name.",
        "Begin a call only when all of them are known.",
    ),
    # How the reply ended.
    "finish_missing": Code("No event says why the reply ended.", "Write the reason."),
    "finish_unknown": Code(
        "The format does not know this reason.", "Use one of the reasons the format names."
    ),
    "finish_hides_calls": Code(
        "There are calls, and the reason says that the turn is over.",
        "Give the reason that stands for calls; agents stop at the other.",
    ),
    "finish_without_calls": Code(
        "The reason stands for calls, and there are none.",
        "Give the reason for a finished turn; agents wait for calls otherwise.",
    ),
    "usage_missing": Code(
        "The figures that clients read at the end are missing.",
        "Write the figures, zero where they are not known.",
    ),
}
