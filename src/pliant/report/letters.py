"""Captions of pictures: letters of 5 by 8 dots, as columns from the left; the lowest bit is the top."""

from __future__ import annotations

import numpy as np

_COLUMNS = {
    " ": "0000000000", "0": "3e5149453e", "1": "00427f4000", "2": "4261514946", "3": "2141454b31", "4": "1814127f10",
    "5": "2745454539", "6": "3c4a494930", "7": "0171090503", "8": "3649494936", "9": "064949291e", "a": "2054545478",
    "b": "7f48444438", "c": "3844444420", "d": "384444487f", "e": "3854545418", "f": "087e090102", "g": "18a4a4a47c",
    "h": "7f08040478", "i": "00447d4000", "j": "4080887d00", "k": "7f10284400", "l": "00417f4000", "m": "7c04180478",
    "n": "7c08040478", "o": "3844444438", "p": "fc18242418", "q": "18242418fc", "r": "7c08040408", "s": "4854545420",
    "t": "043f444020", "u": "3c4040207c", "v": "1c2040201c", "w": "3c4030403c", "x": "4428102844", "y": "1ca0a0a07c",
    "z": "4464544c44", ".": "0060600000", ",": "0080600000", ":": "0036360000", "-": "0808080808", "%": "2313086462",
    "(": "001c224100", ")": "0041221c00", "/": "2010080402", "_": "4040404040", "'": "0005030000", "=": "1414141414",
}  # fmt: skip
_UNKNOWN = "7f4141417f"


def letters(text: str, scale: int = 1) -> np.ndarray:
    """(8 s, 6 s len(text)) bool, where ink is. There are no capitals."""
    columns = [int(_COLUMNS.get(c, _UNKNOWN)[i : i + 2], 16) for c in text.lower() for i in range(0, 10, 2)]
    dots = (np.array(columns, np.int64)[None, :] >> np.arange(8)[:, None]) & 1 == 1
    spaced = np.zeros((8, 6 * len(text)), bool)
    for i in range(5):
        spaced[:, i::6] = dots[:, i::5]
    return spaced.repeat(scale, axis=0).repeat(scale, axis=1)
