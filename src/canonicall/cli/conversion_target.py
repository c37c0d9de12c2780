"""What `canonicall convert` converts to: a provider, or a wire format without anybody's rules."""

from canonicall.cli.arguments import TargetName
from canonicall.wire.formats import FORMATS


class ConversionTarget(TargetName):
    """A provider, with or without a model, or the name of a wire format."""

    name = "target"

    def known(self, name: str) -> str:
        return name if name in FORMATS else super().known(name)

    def offered(self) -> list[str]:
        return sorted({*super().offered(), *FORMATS})
