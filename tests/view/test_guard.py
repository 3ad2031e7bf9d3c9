"""Who gets through to the viewer: a page from elsewhere that was mapped to the loopback read the geometry."""

from __future__ import annotations

import http.client
import socket
import urllib.parse
import warnings

import numpy as np
import pytest

import pliant

pytest.importorskip("viser", reason="the viewer needs viser: pip install '.[view]'")
from websockets.exceptions import InvalidStatus
from websockets.sync.client import connect

SEQUENCE = pliant.Sequence([(0, 1, 2), (3, 4, 5)], np.random.default_rng(0).normal(size=(4, 6, 3)), name="two")


@pytest.fixture(scope="module")
def viewer():
    viewer = pliant.view.serve(SEQUENCE, port=0, block=False)
    yield viewer
    viewer.stop()


class Address:
    """Of a viewer, taken apart."""

    def __init__(self, url):
        parts = urllib.parse.urlsplit(url)
        self.port, self.path, self.here = parts.port, parts.path, parts.netloc


def upgrade(viewer, *, host="{here}", origin="http://{here}", path=None):
    """The status of a websocket's handshake: 101 where it is accepted."""
    import viser

    address = Address(viewer.url)
    host = host.format(here=address.here, port=address.port)
    headers = {} if origin is None else {"Origin": origin.format(here=address.here, port=address.port)}
    target = f"ws://{host}{address.path.rstrip('/') if path is None else path}"
    protocol = [f"viser-v{viser.__version__}"]
    where = socket.create_connection(("127.0.0.1", address.port))
    try:
        with connect(target, sock=where, additional_headers=headers, subprotocols=protocol) as ws:
            assert len(ws.recv(timeout=60)) > 0  # the scene
            return 101
    except InvalidStatus as refused:
        return refused.response.status_code


def get(viewer, *, host="{here}", origin=None, path=None):
    address = Address(viewer.url)
    connection = http.client.HTTPConnection("127.0.0.1", address.port, timeout=60)
    connection.putrequest("GET", address.path if path is None else path, skip_host=True)
    connection.putheader("Host", host.format(here=address.here, port=address.port))
    if origin is not None:
        connection.putheader("Origin", origin.format(here=address.here, port=address.port))
    connection.endheaders()
    answer = connection.getresponse()
    body = answer.read()
    connection.close()
    return answer.status, dict(answer.getheaders()), body


def test_the_address_has_a_token_of_its_own(viewer):
    token = Address(viewer.url).path.strip("/")
    assert len(token) >= 32
    other = pliant.view.serve(SEQUENCE, port=0, block=False)
    try:
        assert Address(other.url).path != Address(viewer.url).path
    finally:
        other.stop()


@pytest.mark.parametrize("host", ["{here}", "localhost:{port}", "[::1]:{port}"])
def test_the_page_itself_gets_through(viewer, host):
    """By any name of the loopback, as browsers say it: the origin is the host that was asked."""
    assert upgrade(viewer, host=host, origin=f"http://{host}") == 101
    status, headers, body = get(viewer, host=host)
    assert status == 200
    assert b"<html" in body
    assert headers["Referrer-Policy"] == "no-referrer"  # the address is the key


def test_a_tunnel_gets_through(viewer):
    """ssh -L 9000:localhost:8080: another port, and the same one in host and origin."""
    assert get(viewer, host="localhost:9000")[0] == 200


@pytest.mark.parametrize("origin", ["http://evil.example", "http://evil.example:{port}", "http://localhost:{port}"])
@pytest.mark.parametrize("ask", [upgrade, lambda *a, **k: get(*a, **k)[0]], ids=["websocket", "http"])
def test_a_foreign_origin_is_refused(viewer, ask, origin):
    assert ask(viewer, origin=origin) == 403
    assert ask(viewer, origin="null") == 403


def test_a_websocket_without_origin_is_refused(viewer):
    assert upgrade(viewer, origin=None) == 403


@pytest.mark.parametrize("host", ["evil.example", "evil.example:{port}", "127.0.0.1.evil.example:{port}", "10.0.0.7"])
def test_a_foreign_host_is_refused(viewer, host):
    """A name of theirs that leads to 127.0.0.1: host and origin agree, and are not ours."""
    assert upgrade(viewer, host=host, origin=f"http://{host}") == 403
    assert get(viewer, host=host)[0] == 403


@pytest.mark.parametrize("path", ["/", "/index.html", "/wrong-token/", "/wr%C3%B6ng/", "//"])
def test_without_the_token_nothing_is_served(viewer, path):
    assert upgrade(viewer, path=path) == 403
    status, _, body = get(viewer, path=path)
    assert status == 403
    assert b"address" in body


def test_two_hosts_in_one_request_are_refused(viewer):
    address = Address(viewer.url)
    connection = http.client.HTTPConnection("127.0.0.1", address.port, timeout=60)
    connection.putrequest("GET", address.path, skip_host=True)
    for host in (address.here, "evil.example"):
        connection.putheader("Host", host)
    connection.endheaders()
    assert connection.getresponse().status == 403
    connection.close()


@pytest.mark.parametrize(
    ("bound", "here"), [("::", "[::1]"), ("::1", "[::1]"), ("0.0.0.0", "127.0.0.1"), ("127.0.0.1", "127.0.0.1")]
)
def test_the_address_is_one_that_is_listened_to(bound, here):
    """What listens on :: was asked at 127.0.0.1, where nobody was, and not started."""
    if ":" in bound and not _has_ipv6():
        pytest.skip("there is no IPv6 here")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # who can reach it
        viewer = pliant.view.serve(SEQUENCE, host=bound, port=0, block=False)
    try:
        address = Address(viewer.url)
        assert address.here == f"{here}:{address.port}"
        connection = http.client.HTTPConnection(here.strip("[]"), address.port, timeout=60)
        connection.request("GET", address.path)
        assert connection.getresponse().status == 200
        connection.close()
    finally:
        viewer.stop()


def _has_ipv6():
    try:
        with socket.socket(socket.AF_INET6) as one:
            one.bind(("::1", 0))
    except OSError:
        return False
    return True


@pytest.mark.parametrize("error", [ConnectionRefusedError(111, "refused"), http.client.BadStatusLine("?")])
def test_a_server_that_does_not_answer_is_not_started(monkeypatch, error):
    from pliant.view import guard

    def status(*_):
        raise error

    monkeypatch.setattr(guard, "_status", status)
    with pytest.raises(guard.UnguardedServerError, match=r"127\.0\.0\.1.*does not answer"):
        guard.Guard("127.0.0.1").verify(1)


def test_a_viser_that_does_not_ask_the_guard_is_not_started(monkeypatch):
    """Another version may serve in another way: then nothing is served."""
    import contextlib

    from pliant.view import guard

    monkeypatch.setattr(guard.Guard, "installed", lambda self: contextlib.nullcontext())
    with pytest.raises(guard.UnguardedServerError, match="viser"):
        pliant.view.serve(SEQUENCE, port=0, block=False)
