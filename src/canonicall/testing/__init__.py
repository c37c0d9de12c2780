"""Simulated providers and scripted models, for our tests and for everybody else's.

The parts are loaded when they are first used. `testing.conformance` proves that what others build
is sound, `testing.strategies` makes what their tests should survive.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from canonicall.testing.asgi import SimulatorApp
    from canonicall.testing.exchange import SimRequest, SimResponse
    from canonicall.testing.faults import Fault, Schedule
    from canonicall.testing.script import ScriptedModel, ScriptEnded, call, says, thought
    from canonicall.testing.script_files import read_script
    from canonicall.testing.server import serve
    from canonicall.testing.simulator import Exchange, Simulator
    from canonicall.testing.small_model import SmallModel
    from canonicall.verify.comparison.differences import Difference, compare
    from canonicall.verify.comparison.explanations import unexplained

_HOME = {
    "Difference": "canonicall.verify.comparison.differences",
    "Exchange": "canonicall.testing.simulator",
    "Fault": "canonicall.testing.faults",
    "Schedule": "canonicall.testing.faults",
    "ScriptEnded": "canonicall.testing.script",
    "ScriptedModel": "canonicall.testing.script",
    "SimRequest": "canonicall.testing.exchange",
    "SimResponse": "canonicall.testing.exchange",
    "Simulator": "canonicall.testing.simulator",
    "SimulatorApp": "canonicall.testing.asgi",
    "SmallModel": "canonicall.testing.small_model",
    "call": "canonicall.testing.script",
    "compare": "canonicall.verify.comparison.differences",
    "read_script": "canonicall.testing.script_files",
    "says": "canonicall.testing.script",
    "serve": "canonicall.testing.server",
    "thought": "canonicall.testing.script",
    "unexplained": "canonicall.verify.comparison.explanations",
}

__all__ = [
    "Difference",
    "Exchange",
    "Fault",
    "Schedule",
    "ScriptEnded",
    "ScriptedModel",
    "SimRequest",
    "SimResponse",
    "Simulator",
    "SimulatorApp",
    "SmallModel",
    "call",
    "compare",
    "read_script",
    "says",
    "serve",
    "thought",
    "unexplained",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'canonicall.testing' has no attribute {name!r}")
    return getattr(import_module(_HOME[name]), name)
