"""Who gets through to a viewer: requests that name this server, come from its own page, and know the token.

A port on the loopback is open to every page in the browser: a page from elsewhere can open a websocket to it, and a
name of its own that leads to 127.0.0.1 makes even its origin agree with the host. So all three are checked, in requests
for the page and in handshakes of websockets: the name in Host, Origin, and a token in the path.
"""

from __future__ import annotations

import contextlib
import dataclasses
import hmac
import http.client
import ipaddress
import re
import secrets
import socket
import threading
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from pliant.view.schemes import fitted_to_browser

if TYPE_CHECKING:
    from websockets.asyncio.server import ServerConnection
    from websockets.datastructures import Headers
    from websockets.http11 import Request, Response

    Process = Callable[[ServerConnection, Request], Response | None]

EVERYWHERE = ("0.0.0.0", "::", "")
_HOST = re.compile(r"(\[[0-9a-f:.]+\]|[a-z0-9._-]+)(:[0-9]{1,5})?")
_ADVICE = b"Refused. Open the whole address that pliant printed, with the token at its end.\n"
_STARTING = threading.Lock()  # one at a time may replace what viser calls
_SECONDS = 10.0  # for a server on this machine to answer


class UnguardedServerError(RuntimeError):
    """The server answers those whom it has to refuse; it was stopped."""


def is_loopback(host: str) -> bool:
    """Nobody outside of this machine can reach it."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def reached_at(host: str) -> str:
    """An address of this machine, at which a server answers that listens on `host`."""
    if host == "::":  # for IPv6 alone
        return "::1"
    return "127.0.0.1" if host in EVERYWHERE else host


def in_url(host: str) -> str:
    """The same, as addresses of pages have it."""
    here = reached_at(host)
    return f"[{here}]" if ":" in here else here


class Guard:
    """Decides about every request to one server.

    host : what the server listens on
    """

    token: str

    def __init__(self, host: str) -> None:
        self.token, self._bound = secrets.token_urlsafe(32), host.lower()

    def refuses(self, path: str, headers: Headers, reached: str) -> bool:
        """reached : the address of this machine that the request came to."""
        hosts, origins = headers.get_all("Host"), headers.get_all("Origin")
        if len(hosts) != 1 or len(origins) > 1 or not self._is_ours(hosts[0].lower(), reached):
            return True
        if origins and origins[0].lower() != f"http://{hosts[0].lower()}":
            return True
        # Browsers send no Origin when somebody opens an address, and always one with a websocket.
        if not origins and "Upgrade" in headers:
            return True
        given = path.partition("?")[0].split("/")[1:2]
        return not (given and hmac.compare_digest(given[0].encode(), self.token.encode()))

    def _is_ours(self, host: str, reached: str) -> bool:
        """A name or address that the server was given, or that leads to it without asking anybody's name server.

        Any port: behind `ssh -L 9000:localhost:8080` it is another one.
        """
        matched = _HOST.fullmatch(host)
        if matched is None:
            return False
        name = matched[1].strip("[]")
        if name == self._bound:
            return self._bound not in EVERYWHERE
        if self._bound in EVERYWHERE and name in (reached, socket.gethostname().lower()):
            return True
        return is_loopback(name) and (self._bound in EVERYWHERE or is_loopback(self._bound))

    @contextlib.contextmanager
    def installed(self) -> Iterator[None]:
        """Around the start of a viser server: its requests come here first.

        viser takes no such function, but gives its own one to websockets; `verify` finds out where it does not.
        """
        from websockets.asyncio import server

        with _STARTING:
            serve = server.serve

            def guarded(*given: Any, **named: Any) -> Any:
                inner = named.get("process_request")
                # Only viser's: somebody else's server may start at the same time.
                if inner is not None and inner.__module__.partition(".")[0] == "viser":
                    named["process_request"] = self._before(inner)
                return serve(*given, **named)

            server.serve = guarded  # pyright: ignore[reportAttributeAccessIssue]
            try:
                yield
            finally:
                server.serve = serve  # pyright: ignore[reportAttributeAccessIssue]

    def _before(self, inner: Process) -> Process:
        def process(connection: ServerConnection, request: Request) -> Response | None:
            if self.refuses(request.path, request.headers, str(connection.local_address[0])):
                return _refusal()
            answer = inner(connection, dataclasses.replace(request, path=request.path[1 + len(self.token) :] or "/"))
            if answer is not None:
                answer = fitted_to_browser(answer)
                answer.headers["Referrer-Policy"] = "no-referrer"  # the address is the key
            return answer

        return process

    def verify(self, port: int) -> None:
        """Raise UnguardedServerError unless the server refuses what it has to, and knows the token."""
        here, host = reached_at(self._bound), f"{in_url(self._bound)}:{port}"
        try:
            self._verify(here, port, host)
        except (OSError, http.client.HTTPException) as error:
            raise UnguardedServerError(f"the server at {host} does not answer as one ({error})") from error

    def _verify(self, here: str, port: int, host: str) -> None:
        ours, away = f"http://{host}", f"http://elsewhere.invalid:{port}"
        page = f"/{self.token}/"
        for path, name, origin, websocket in (
            ("/", host, ours, True),
            ("/", host, ours, False),
            (page, host, away, True),
            (page, f"elsewhere.invalid:{port}", away, True),
            (page, f"elsewhere.invalid:{port}", None, False),
        ):
            if _status(here, port, path, name, origin, websocket) != http.client.FORBIDDEN:
                raise UnguardedServerError(
                    "this version of viser serves pages to whoever asks, past pliant's check; install viser 1.1"
                )
        if _status(here, port, page, host, None, False) != http.client.OK:
            raise UnguardedServerError("this version of viser does not serve its page below a path; install viser 1.1")


def _refusal() -> Response:
    from websockets.datastructures import Headers
    from websockets.http11 import Response

    kind = {"Content-Type": "text/plain; charset=utf-8", "Content-Length": str(len(_ADVICE))}
    return Response(http.client.FORBIDDEN, "Forbidden", Headers(**kind), _ADVICE)


def _status(here: str, port: int, path: str, host: str, origin: str | None, websocket: bool) -> int:
    """Of the answer to one request."""
    connection = http.client.HTTPConnection(here, port, timeout=_SECONDS)
    with contextlib.closing(connection):
        connection.putrequest("GET", path, skip_host=True)
        headers = {"Host": host} | ({} if origin is None else {"Origin": origin})
        if websocket:
            headers |= {"Connection": "Upgrade", "Upgrade": "websocket", "Sec-WebSocket-Version": "13"}
            headers |= {"Sec-WebSocket-Key": "AAAAAAAAAAAAAAAAAAAAAA=="}
        for name, value in headers.items():
            connection.putheader(name, value)
        connection.endheaders()
        return connection.getresponse().status
