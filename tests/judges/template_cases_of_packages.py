"""The same for the templates that come with vLLM, TRL, Axolotl and Unsloth."""

from judges.template_cases import CASES as OWN
from judges.template_cases import Case

_RAW_RESULTS = "text that is no JSON is printed as it is; mistral-common prints it as JSON"
_REPR_TEXTS = "the template quotes texts with ' or not at all, and escapes nothing in them"
_BARE_TEXTS = "the template prints texts without quotes"
_ONLY_TEXTS = "the template prints every value as a text"
_KEYS = "the template prints keys as they are, also those that need quotes"
_OTHER_TURNS = "results are turns without the markers of the model"
_SPACES = "the template prints its own indentation between the tokens"
_OTHER = ("lines", "hushed", "days", "ratio", "flag", "nothing", "list", "nested", "odd")
_HEADER = "<|start_header_id|>assistant<|end_header_id|>\n\n"
_EOS = "<\uff5cend\u2581of\u2581sentence\uff5c>"
_IM = "<|im_end|>\n<|im_start|>assistant\n"
_TOKENS = f"<\uff5cAssistant\uff5c>CALLS{_EOS}RESULTS"
_THINK = "<think>\n\n</think>\n\n"
_QWEN2, _QWEN3 = OWN["Qwen-Qwen2.5-7B-Instruct"], OWN["Qwen-Qwen3-0.6B"]
_QWEN35 = OWN["Qwen3.5-4B"]
_QWEN36 = Case("qwen36_xml", _QWEN35.form)
_NEMOTRON = OWN["NVIDIA-Nemotron-3-Nano-30B-A3B-BF16"]
_GEMMA_OLD = OWN["google-gemma-4-31B-it"]._replace(model="gemma-4-E2B-it")
_GEMMA = _GEMMA_OLD._replace(left_out=("",), why=(_KEYS,))
_COMMAND_A = OWN["CohereForAI-c4ai-command-r7b-12-2024-tool_use"]._replace(
    model="command-a-03-2025"
)
_LLAMA = OWN["meta-llama-Llama-3.1-8B-Instruct"]
_LLAMA_ENGINE = _LLAMA._replace(results_differ="results are objects with one text, `output`")
_MISTRAL = Case(
    "mistral_pre_v11",
    "[/INST]CALLSRESULTS ",
    results_differ=_RAW_RESULTS,
    model="Mistral-7B-Instruct-v0.3",
)
_V3 = Case(
    "deepseek_v3",
    _TOKENS,
    results_differ="results follow each other without a line end",
    content=None,
    encoded=True,
    model="DeepSeek-V3",
)
_LFM = Case(
    "lfm2",
    f"{_IM}CALLS<|im_end|>\n<|im_start|>tool\nRESULTS{_IM}",
    calls_differ=_REPR_TEXTS,
    results_differ=_OTHER_TURNS,
)
_LLAMA4 = Case(
    "llama4_pythonic",
    "<|eot|><|header_start|>assistant<|header_end|>\n\nCALLS<|eot|>RESULTS"
    "<|header_start|>assistant<|header_end|>\n\n",
    calls_differ="the template prints JSON after an empty block; the model writes Python",
    model="Llama-4-Scout-17B-16E-Instruct",
)
_PYTHONIC = Case(
    "pythonic",
    f"<|eot_id|>{_HEADER}CALLS<|eot_id|>RESULTS{_HEADER}",
    unread=("lines", "nothing", "list", "nested", "odd"),
    calls_differ=_BARE_TEXTS,
    results_differ="there is no form of results",
    is_taught=True,
)

