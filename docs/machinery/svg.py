"""A drawing as SVG: a few shapes with classes of colour, for a light and a dark scheme. Used by drawings.py."""

from __future__ import annotations

from pathlib import Path
from xml.sax.saxutils import escape

import numpy as np

# Name: light, dark. A picture has a background of its own, so that it is readable on any page.
COLOURS = {
    "paper": ("#fbfaf7", "#1e2227"),
    "ink": ("#22262b", "#ecebe6"),
    "muted": ("#666b71", "#a9aeb4"),
    "faint": ("#b9b6ae", "#565d66"),
    "fill": ("#dddad2", "#3b424b"),
    "fill2": ("#efece6", "#2a3037"),
    "red": ("#c4271d", "#ff8273"),
    "blue": ("#2a5db0", "#82b4ff"),
    "green": ("#0b7268", "#4fd6c6"),
    "amber": ("#b5741a", "#ffc266"),
}
_STYLE = """text{{font-family:system-ui,-apple-system,"Segoe UI",Roboto,"DejaVu Sans",sans-serif;font-size:13px}}
.s{{fill:none;stroke-linecap:round;stroke-linejoin:round}}.b{{font-weight:600}}
.h{{paint-order:stroke;stroke-width:4px;stroke-linejoin:round}}
{light}
@media (prefers-color-scheme: dark){{{dark}}}"""


def _rules(scheme: int) -> str:
    return "".join(
        f".f-{name}{{fill:{pair[scheme]}}}.s-{name}{{stroke:{pair[scheme]}}}" for name, pair in COLOURS.items()
    )


class Drawing:
    """Shapes in the order in which they are drawn; coordinates in pixels, y downwards."""

    def __init__(self, width: int, height: int, title: str) -> None:
        self.width, self.height, self.title = width, height, title
        self._parts: list[str] = []

    def polygon(
        self, points: np.ndarray, fill: str = "none", stroke: str = "none", *, width: float = 1.5, dash: str = ""
    ) -> None:
        self._path(points, fill, stroke, width, dash, "Z")

    def line(self, points: np.ndarray, stroke: str = "ink", *, width: float = 1.5, dash: str = "") -> None:
        self._path(points, "none", stroke, width, dash, "")

    def _path(self, points: np.ndarray, fill: str, stroke: str, width: float, dash: str, end: str) -> None:
        where = "M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in np.asarray(points)[:, :2]) + end
        classes = f"f-{fill}" if fill != "none" else "s"
        extra = ""
        if stroke != "none":
            classes += f" s-{stroke}"
            extra = f' stroke-width="{width:g}"' + (f' stroke-dasharray="{dash}"' if dash else "")
        self._parts.append(f'<path class="{classes}" d="{where}" stroke-linejoin="round"{extra}/>')

    def arrow(self, a: np.ndarray, b: np.ndarray, stroke: str, width: float = 2.0, head: float = 8.0) -> None:
        a, b = np.asarray(a)[:2], np.asarray(b)[:2]
        along = (b - a) / np.linalg.norm(b - a)
        across = np.array([-along[1], along[0]])
        self.line(np.array([a, b - 0.8 * head * along]), stroke, width=width)
        tip = [b, b - head * along + 0.45 * head * across, b - head * along - 0.45 * head * across]
        self.polygon(np.array(tip), stroke)

    def dot(self, at: np.ndarray, fill: str, radius: float = 4.0, stroke: str = "none") -> None:
        edge = f' s-{stroke}" stroke-width="1.5' if stroke != "none" else ""
        self._parts.append(f'<circle class="f-{fill}{edge}" cx="{at[0]:.1f}" cy="{at[1]:.1f}" r="{radius:g}"/>')

    def box(
        self, at: np.ndarray, size: tuple[float, float], fill: str, stroke: str = "none", radius: float = 4
    ) -> None:
        x, y = np.asarray(at) - np.array(size) / 2
        edge = f' s-{stroke}" stroke-width="1.5' if stroke != "none" else ""
        self._parts.append(
            f'<rect class="f-{fill}{edge}" x="{x:.1f}" y="{y:.1f}" width="{size[0]:.1f}" height="{size[1]:.1f}" '
            f'rx="{radius:g}"/>'
        )

    def text(
        self,
        at: tuple[float, float] | np.ndarray,
        words: str,
        fill: str = "ink",
        *,
        anchor: str = "start",
        size: float = 13,
        bold: bool = False,
        halo: bool = False,
    ) -> None:
        """Words; with a halo where lines go through them."""
        classes = f"f-{fill}" + bold * " b" + halo * " h s-paper"
        own = f' style="font-size:{size:g}px"' if size != 13 else ""
        self._parts.append(
            f'<text class="{classes}" x="{at[0]:.1f}" y="{at[1]:.1f}" text-anchor="{anchor}"{own}>'
            f"{escape(words)}</text>"
        )

    def write(self, path: Path) -> None:
        style = _STYLE.format(light=_rules(0), dark=_rules(1))
        path.write_text(
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{self.width}" height="{self.height}" '
            f'viewBox="0 0 {self.width} {self.height}" role="img"><title>{escape(self.title)}</title>'
            f'<style>{style}</style>\n<rect class="f-paper" width="{self.width}" height="{self.height}" rx="8"/>\n'
            + "\n".join(self._parts)
            + "\n</svg>\n",
            "utf-8",
        )
