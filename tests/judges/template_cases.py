"""Which syntax the template of a model prints, what stands around it there, and where they differ.

`form` is all that the template prints between the question and the answer, with CALLS and RESULTS
in the place of what the syntax prints. Where it prints something else by intent, the reason says
why; what the template prints is read all the same.
"""

from typing import NamedTuple

NONE = "the template says None by accident; readers know null"
REPR = "the template prints lists and objects as Python shows them by accident; printed is JSON"
DROPPED = "the template leaves null out, and nothing in it tells empty objects from empty texts"
FOREIGN = "functions.{name}:{index}"


class Case(NamedTuple):
    syntax: str
    form: str
    left_out: tuple[str, ...] = ()
    """Arguments that are not compared, and `why`."""
    why: tuple[str, ...] = ()
    unread: tuple[str, ...] = ()
    """Arguments of these that what the template prints does not tell."""
    calls_differ: str = ""
    results_differ: str = ""
    counts: tuple[int, ...] = (1, 2, 3)
    """How many calls in one reply the template can say."""
    content: str | None = ""
    encoded: bool = False
    is_mutable: bool = False
    id: str = "abcdefgh{index}"
    adds_words: str = ""
    """What the template adds behind the turn, which no model says."""
    indents: bool = False
    """It indents the lines of finished JSON, and takes rare characters in texts for line ends."""
    suffix: str = ""
    """Hunyuan 3: what the tags of the checkpoint end in."""
    model: str = ""
    """A model that has this template, where the file is not named like it."""
    is_taught: bool = False
    """An engine's own template: it teaches models another form than the one they were trained on."""


_IM = "<|im_end|>\n<|im_start|>assistant\n"
_CHATML = f"{_IM}CALLS<|im_end|>\n<|im_start|>user\nRESULTS{_IM}"
_HERMES = f"{_IM}CALLS<|im_end|>\n<|im_start|>tool\nRESULTS\n<|im_end|>" + _IM.removeprefix(
    "<|im_end|>\n"
)
_LFM = f"{_IM}CALLS<|im_end|>\n<|im_start|>tool\nRESULTS{_IM}"
_HEADER = "<|start_header_id|>assistant<|end_header_id|>\n\n"
_LLAMA = f"<|eot_id|>{_HEADER}CALLS<|eot_id|>RESULTS{_HEADER}"
_GRANITE = (
    "<|end_of_text|>\n<|start_of_role|>assistant<|end_of_role|>CALLS<|end_of_text|>\n"
    "<|start_of_role|>user<|end_of_role|>\nRESULTS"
    "<|end_of_text|>\n<|start_of_role|>assistant<|end_of_role|>"
)
_GIGACHAT = "<|message_sep|>\n\nassistant<|role_sep|>\nCALLS<|message_sep|>\n\nRESULTSassistant<|role_sep|>\n"
_KIMI = "<|im_end|><|im_assistant|>assistant<|im_middle|>CALLS<|im_end|>RESULTS<|im_assistant|>assistant<|im_middle|>"
_COHERE = "<|END_OF_TURN_TOKEN|><|START_OF_TURN_TOKEN|>"
_COMMAND3 = (
    f"{_COHERE}<|CHATBOT_TOKEN|><|START_THINKING|><|END_THINKING|>CALLS"
    f"{_COHERE}<|SYSTEM_TOKEN|>RESULTS{_COHERE}<|CHATBOT_TOKEN|><|START_RESPONSE|>"
)
_COMMAND4 = (
    f"<|END_TEXT|>{_COHERE}<|CHATBOT_TOKEN|>CALLS{_COHERE}<|SYSTEM_TOKEN|>RESULTS"
    f"{_COHERE}<|CHATBOT_TOKEN|><|START_TEXT|>"
)
_LAGUNA = "\n</user>\n<assistant>\n</think>\nCALLS\n</assistant>\nRESULTS\n<assistant>\n</think>\n"
_EOS = "<\uff5cend\u2581of\u2581sentence\uff5c>"
_V4 = f"<\uff5cAssistant\uff5c></think>\n\nCALLS{_EOS}<\uff5cUser\uff5c>RESULTS<\uff5cAssistant\uff5c></think>"
_SPARK = f"{_EOS}<\uff5cstart\u2581of\u2581sentence\uff5c>"
_QWEN_CODER = Case("qwen3_coder_xml", _CHATML, ("nothing",), (NONE,))
_GEMMA = Case("gemma4", "<turn|>\n<|turn>model\nCALLSRESULTS", ("nothing", "odd"), (NONE,))
_LLAMA_JSON = Case("llama3_json", _LLAMA, counts=(1,))
_APRIEL = Case(
    "apriel",
    "\n<|begin_assistant|>\n\nCALLS\n<|end|>\nRESULTS\n\n\n<|begin_assistant|>\n",
)

