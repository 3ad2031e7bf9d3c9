"""What notebooks show of a result: numbers, a small picture and a funnel, as HTML without scripts."""

from __future__ import annotations

import html
import math
from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np

from pliant.runtime.tally import Stage

if TYPE_CHECKING:
    from pliant.results.contacts import Contacts
    from pliant.results.insides import InsideCells, InsideSurface
    from pliant.results.intersections import Intersections
    from pliant.results.proximity import Proximity
    from pliant.results.steps import Step

_WIDTH, _HEIGHT = 220, 90  # pixels of a small picture
_BINS = 24
_SEGMENTS = 600  # that a picture draws at most
RED, BLUE = "#c8242b", "#4c78a8"
_CARD = "display:flex;flex-wrap:wrap;gap:18px;align-items:flex-start;font:13px sans-serif;margin:4px 0"
_CELL = "text-align:left;border:0;padding:1px 10px 1px 0;background:none"

Numbers = Iterable[tuple[str, object]]


def card(title: str, numbers: Numbers, picture: str = "", stages: tuple[Stage, ...] = ()) -> str:
    """A title, a table of names and values, a picture (HTML) and the funnel of the stages, side by side."""
    rows = "".join(_row(name, f"{value:,}" if isinstance(value, int) else str(value)) for name, value in numbers)
    table = f'<table style="border-collapse:collapse">{rows}</table>'
    parts = (f"<div><b>{html.escape(title)}</b>{table}</div>", picture and f"<div>{picture}</div>", funnel(stages))
    return f'<div style="{_CARD}">{"".join(parts)}</div>'


def _row(name: str, value: str) -> str:
    cells = f'<td style="{_CELL};opacity:.7">{html.escape(name)}</td><td style="{_CELL}">{html.escape(value)}</td>'
    return f'<tr style="background:none">{cells}</tr>'


def funnel(stages: tuple[Stage, ...]) -> str:
    """Pairs that each stage passed on, as bars on a logarithmic scale."""
    shown = [stage for stage in stages if stage.pairs_in and ": " not in stage.name]
    if not shown:
        return ""
    longest = math.log10(2 + max(stage.pairs_in for stage in shown))
    rows = []
    for name, pairs_in, pairs_out, _ in shown:
        width = 110.0 * math.log10(1 + pairs_out) / longest
        bar = f'<div style="width:{width:.0f}px;height:9px;background:{BLUE}"></div>'
        texts = html.escape(name), bar, f"{pairs_out:,} of {pairs_in:,}"
        cells = "".join(f'<td style="{_CELL}">{text}</td>' for text in texts)
        rows.append(f'<tr style="background:none">{cells}</tr>')
    return f'<table style="border-collapse:collapse;font-size:11px">{"".join(rows)}</table>'


def histogram(values: np.ndarray, label: str, span: tuple[float, float] | None = None) -> str:
    """How many values are where, from the least to the greatest, or over a span."""
    values = values[np.isfinite(values)]
    if len(values) == 0:
        return ""
    lower, upper = span or (float(values.min()), float(values.max()))
    counts = np.histogram(values, _BINS, (lower, upper) if upper > lower else (lower - 0.5, lower + 0.5))[0]
    return columns([counts], (RED,), f"{label}, {lower:.4g} to {upper:.4g}")


def columns(series: list[np.ndarray], colours: tuple[str, ...], label: str) -> str:
    """Columns side by side, each series (f,) above the one before it."""
    total = np.sum(series, axis=0)
    width, scale, shapes = _WIDTH / max(len(total), 1), _HEIGHT / max(float(total.max(initial=0)), 1.0), []
    base = np.zeros(len(total))
    for values, colour in zip(series, colours):
        for i in np.flatnonzero(values).tolist():
            high = scale * float(values[i])
            at = f'x="{i * width:.2f}" y="{_HEIGHT - scale * base[i] - high:.2f}"'
            shapes.append(f'<rect {at} width="{max(0.9 * width, 0.4):.2f}" height="{high:.2f}" fill="{colour}"/>')
        base += values
    shapes.append(f'<path d="M0 {_HEIGHT}H{_WIDTH}" stroke="currentColor" stroke-width="1" opacity=".5"/>')
    return _svg("".join(shapes), label)