CASES = {
    "axolotl-command_a_rag": _COMMAND_A,
    "axolotl-command_a_tool_use": _COMMAND_A,
    "axolotl-deepseek_v3": _V3,
    "axolotl-exaone4": Case(
        "exaone4",
        f"[|endofturn|]\n[|assistant|]\n{_THINK}CALLS[|endofturn|]\n[|tool|]\nRESULTS[|endofturn|]\n"
        f"[|assistant|]\n{_THINK}",
        model="EXAONE-4.0-32B",
    ),
    "axolotl-gemma4": _GEMMA_OLD,
    "axolotl-jamba": Case(
        "jamba",
        "<|eom|><|bom|><|assistant|> CALLS<|eom|>RESULTS<|bom|><|assistant|> ",
        results_differ="there is no form of results",
        model="AI21-Jamba-1.5-Mini",
    ),
    "axolotl-llama3_2_vision": _LLAMA._replace(model="Llama-3.2-11B-Vision-Instruct"),
    "axolotl-llama4": _LLAMA4,
    "axolotl-mistral_v2v3": _MISTRAL,
    "axolotl-mistral_v3_tekken": _MISTRAL._replace(
        syntax="mistral_nemo", form="[/INST]CALLSRESULTS", model="Mistral-Nemo-Instruct-2407"
    ),
    "axolotl-qwen3": _QWEN3._replace(model="Qwen3-8B"),
    "axolotl-qwen3_5": _QWEN3._replace(is_taught=True),
    "trl-deepseek_r1_distill": OWN["deepseek-ai-DeepSeek-R1-Distill-Llama-8B"]._replace(
        model="DeepSeek-R1-Distill-Qwen-7B"
    ),
    "trl-deepseekv3": _V3,
    "trl-diffusion_gemma": _GEMMA._replace(
        form="<turn|>\n<|turn>model\nCALLSRESULTS<|turn>model\n", model="diffusiongemma-26B-A4B-it"
    ),
    "trl-gemma4": _GEMMA_OLD,
    "trl-gemma4_v2": OWN["google-gemma-4-31B-it-interleaved"]._replace(model="gemma-4-E2B-it"),
    "trl-gemma4_v3": _GEMMA_OLD,
    "trl-gemma4_v4": _GEMMA_OLD,
    "trl-gemma4_v5": _GEMMA,
    "trl-glm4moe": OWN["GLM-4.6"]._replace(model="GLM-4.5"),
    "trl-lfm2_2_5_v2": _LFM._replace(model="LFM2.5-230M"),
    "trl-lfm2_2_5_vl": _LFM._replace(model="LFM2.5-VL-1.6B"),
    "trl-lfm2_v2": _LFM._replace(results_differ="", model="LFM2-1.2B"),
    "trl-nemotron_3_5_lightning": _NEMOTRON._replace(model="Nemotron-3.5-Lightning"),
    "trl-nemotron_3_super": _NEMOTRON._replace(model="Nemotron-3-Super-120B"),
    "trl-nemotron_3_ultra": _NEMOTRON._replace(model="Nemotron-3-Ultra"),
    "trl-qwen3": _QWEN3._replace(model="Qwen3-8B"),
    "trl-qwen3_5_nothink": _QWEN35._replace(model="Qwen3.5-4B"),
    "trl-qwen3_6": _QWEN36._replace(model="Qwen3.6-35B-A3B"),
    "trl-qwen3_8": _QWEN36._replace(model="Qwen3.8-35B"),
    "trl-qwen3_instruct_2507": _QWEN2._replace(model="Qwen3-4B-Instruct-2507"),
    "trl-qwen3_vl": _QWEN2._replace(model="Qwen3-VL-8B-Instruct"),
    "unsloth-gemma4": _GEMMA,
    "unsloth-gemma4_thinking": _GEMMA,
    "unsloth-gptoss": OWN["openai-gpt-oss-120b"]._replace(results_differ="", model="gpt-oss-20b"),
    "unsloth-llama31": _LLAMA._replace(model="Llama-3.1-8B-Instruct"),
    "unsloth-qwen25": _QWEN2._replace(model="Qwen2.5-7B-Instruct"),
    "unsloth-qwen3": _QWEN3._replace(model="Qwen3-8B"),
    "unsloth-qwen3_instruct": _QWEN2._replace(model="Qwen3-4B-Instruct-2507"),
    "unsloth-qwen3_thinking": _QWEN3._replace(model="Qwen3-4B-Thinking-2507"),
    "unsloth-studio-gemma-4": _GEMMA._replace(form="<turn|>\n<|turn>model\nCALLSRESULTS\n"),
    "unsloth-studio-gemma-4-edge": _GEMMA._replace(form="<turn|>\n<|turn>model\nCALLSRESULTS\n"),
    "vllm-apertus": OWN["Apertus-8B-Instruct"]._replace(model="Apertus-8B-Instruct-2509"),
    "vllm-deepseekr1": Case("deepseek_v3", _TOKENS, model="DeepSeek-R1-0528"),
    "vllm-deepseekv3": Case(
        "deepseek_v3",
        _TOKENS,
        calls_differ=_SPACES,
        results_differ=_SPACES,
        model="DeepSeek-V3-0324",
    ),
    "vllm-deepseekv31": Case(
        "deepseek_v31",
        "      <\uff5cAssistant\uff5c></think>          CALLS" + _EOS + "RESULTS      ",
        calls_differ=_SPACES,
        model="DeepSeek-V3.1",
    ),
    "vllm-functiongemma": Case(
        "functiongemma",
        "<end_of_turn><start_of_turn>modelCALLS<end_of_turn>RESULTS",
        _OTHER,
        (_ONLY_TEXTS,),
        unread=_OTHER,
        results_differ=_OTHER_TURNS,
        model="functiongemma-270m-it",
    ),
    "vllm-gemma3_pythonic": Case(
        "pythonic",
        "<end_of_turn>\n<start_of_turn>model\nCALLS<end_of_turn>\nRESULTS",
        _OTHER,
        (_ONLY_TEXTS,),
        unread=_OTHER,
        results_differ="there is no form of results",
        model="gemma-3-27b-it",
    ),
    "vllm-gemma4": _GEMMA._replace(
        form="<turn|>\n<|turn>model\n<|channel>thought\n<channel|>CALLSRESULTS\n"
    ),
    "vllm-granite": Case(
        "granite3",
        OWN["ibm-granite-granite-4.0"].form,
        calls_differ="the template indents the list",
        results_differ=_OTHER_TURNS,
        model="granite-3.1-8b-instruct",
    ),
    "vllm-granite_20b_fc": Case(
        "granite_20b_fc",
        "\n\nASSISTANT:\nCALLS\n<|endoftext|>\nRESULTS\nASSISTANT: ",
        counts=(1,),
        model="granite-20b-functioncalling",
    ),
    "vllm-hermes": OWN["NousResearch-Hermes-3-Llama-3.1-8B-tool_use"]._replace(
        model="Hermes-3-Llama-3.1-8B"
    ),
    "vllm-hunyuan_a13b": Case(
        "hunyuan_a13b",
        "<|extra_0|>CALLS<|eos|>RESULTS<|extra_0|>\u52a9\u624b\uff1a",
        model="Hunyuan-A13B-Instruct",
    ),
    "vllm-internlm2_tool": Case(
        "internlm2",
        f"{_IM}CALLS<|im_end|>\nRESULTS<|im_start|>assistant\n",
        calls_differ="the template says `arguments`; the model writes `parameters`",
        model="internlm2_5-7b-chat",
    ),
    "vllm-llama3.1_json": _LLAMA_ENGINE._replace(model="Llama-3.1-8B-Instruct"),
    "vllm-llama3.2_json": _LLAMA_ENGINE._replace(model="Llama-3.2-3B-Instruct"),
    "vllm-llama3.2_pythonic": _PYTHONIC,
    "vllm-llama4_json": _LLAMA4._replace(
        form="\n<|eot|>\n<|header_start|>assistant<|header_end|>\n\nCALLS\n<|eot|>\nRESULTS",
        calls_differ="the engine teaches JSON",
        results_differ="text is printed as it is, in turns on lines of their own",
    ),
    "vllm-llama4_pythonic": _LLAMA4._replace(
        unread=_OTHER, calls_differ="the template prints a bare list, and escapes nothing in texts"
    ),
    "vllm-mistral": _MISTRAL,
    "vllm-mistral3": _MISTRAL._replace(form="[/INST]CALLSRESULTS", is_taught=True),
    "vllm-mistral_parallel": _MISTRAL,
    "vllm-muse_glimmer": OWN["muse-glimmer"]._replace(model="muse-glimmer"),
    "vllm-phi4_mini": Case(
        "phi4_mini",
        "<|end|><|assistant|>CALLS<|end|>RESULTS<|assistant|>",
        calls_differ="the template prints bare calls with Python's values; the model `functools`",
        results_differ="there is no form of results",
        adds_words="the beginning of the next turn",
        model="Phi-4-mini-instruct",
    ),
    "vllm-qwen3": _QWEN3._replace(model="Qwen3-8B"),
    "vllm-qwen35": _QWEN35._replace(model="Qwen3.5-4B"),
    "vllm-qwen3coder": OWN["Qwen3-Coder"]._replace(model="Qwen3-Coder-30B-A3B-Instruct"),
    "vllm-toolace": _PYTHONIC._replace(
        adds_words="the beginning of the next turn", is_taught=False, model="ToolACE-8B"
    ),
    "vllm-xlam_llama": Case(
        "xlam",
        f"<|eot_id|>{_HEADER}CALLS<|eot_id|>RESULTS{_HEADER}",
        results_differ="there is no form of results",
        model="Llama-xLAM-2-8b-fc-r",
    ),
    "vllm-xlam_qwen": Case(
        "xlam",
        f"{_IM}CALLS<|im_end|>\nRESULTS{_IM}",
        results_differ="there is no form of results",
        model="xLAM-2-3b-fc-r",
    ),
}
EXCUSED = {
    "axolotl-command_a": "it prints no calls: a reply is its text",
}