CASES = {
    "Apertus-8B-Instruct": Case("apertus", "<|user_end|><|assistant_start|>CALLSRESULTS"),
    "Apriel-1.6-15b-Thinker-fixed": _APRIEL,
    "Bielik-11B-v3.0-Instruct": Case("bielik", _CHATML.replace("CALLS", "\nCALLS")),
    "ByteDance-Seed-OSS": Case(
        "seed_oss",
        "<seed:eos><seed:bos>assistant\nCALLS<seed:eos>RESULTS<seed:bos>assistant\n",
        ("nothing", "list", "nested", "odd"),
        (NONE, REPR),
    ),
    "Cohere2MoE": Case("cohere_command4", _COMMAND4),
    "CohereForAI-c4ai-command-r-plus-tool_use": Case(
        "command_r_action_json",
        f"{_COHERE}<|CHATBOT_TOKEN|>\nCALLS\nRESULTS<|START_OF_TURN_TOKEN|><|CHATBOT_TOKEN|>",
        indents=True,
        adds_words="what the model should do is said once more behind the last turn",
    ),
    "CohereForAI-c4ai-command-r7b-12-2024-tool_use": Case("cohere_command3", _COMMAND3),
    "GLM-4.6": Case(
        "glm45_xml",
        "<|assistant|>\n<think></think>\nCALLSRESULTS<|assistant|>\n<think></think>\n",
    ),
    "GLM-4.7-Flash": Case("glm47_xml", "<|assistant|></think>CALLSRESULTS<|assistant|></think>"),
    "GigaChat3-10B-A1.8B": Case("gigachat3", _GIGACHAT, counts=(1,)),
    "GigaChat3.1-10B-A1.8B": Case("gigachat31", _GIGACHAT, counts=(1,)),
    "Kimi-K2-Instruct": Case("kimi_k2", _KIMI, is_mutable=True, id=FOREIGN),
    "Kimi-K2-Thinking": Case(
        "kimi_k2",
        _KIMI.replace("<|im_middle|>", "<|im_middle|><think></think>"),
        is_mutable=True,
        id=FOREIGN,
    ),
    "Kimi-K3": Case(
        "kimi_k3_xtml",
        '<|close|>message<|sep|><|end_of_msg|><|open|>message role="assistant"<|sep|>'
        "<|open|>think<|sep|><|close|>think<|sep|><|open|>response<|sep|><|close|>response<|sep|>"
        'CALLS<|close|>message<|sep|><|end_of_msg|>RESULTS<|open|>message role="assistant"<|sep|>'
        "<|open|>think<|sep|><|close|>think<|sep|><|open|>response<|sep|>",
    ),
    "LFM2.5-8B-A1B": Case(
        "lfm2",
        _LFM,
        calls_differ="the template quotes texts with ' and escapes nothing in them",
        results_differ="without markers: LFM2 has them",
    ),
    "MiMo-VL": Case("hermes", _CHATML),
    "MiniMax-M1": Case(
        "minimax_m1",
        "<end_of_sentence>\n<beginning_of_sentence>ai name=assistant\nCALLS<end_of_sentence>\n"
        "RESULTS<beginning_of_sentence>ai name=assistant\n",
    ),
    "MiniMax-M2": Case("minimax_m2", "[e~[\n]~b]ai\n\nCALLS[e~[\n]~b]toolRESULTS[e~[\n]~b]ai\n"),
    "MiniMax-M3": Case(
        "minimax_m3",
        "[e~[\n]~b]ai\n</mm:think>CALLS[e~[\n]~b]toolRESULTS[e~[\n]~b]ai\n</mm:think>",
        ("nothing", "odd"),
        (DROPPED,),
        unread=("nothing", "odd"),
    ),
    "Mistral-Small-3.2-24B-Instruct-2506": Case("mistral_v11", "[/INST]CALLSRESULTS"),
    "NVIDIA-Nemotron-3-Nano-30B-A3B-BF16": _QWEN_CODER._replace(
        form=f"{_IM}<think></think>\nCALLS\n<|im_end|>\n<|im_start|>user\nRESULTS\n{_IM}<think></think>"
    ),
    "NVIDIA-Nemotron-Nano-v2": Case(
        "nemotron_toolcall",
        "\n<SPECIAL_11>Assistant\nCALLS\n<SPECIAL_12>\n<SPECIAL_11>User\nRESULTS<SPECIAL_11>Assistant\n<think>\n",
    ),
    "NousResearch-Hermes-2-Pro-Llama-3-8B-tool_use": Case("hermes", _HERMES),
    "NousResearch-Hermes-3-Llama-3.1-8B-tool_use": Case("hermes", _HERMES),
    "Qwen-QwQ-32B": Case("hermes", _CHATML),
    "Qwen-Qwen2.5-7B-Instruct": Case("hermes", _CHATML),
    "Qwen-Qwen3-0.6B": Case("hermes", f"{_CHATML}<think>\n\n</think>\n\n"),
    "Qwen3-Coder": _QWEN_CODER._replace(form=_CHATML.replace("RESULTS", "RESULTS\n")),
    "Qwen3.5-4B": _QWEN_CODER._replace(form=_CHATML.replace(_IM, f"{_IM}<think>\n\n</think>\n\n")),
    "Reka-Edge": Case("reka_edge", "<sep>assistant: CALLS\n\n<sep>human: RESULTS<sep>assistant: "),
    "Spark2.5": Case(
        "spark25",
        f"{_SPARK}<|Bot|></think>CALLS{_SPARK}<|Tool|>RESULTS{_SPARK}<|Bot|></think>",
    ),
    "StepFun3.5-Flash": _QWEN_CODER._replace(
        syntax="step35",
        form=f"{_IM}<think>\n\n</think>\nCALLS<|im_end|>\n<|im_start|>tool_response\nRESULTS"
        f"{_IM}<think>\n\n</think>\n",
    ),
    "deepseek-ai-DeepSeek-R1-Distill-Llama-8B": Case(
        "deepseek_v3",
        f"<\uff5cAssistant\uff5c>CALLS{_EOS}RESULTS",
        # One call is left without the end of its block, a third has two ends.
        counts=(2,),
        content=None,
        encoded=True,
    ),
    "deepseek-ai-DeepSeek-R1-Distill-Qwen-32B": Case(
        "deepseek_v3", f"<\uff5cAssistant\uff5c>CALLS{_EOS}RESULTS", content=None
    ),
    "deepseek-ai-DeepSeek-V3.1": Case(
        "deepseek_v31", f"<\uff5cAssistant\uff5c><think></think>CALLS{_EOS}RESULTS"
    ),
    "deepseek-ai-DeepSeek-V3.2": Case(
        "deepseek_v32_dsml",
        f"<\uff5cAssistant\uff5c></think>\n\nCALLS{_EOS}\n\nRESULTS\n\n</think>",
    ),
    "deepseek-ai-DeepSeek-V4": Case("deepseek_v4_dsml", _V4),
    "deepseek-ai-DeepSeek-V4-Flash-0731": Case("deepseek_v4_dsml", _V4),
    "fireworks-ai-llama-3-firefunction-v2": Case("firefunction_v2", _LLAMA),
    "google-gemma-4-31B-it": _GEMMA,
    "google-gemma-4-31B-it-interleaved": _GEMMA._replace(
        form="<turn|>\n<|turn>model\nCALLS<turn|>\n<|turn>tool\nRESULTS<turn|>\n<|turn>model\n",
        results_differ="turns without markers: an older form of the same template",
    ),
    "ibm-granite-granite-4.0": Case("granite4", _GRANITE),
    "ibm-granite-granite-4.1": Case("granite4", _GRANITE),
    "inclusionai-ling-3.0-flash": Case(
        "ling3",
        "<|role_end|><role>ASSISTANT</role>\n<think></think>CALLS<|role_end|><role>OBSERVATION</role>\n"
        "RESULTS<|role_end|><role>ASSISTANT</role>\n<think></think>",
    ),
    "meetkai-functionary-medium-v3.1": Case(
        "functionary_v31", f"<|eot_id|>{_HEADER}CALLS<|eom_id|>RESULTS{_HEADER}"
    ),
    "meetkai-functionary-medium-v3.2": Case("functionary_v32", f"{_LLAMA}>>>all\n", encoded=True),
    "meta-llama-Llama-3.1-8B-Instruct": _LLAMA_JSON,
    "meta-llama-Llama-3.2-3B-Instruct": _LLAMA_JSON,
    "meta-llama-Llama-3.3-70B-Instruct": _LLAMA_JSON,
    "mistralai-Ministral-3-14B-Reasoning-2512": Case("mistral", "[/INST]CALLSRESULTS"),
    "mistralai-Mistral-Nemo-Instruct-2407": Case(
        "mistral_nemo",
        "[/INST]CALLSRESULTS",
        results_differ="text that is no JSON stands where mistral-common has it as JSON",
    ),
    "moonshotai-Kimi-K2": Case(
        "kimi_k2",
        _KIMI,
        id=FOREIGN,
        results_differ="a line end that was escaped once too often, and no name: a copy gone wrong",
    ),
    "muse-glimmer": Case(
        "muse_glimmer_atem", "<|eot|>CALLSRESULTS<|start|>assistant to=user<|message|>"
    ),
    "openai-gpt-oss-120b": Case(
        "harmony",
        "<|end|>CALLSRESULTS<|start|>assistant<|channel|>final<|message|>",
        counts=(1,),
        calls_differ="the recipient stands in the role; the model writes it behind the channel",
        results_differ="text is printed as JSON; the guide to Harmony has it as it is",
    ),
    "openbmb-MiniCPM5-1B": Case(
        "minicpm5_xml", _CHATML, ("nothing", "list", "nested", "odd"), (NONE, REPR)
    ),
    "poolside-Laguna-S-2.1": Case(
        "poolside_laguna_s",
        "</user>\n<assistant><think></think>CALLS</assistant>\nRESULTS\n<assistant><think></think>",
    ),
    "poolside-Laguna-XS-2.1": Case("poolside_laguna", _LAGUNA),
    "poolside-Laguna-XS.2": Case("poolside_laguna", _LAGUNA),
    "tencent-Hy3": Case(
        "hunyuan_v3",
        "<\uff5chy_Assistant:opensource\uff5c><think:opensource></think:opensource>CALLS<\uff5chy_eos:opensource\uff5c>"
        "RESULTS<\uff5chy_Assistant:opensource\uff5c><think:opensource></think:opensource>",
        suffix="opensource",
    ),
    "unsloth-Apriel-1.5": _APRIEL._replace(
        form="\n<|end|>\n<|assistant|>\n\nCALLS\n<|end|>\nRESULTS<|assistant|>\n",
        results_differ="turns of other names than those of Apriel 1.6",
    ),
    "unsloth-mistral-Devstral-Small-2507": Case("mistral", "[/INST]CALLSRESULTS"),
    "upstage-Solar-Open-100B": Case(
        "solar_open",
        "<|end|><|begin|>assistantCALLS<|calls|><|begin|>toolRESULTS<|end|><|begin|>assistant<|content|>",
    ),
}
EXCUSED = {
    "HuggingFaceTB-SmolLM3-3B": "it prints no calls: a reply is its text",
    "LFM2-8B-A1B": "it prints no calls: a reply is its text",
    "LFM2.5-Instruct": "it prints no calls: a reply is its text",
    "google-gemma-2-2b-it": "it knows no tools",
    "ibm-granite-granite-3.3-2B-Instruct": "it prints no calls: a reply is its text",
    "llama-cpp-deepseek-r1": "an engine's own, that only this engine can render",
    "llama-cpp-rwkv-world": "it knows no tools",
    "microsoft-Phi-3.5-mini-instruct": "it knows no tools",
}
