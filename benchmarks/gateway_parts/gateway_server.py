"""The gateway as it is measured: one worker, a chat and an Anthropic back on the same upstream."""

import sys

import uvicorn

from canonicall.client.secrets import Secret
from canonicall.gateway.app import Gateway
from canonicall.gateway.settings import ProviderSettings, Settings

if __name__ == "__main__":
    address = f"http://127.0.0.1:{sys.argv[2]}"
    key = (Secret("sk-benchmark"),)
    providers = {
        "anthropic": ProviderSettings(base_url=address, keys=key),
        "openai": ProviderSettings(base_url=f"{address}/v1", keys=key),
    }
    app = Gateway(Settings(providers=providers))
    uvicorn.run(app, port=int(sys.argv[1]), log_level="error", access_log=False)
