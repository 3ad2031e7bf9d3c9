"""What the panel of a viewer says, as HTML: about a frame, about a contact, about ways of culling."""

from __future__ import annotations

import html
from collections.abc import Sequence

import numpy as np

from pliant.results.contacts import STATUS
from pliant.view.comparing import Compared
from pliant.view.layers import FrameView, Shown

_CELL = "padding:1px 8px 1px 0;vertical-align:top;"


def table(rows: Sequence[Sequence[str]], head: Sequence[str] = ()) -> str:
    """A small table; the first column is of words, the others of numbers where there are several."""
    lines = [_line(head, "th", "opacity:.65;font-weight:normal;")] if head else []
    lines += [_line(row, "td", "") for row in rows]
    return f'<div style="overflow-x:auto;padding:2px 12px 6px;font-size:12px"><table>{"".join(lines)}</table></div>'


def _line(cells: Sequence[str], tag: str, style: str) -> str:
    many, made = len(cells) > 2, []
    for i, cell in enumerate(cells):
        aligned = f"text-align:{'right' if many and i else 'left'};white-space:{'nowrap' if many else 'normal'}"
        made.append(f'<{tag} style="{style}{_CELL}{aligned}">{html.escape(cell)}</{tag}>')
    return f"<tr>{''.join(made)}</tr>"


def note(text: str) -> str:
    return f'<div style="padding:2px 12px 6px;font-size:12px;opacity:.8">{html.escape(text)}</div>'


def short(count: int) -> str:
    """A count in at most four characters: 999, 1.2k, 35k, 1.8M."""
    for factor, unit in ((10**9, "G"), (10**6, "M"), (10**3, "k")):
        if count >= factor:
            return f"{count / factor:.1f}{unit}" if count < 9.95 * factor else f"{count / factor:.0f}{unit}"
    return str(count)


def frame_words(frame: FrameView, shown: Shown, count: int) -> str:
    """What was found in a frame, and how much of it the layers leave."""
    contacts, edges = frame.contacts, int(np.count_nonzero(frame.contacts.kind))
    found = f"{len(contacts) - edges:,} vertex-face, {edges:,} edge-edge"
    time = "" if frame.time == frame.number else f", t = {frame.time:.4g}"  # else it says nothing new
    rows = [
        ("frame", f"{frame.number}{f' ({frame.file})' if frame.file else ''}, {frame.place + 1} of {count}{time}"),
        ("contacts", found if frame.place else "none: the first frame comes from nowhere"),
        ("intersections", f"{len(frame.intersections):,} pairs of triangles"),
        ("shown", f"{len(shown.contacts):,} contacts, {len(shown.intersections):,} intersections"),
        ("red", f"{len(shown.faces):,} triangles"),
        ("took", f"{1e3 * frame.seconds:,.1f} ms"),
    ]
    if len(contacts):
        rows.insert(2, ("first at", f"t = {contacts.toi.min():.6g} of the step"))
    return table(rows)


def contact_words(frame: FrameView, row: int) -> str:
    """All that the table says about one contact."""
    contacts = frame.contacts
    edges = int(contacts.kind[row]) == 1
    first, second = contacts.elements[row].tolist()
    of = "within a part" if frame.contacts_within[row] else "between parts"
    rows = [
        ("contact", f"row {row}: {'edge-edge' if edges else 'vertex-face'}, {of}"),
        ("elements", f"edges {first} and {second}" if edges else f"vertex {first}, face {second}"),
        ("vertices", ", ".join(map(str, contacts.vertices[row].tolist()))),
        ("parts", "" if frame.parts is None else " and ".join(dict.fromkeys(frame.parts[row].tolist()))),
        ("at", ", ".join(f"{value:.6g}" for value in frame.places(np.array([row]))[0])),
        ("toi", f"{contacts.toi[row]:.15g}"),
        ("not after", f"{contacts.toi_upper[row]:.15g}"),
        ("weights", ", ".join(f"{w:.6g}" for w in contacts.weights[row])),
        ("normal", ", ".join(f"{n:.6g}" for n in contacts.normal[row])),
        ("gap at t = 0", f"{contacts.gap[row]:.6g}"),
        ("found", STATUS[int(contacts.status[row])]),
    ]
    return table([one for one in rows if one[1]])


def comparison_words(number: int, rows: Sequence[Compared]) -> str:
    """Ways of culling side by side, and whether all found the same."""
    head = ("culling", "ms", "nodes", "faces", "exact", "hash")
    lines = [
        (r.culling, f"{r.milliseconds:.0f}", *map(short, (r.nodes, r.elements, r.exact)), r.fingerprint[:5])
        for r in rows
    ]
    same = len({r.fingerprint for r in rows}) == 1
    built = " (with building the hierarchy)" if number < 2 else ""
    verdict = "all hashes are equal: the same tables" if same else "THE HASHES DIFFER: this is a bug, please report it"
    return table(lines, head) + note(f"frame {number}{built}; pairs of nodes and of faces, exact tests; {verdict}")
