"""The gateway as it is measured: one worker as `canonicall serve` runs it, a chat and an Anthropic
back on the same upstream."""

import sys

from canonicall.client.secrets import Secret
from canonicall.gateway.app import Gateway
from canonicall.gateway.config import ProviderSettings, ServerSettings, Settings, SettingsSource
from canonicall.gateway.server.processes import serve

if __name__ == "__main__":
    address = f"http://127.0.0.1:{sys.argv[2]}"
    key = (Secret("sk-benchmark"),)
    settings = Settings(
        server=ServerSettings(host="127.0.0.1", port=int(sys.argv[1])),
        providers={
            "anthropic": ProviderSettings(base_url=address, keys=key),
            "openai": ProviderSettings(base_url=f"{address}/v1", keys=key),
        },
    )
    source = SettingsSource(lambda: settings)
    serve(source, Gateway, lambda _, __: None, on_ready=lambda _: None)
