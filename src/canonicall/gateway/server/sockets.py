"""The port of a gateway: opened once, before anything else is begun, and shared by all workers.

One socket for all of them: where a worker ends, the connections that wait are taken by the others.
"""

import errno
import os
import socket

from canonicall.errors import CanonicallError
from canonicall.gateway.config import ServerSettings

_WAITING = 2048
"""Connections that may wait to be taken."""


class CannotListen(CanonicallError):
    """The address cannot be used; the text says why, and what to do."""


def listen(server: ServerSettings) -> socket.socket:
    """A socket that listens at the address of the settings."""
    place = f"{server.host}, port {server.port}"
    try:
        found = socket.getaddrinfo(
            server.host or None,
            server.port,
            type=socket.SOCK_STREAM,
            proto=socket.IPPROTO_TCP,
            flags=socket.AI_PASSIVE,
        )
    except (socket.gaierror, UnicodeError) as error:
        raise CannotListen(f"{place}: {why_not(error)}") from error
    family, kind, protocol, _, address = found[0]
    # Named as TCP: else asyncio leaves Nagle's algorithm on, and each reply takes 40 ms longer.
    opened = socket.socket(family, kind, protocol)
    try:
        if os.name == "posix":
            opened.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        opened.bind(address)
        # At once: two that only bound it would both believe to have it.
        opened.listen(_WAITING)
    except OSError as error:
        opened.close()
        raise CannotListen(f"{place}: {why_not(error)}") from error
    opened.setblocking(False)
    return opened


def address_of(listening: socket.socket) -> str:
    """Where clients on this machine reach it."""
    host, port = listening.getsockname()[:2]
    if host in ("0.0.0.0", "::"):  # noqa: S104  compared, not bound
        host = "127.0.0.1"
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def why_not(error: OSError | UnicodeError) -> str:
    """Why nothing can listen at an address, and what to do."""
    if isinstance(error, socket.gaierror | UnicodeError):
        return "there is no such address on this machine. Choose another with --host."
    if error.errno == errno.EADDRINUSE:
        return "somebody else listens there. Choose another with --port; 0 takes any that is free."
    if error.errno == errno.EACCES:
        return "this user may not listen there. Choose a port above 1023."
    if error.errno == errno.EADDRNOTAVAIL:
        return "this machine has no such address. Choose another with --host."
    return f"{error.strerror}."
