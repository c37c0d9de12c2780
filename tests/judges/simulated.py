"""The conversation that every official client holds with its simulated provider.

The user asks for two things, the model calls both tools at once, the client answers both calls, and
the model says what the tools said.
"""

QUESTION = "What is the weather and the local time in Paris?"
SCHEMA = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
ARGUMENTS = {"city": "Paris"}
RESULTS = {"get_weather": "sunny", "local_time": "14:05"}
NAMES = list(RESULTS)
ANSWER = "Here is what I found: get_weather says sunny; local_time says 14:05"

FUNCTIONS = [
    {"type": "function", "function": {"name": name, "description": name, "parameters": SCHEMA}}
    for name in RESULTS
]
"""The tools as Chat Completions and those that took its form want them."""
