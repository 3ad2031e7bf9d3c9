"""Keyword decks of LS-DYNA: *NODE, *ELEMENT_SHELL and *ELEMENT_SOLID, and what they include."""

from __future__ import annotations

import warnings
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import numpy as np

from pliant.io.mesh import FileError, FileMesh, make, warn
from pliant.io.solids import split_solids
from pliant.io.text import Line, Nodes, included, numbers, read_lines

# Cards that an option of the keyword adds to each element.
_MORE_CARDS = {
    "SHELL": {"THICKNESS": 1, "BETA": 1, "MCID": 1, "OFFSET": 1, "DOF": 1, "TITLE": 0},
    "SOLID": {"ORTHO": 2, "DOF": 2, "TITLE": 0},
}


class _Widths(NamedTuple):
    """Columns of a whole number and of a coordinate, where a card is not separated by commas."""

    whole: int = 8
    real: int = 16


class _Card(NamedTuple):
    line: Line
    widths: _Widths

    def fields(self, widths: list[int]) -> list[str]:
        """Fields of the card, without empty ones at its end."""
        if "," in self.line.text:
            found = [field.strip() for field in self.line.text.split(",")]
        else:
            ends = np.cumsum([0, *widths])
            found = [self.line.text[a:b].strip() for a, b in pairwise(ends)]
        while found and not found[-1]:
            found.pop()
        return found

    def wholes(self) -> list[int]:
        fields = self.fields([self.widths.whole] * 10)
        return numbers(self.line, [field or "0" for field in fields], int)


class _Deck:
    """What is of interest in a deck: cards of nodes, and cells as (line, nodes)."""

    def __init__(self) -> None:
        self.nodes: list[_Card] = []
        self.shells: list[tuple[Line, list[int]]] = []
        self.solids: list[tuple[Line, list[int]]] = []
        self.left_out: dict[str, int] = {}
        self.included: list[Path] = []


def read(path: Path) -> FileMesh:
    deck = _Deck()
    if not _collect(path, deck, _Widths(), 0):
        warnings.warn(f"{path.name}: no *END; the file may be cut off", stacklevel=4)
    cards = deck.nodes
    if not cards:
        raise FileError(f"{path.name}: there is no *NODE")
    ids, points = zip(*(_node(card) for card in cards))
    nodes = Nodes.of([card.line for card in cards], ids, points)
    blocks = _shell_blocks(deck, nodes) + _solid_blocks(deck, nodes)
    warn(path, deck.left_out, "left out:")
    return make(path, blocks, nodes.points)


def _node(card: _Card) -> tuple[int, list[float]]:
    fields = card.fields([card.widths.whole] + 3 * [card.widths.real])
    # LS-DYNA reads an empty coordinate as 0. One that is not there at all is more likely where a file was cut off.
    if len(fields) < 4:
        raise card.line.error(f"a node has a number and 3 coordinates, but the card has {len(fields)} fields")
    return numbers(card.line, fields[:1], int)[0], numbers(card.line, [f or "0" for f in fields[1:4]], float)


def _collect(path: Path, deck: _Deck, widths: _Widths, depth: int) -> bool:
    """Sort the cards of a file and of what it includes into `deck`. Whether the file ends as it should."""
    lines = read_lines(path, comment="$")
    if not lines or not lines[0].text.startswith("*"):
        raise FileError(f"{path.name}: a deck of LS-DYNA begins with a keyword")
    starts = [place for place, line in enumerate(lines) if line.text.startswith("*")]
    for start, end in zip(starts, [*starts[1:], len(lines)]):
        keyword, local = _keyword(lines[start], widths)
        cards = [_Card(line, local) for line in lines[start + 1 : end]]
        if keyword == "*END":
            return True
        if keyword == "*KEYWORD":
            widths = _widths_of(lines[start].text.upper(), widths)
        elif keyword == "*INCLUDE":
            for card in cards:
                inner = included(card.line, card.line.text.strip(), depth, deck.included)
                _collect(inner, deck, widths, depth + 1)
        elif keyword == "*NODE":
            deck.nodes += cards
        elif keyword.split("_")[:2] in (["*ELEMENT", "SHELL"], ["*ELEMENT", "SOLID"]):
            _collect_elements(lines[start], keyword, cards, deck)
        elif keyword.startswith("*ELEMENT_"):
            deck.left_out[keyword] = deck.left_out.get(keyword, 0) + len(cards)
    return False


