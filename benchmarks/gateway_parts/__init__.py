"""What the gateway is measured with: an upstream, a minimal proxy, a load."""
