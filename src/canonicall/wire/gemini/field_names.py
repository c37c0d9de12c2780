"""The fields of generateContent's messages, as the Gemini API has them.

Source: google-genai, types.py, and the converters in models.py, which say what only Vertex has; its
profile lists that. "Invalid JSON payload received. Unknown name [...]: Cannot find field." is what
protobuf says of all others. Objects that are not spelled out here may hold anything.
"""

_CONFIG = (
    *("temperature", "topP", "topK", "candidateCount", "maxOutputTokens", "stopSequences"),
    *("responseLogprobs", "logprobs", "presencePenalty", "frequencyPenalty", "seed"),
    *("responseMimeType", "responseSchema", "responseJsonSchema", "_responseJsonSchema"),
    *("responseFormat", "responseModalities", "mediaResolution", "speechConfig", "imageConfig"),
    *("enableEnhancedCivicAnswers", "enableAffectiveDialog", "translationConfig"),
    *("audioTranscriptionConfig", "thinkingConfig.includeThoughts"),
    *("thinkingConfig.thinkingBudget", "thinkingConfig.thinkingLevel"),
)
_CALLING = ("mode", "allowedFunctionNames", "streamFunctionCallArguments")
REQUEST = (
    *("model", "contents", "systemInstruction", "tools", "safetySettings", "cachedContent"),
    *("labels", "serviceTier", "store", "continuationToken"),
    *(f"generationConfig.{name}" for name in _CONFIG),
    *(f"toolConfig.functionCallingConfig.{name}" for name in _CALLING),
    *("toolConfig.retrievalConfig", "toolConfig.includeServerSideToolInvocations"),
)
_INLINE = ("inlineData.mimeType", "inlineData.data", "inlineData.displayName")
_FILE = ("fileData.mimeType", "fileData.fileUri", "fileData.displayName")
DATA = (
    *("functionCall", "functionResponse", "toolCall", "toolResponse", "executableCode"),
    *("codeExecutionResult", "inlineData", "fileData", "text"),
)
"""The fields of a part that say what it is; it has one of them."""
PART = (
    *("text", "thought", "thoughtSignature", "videoMetadata", "mediaResolution", "partMetadata"),
    *("audioTranscription", "mediaProcessing", "speechMetadata"),
    *("executableCode", "codeExecutionResult", "toolCall", "toolResponse"),
    *_INLINE,
    *_FILE,
    *("functionCall.id", "functionCall.name", "functionCall.args"),
    *("functionResponse.id", "functionResponse.name", "functionResponse.response"),
    *("functionResponse.willContinue", "functionResponse.scheduling"),
    *(f"functionResponse.parts.{name}" for name in (*_INLINE, *_FILE, "mediaProcessing")),
    # No field of a part: under this name a result remembers its response as it came.
    "response",
)
