"""The viewer's page as a browser wants it: light or dark, and on a narrow screen with more scene than controls."""

from __future__ import annotations

import gzip
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from websockets.http11 import Response

# Before viser's own script reads the address. Another scheme later loads the page again: viser looks at it once.
_HEAD = b"""<script>(() => {
const dark = matchMedia("(prefers-color-scheme: dark)");
const wanted = () => location.pathname + (dark.matches ? "?darkMode" : "");
if (location.pathname + location.search !== wanted()) history.replaceState(null, "", wanted());
dark.addEventListener("change", () => location.replace(wanted()));
})();</script>
<style>
@media (max-width: 576px) {
  [style*="max-height: 60%"] { max-height: 45% !important; width: 100% !important; }
  [style*="max-height: 60%"] [style*="width: 20em"] { width: 100% !important; }
}
</style>"""


def fitted_to_browser(answer: Response) -> Response:
    """The same answer; where it is a page, with a script and a style of ours in its head."""
    headers, body = answer.headers, bytes(answer.body)
    packed = headers.get("Content-Encoding") == "gzip"
    if not headers.get("Content-Type", "").startswith("text/html"):
        return answer
    page = gzip.decompress(body) if packed else body
    before, head, after = page.partition(b"<head>")
    if not head:
        return answer
    page = before + head + _HEAD + after
    answer.body = gzip.compress(page, 1) if packed else page
    del headers["Content-Length"]
    headers["Content-Length"] = str(len(answer.body))
    return answer