def segments_seen(segments: np.ndarray, label: str) -> str:
    """Segments (k, 2, 3) as seen along the axis that they are least extended in; of many, some."""
    if len(segments) == 0:
        return ""
    chosen = segments[:: -(-len(segments) // _SEGMENTS)]
    lower, extent = segments.min(axis=(0, 1)), np.ptp(segments.reshape(-1, 3), axis=0)
    wide, high = np.argsort(-extent, kind="stable")[:2]
    scale = min(
        (size - 6) / float(extent[axis]) if extent[axis] > 0 else np.inf
        for size, axis in ((_WIDTH, wide), (_HEIGHT, high))
    )
    places = 3.0 + (chosen - lower)[:, :, [wide, high]] * (scale if np.isfinite(scale) else 1.0)
    path = "".join(f"M{a:.1f} {_HEIGHT - b:.1f}L{c:.1f} {_HEIGHT - d:.1f}" for a, b, c, d in places.reshape(-1, 4))
    return _svg(f'<path d="{path}" stroke="{RED}" stroke-width="2" stroke-linecap="round" fill="none"/>', label)


def _svg(shapes: str, label: str) -> str:
    size = f'width="{_WIDTH}" height="{_HEIGHT + 2}" viewBox="0 0 {_WIDTH} {_HEIGHT + 2}"'
    label = html.escape(label)
    picture = f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img" aria-label="{label}">{shapes}</svg>'
    return f'{picture}<div style="font-size:11px;opacity:.7">{label}</div>'


def contacts_card(table: Contacts) -> str:
    edges = int(np.count_nonzero(table.kind))
    numbers: list[tuple[str, object]] = [("vertex-face", len(table) - edges), ("edge-edge", edges)]
    if len(table):
        numbers.append(("first at t", f"{table.toi.min():.6g}"))
        numbers.append(("last at t", f"{table.toi.max():.6g}"))
    if table.inversion.any():
        numbers.append(("inversions of cells", int(np.count_nonzero(table.inversion))))
    return card("Contacts", numbers, histogram(table.toi, "times of contact", (0.0, 1.0)), table.stages)


def intersections_card(table: Intersections) -> str:
    numbers = ("pairs of triangles", len(table)), ("coplanar", int(np.count_nonzero(table.coplanar)))
    faces = ("triangles in all", len(np.unique(table.faces)))
    return card("Intersections", (*numbers, faces), segments_seen(table.segments, "what they share"), table.stages)


def proximity_card(table: Proximity) -> str:
    edges = int(np.count_nonzero(table.kind))
    numbers: list[tuple[str, object]] = [("vertex-face", len(table) - edges), ("edge-edge", edges)]
    if len(table):
        numbers.append(("closest", f"{table.distance.min():.6g}"))
    return card("Proximity", numbers, histogram(table.distance, "distances"), table.stages)


def insides_card(table: InsideCells) -> str:
    known = table.depth[np.isfinite(table.depth)]
    numbers: list[tuple[str, object]] = [("vertices", len(np.unique(table.vertices)))]
    numbers.append(("cells that hold them", len(np.unique(table.cells))))
    if len(known):
        numbers.append(("deepest", f"{known.max():.6g}"))
    return card("InsideCells", numbers, histogram(known, "depths"), table.stages)


def enclosed_card(table: InsideSurface) -> str:
    known = table.depth[np.isfinite(table.depth)]
    numbers: list[tuple[str, object]] = [("points inside", int(np.count_nonzero(~table.on_surface)))]
    numbers.append(("on the surface", int(np.count_nonzero(table.on_surface))))
    if len(known):
        numbers.append(("deepest", f"{known.max():.6g}"))
    return card("InsideSurface", numbers, histogram(known, "depths"), table.stages)


def step_card(step: Step) -> str:
    numbers: list[tuple[str, object]] = [("t", f"{step.t:.9g}")]
    if step.contact is None:
        numbers.append(("stopped by", "nothing"))
    else:
        kind = ("vertex and face", "edges")[int(step.contact.kind[0])]
        numbers.append(("stopped by", f"{kind} {step.contact.elements[0, 0]}, {step.contact.elements[0, 1]}"))
    bar = f'<rect y="30" width="{_WIDTH}" height="14" fill="{RED}" opacity=".35"/>'
    bar += f'<rect y="30" width="{_WIDTH * step.t:.2f}" height="14" fill="{BLUE}"/>'
    return card("Step", numbers, _svg(bar, "how far the motion is free"), step.stages)