def _keyword(line: Line, widths: _Widths) -> tuple[str, _Widths]:
    """The keyword of a line, and the widths that hold for its cards: a sign at its end stands for another format."""
    word = line.text.split()[0].upper().split(",")[0]
    sign = word[-1] if word[-1] in "+-%" else line.text.split()[1][:1] if len(line.text.split()) > 1 else ""
    by_sign = {"+": _Widths(20, 20), "-": _Widths(), "%": _Widths(10, 16)}
    return word.rstrip("+-%"), by_sign.get(sign, widths)


def _widths_of(text: str, widths: _Widths) -> _Widths:
    options = text.replace(" ", "")
    if "LONG=Y" in options or "LONG=S" in options:
        return _Widths(20, 20)
    return _Widths(10, 16) if "I10=Y" in options else widths


def _collect_elements(head: Line, keyword: str, cards: list[_Card], deck: _Deck) -> None:
    _, family, *options = keyword[1:].split("_")
    unknown = [option for option in options if option not in _MORE_CARDS[family]]
    if unknown:
        raise head.error(f"the option {unknown[0]} of *ELEMENT_{family} is not known")
    more = sum(_MORE_CARDS[family][option] for option in options)
    place = 0
    while place < len(cards):
        line, row = cards[place].line, cards[place].wholes()
        own_cards = 1
        # The newer way of writing a solid: number and part on one card, up to ten nodes on the next.
        if family == "SOLID" and len(row) == 2 and place + 1 < len(cards):
            row, own_cards = row + cards[place + 1].wholes(), 2
        nodes = row[2:]
        while nodes and nodes[-1] == 0:
            nodes.pop()
        if len(nodes) < (3 if family == "SHELL" else 4):
            raise line.error(f"a {family.lower()} with {len(nodes)} nodes")
        place += own_cards + more
        if place > len(cards):
            raise line.error(f"cards are missing after this element of {keyword}")
        (deck.shells if family == "SHELL" else deck.solids).append((line, nodes))


def _shell_blocks(deck: _Deck, nodes: Nodes) -> list[tuple[str, np.ndarray]]:
    of_kind: dict[str, tuple[list[Line], list[list[int]]]] = {}
    for line, row in deck.shells:
        is_triangle = len(row) == 3 or row[3] in (0, row[2])
        corners = row[:3] if is_triangle else row[:4]
        # Nodes on edges are the fifth to eighth, of triangles too.
        kind = ("triangle" if is_triangle else "quad") + ("" if len(row) <= 4 else "6" if is_triangle else "8")
        kept, cells = of_kind.setdefault(kind, ([], []))
        kept.append(line)
        cells.append(corners)
    return [
        (kind, nodes.rows(kept, cells, 3 if kind.startswith("t") else 4)) for kind, (kept, cells) in of_kind.items()
    ]


def _solid_blocks(deck: _Deck, nodes: Nodes) -> list[tuple[str, np.ndarray]]:
    tetra10 = [(line, row[:4]) for line, row in deck.solids if len(row) == 10 and len(set(row)) == 10]
    plain = [(line, (row + row[-1:] * 4)[:8]) for line, row in deck.solids if len(row) != 10 or len(set(row)) != 10]
    kept = [line for line, _ in plain]
    blocks, wrong = split_solids(nodes.rows(kept, [row for _, row in plain], 8))
    if len(wrong):
        raise kept[wrong[0]].error("this solid is none of tetra, pyramid, wedge and hexahedron")
    if tetra10:
        blocks.append(("tetra10", nodes.rows([line for line, _ in tetra10], [row for _, row in tetra10], 4)))
    return blocks
