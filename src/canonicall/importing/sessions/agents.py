"""The kinds of session files that are known, in the order in which they are asked."""

from canonicall.importing.sessions import claude_code, codex, gemini_cli, opencode, pi

SESSION_KINDS = (claude_code.KIND, codex.KIND, gemini_cli.KIND, opencode.KIND, pi.KIND)
