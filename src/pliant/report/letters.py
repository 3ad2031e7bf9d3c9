"""Words in pictures: the strokes of Hershey's simplex letters, drawn with a round pen and smooth edges.

A. V. Hershey, Calligraphy for computers, Naval Weapons Laboratory, 1967; the letters are in the public domain.
"""

from __future__ import annotations

import unicodedata
from functools import cache

import numpy as np

# From blank to tilde. Each: left and right edge, then points x y, as letters around R; " R" lifts the pen.
_ALL_STROKES = (
    r"JZ|MWRFRT RRYQZR[SZRY|JZNFNM RVFVM|H]SBLb RYBRb RLOZO RKUYU|"
    r"H\PBP_ RTBT_ RYIWGTFPFMGKIKKLMMNOOUQWRXSYUYXWZT[P[MZKX|"
    r"F^[FI[ RNFPHPJOLMMKMIKIIJGLFNFPGSHVHYG[F RWTUUTWTYV[X[ZZ[X[VYTWT|"
    r"E_\O\N[MZMYNXPVUTXRZP[L[JZIYHWHUISJRQNRMSKSIRGPFNGMIMKNNPQUXWZY[[[\Z\Y|MWRHQGRFSGSIRKQL|"
    r"KYVBTDRGPKOPOTPYR]T`Vb|KYNBPDRGTKUPUTTYR]P`Nb|JZRLRX RMOWU RWOMU|E_RIR[ RIR[R|NVSWRXQWRVSWSYQ[|E_IR[R|"
    r"NVRVQWRXSWRV|G][BIb|H\QFNGLJKOKRLWNZQ[S[VZXWYRYOXJVGSFQF|H\NJPISFS[|H\LKLJMHNGPFTFVGWHXJXLWNUQK[Y[|"
    r"H\MFXFRNUNWOXPYSYUXXVZS[P[MZLYKW|H\UFKTZT RUFU[|H\WFMFLOMNPMSMVNXPYSYUXXVZS[P[MZLYKW|"
    r"H\XIWGTFRFOGMJLOLTMXOZR[S[VZXXYUYTXQVOSNRNOOMQLT|H\YFO[ RKFYF|"
    r"H\PFMGLILKMMONSOVPXRYTYWXYWZT[P[MZLYKWKTLRNPQOUNWMXKXIWGTFPF|"
    r"H\XMWPURRSQSNRLPKMKLLINGQFRFUGWIXMXRWWUZR[P[MZLX|NVROQPRQSPRO RRVQWRXSWRV|NVROQPRQSPRO RSWRXQWRVSWSYQ[|"
    r"F^ZIJRZ[|E_IO[O RIU[U|F^JIZRJ[|I[LKLJMHNGPFTFVGWHXJXLWNVORQRT RRYQZR[SZRY|"
    r"E`WNVLTKQKOLNMMPMSNUPVSVUUVS RQKOMNPNSOUPV RWKVSVUXVZV\T]Q]O\L[JYHWGTFQFNGLHJJILHOHRIUJWLYNZQ[T[WZYYZX RXKWS"
    r"WUXV|I[RFJ[ RRFZ[ RMTWT|G\KFK[ RKFTFWGXHYJYLXNWOTP RKPTPWQXRYTYWXYWZT[K[|"
    r"H]ZKYIWGUFQFOGMILKKNKSLVMXOZQ[U[WZYXZV|G\KFK[ RKFRFUGWIXKYNYSXVWXUZR[K[|H[LFL[ RLFYF RLPTP RL[Y[|"
    r"HZLFL[ RLFYF RLPTP|H]ZKYIWGUFQFOGMILKKNKSLVMXOZQ[U[WZYXZVZS RUSZS|G]KFK[ RYFY[ RKPYP|NVRFR[|"
    r"JZVFVVUYTZR[P[NZMYLVLT|G\KFK[ RYFKT RPOY[|HYLFL[ RL[X[|F^JFJ[ RJFR[ RZFR[ RZFZ[|G]KFK[ RKFY[ RYFY[|"
    r"G]PFNGLIKKJNJSKVLXNZP[T[VZXXYVZSZNYKXIVGTFPF|G\KFK[ RKFTFWGXHYJYMXOWPTQKQ|"
    r"G]PFNGLIKKJNJSKVLXNZP[T[VZXXYVZSZNYKXIVGTFPF RSWY]|G\KFK[ RKFTFWGXHYJYLXNWOTPKP RRPY[|"
    r"H\YIWGTFPFMGKIKKLMMNOOUQWRXSYUYXWZT[P[MZKX|JZRFR[ RKFYF|G]KFKULXNZQ[S[VZXXYUYF|I[JFR[ RZFR[|"
    r"F^HFM[ RRFM[ RRFW[ R\FW[|H\KFY[ RYFK[|I[JFRPR[ RZFRP|H\YFK[ RKFYF RK[Y[|KYOBOb RPBPb ROBVB RObVb|KYKFY^|"
    r"KYTBTb RUBUb RNBUB RNbUb|JZRDJR RRDZR|I[Ib[b|NVSKQMQORPSORNQO|I\XMX[ RXPVNTMQMONMPLSLUMXOZQ[T[VZXX|"
    r"H[LFL[ RLPNNPMSMUNWPXSXUWXUZS[P[NZLX|I[XPVNTMQMONMPLSLUMXOZQ[T[VZXX|I\XFX[ RXPVNTMQMONMPLSLUMXOZQ[T[VZXX|"
    r"I[LSXSXQWOVNTMQMONMPLSLUMXOZQ[T[VZXX|MYWFUFSGRJR[ ROMVM|I\XMX]W`VaTbQbOa RXPVNTMQMONMPLSLUMXOZQ[T[VZXX|"
    r"I\MFM[ RMQPNRMUMWNXQX[|NVQFRGSFREQF RRMR[|MWRFSGTFSERF RSMS^RaPbNb|IZMFM[ RWMMW RQSX[|NVRFR[|"
    r"CaGMG[ RGQJNLMOMQNRQR[ RRQUNWMZM\N]Q][|I\MMM[ RMQPNRMUMWNXQX[|I\QMONMPLSLUMXOZQ[T[VZXXYUYSXPVNTMQM|"
    r"H[LMLb RLPNNPMSMUNWPXSXUWXUZS[P[NZLX|I\XMXb RXPVNTMQMONMPLSLUMXOZQ[T[VZXX|KXOMO[ ROSPPRNTMWM|"
    r"J[XPWNTMQMNNMPNRPSUTWUXWXXWZT[Q[NZMX|MYRFRWSZU[W[ ROMVM|I\MMMWNZP[S[UZXW RXMX[|JZLMR[ RXMR[|"
    r"G]JMN[ RRMN[ RRMV[ RZMV[|J[MMX[ RXMM[|JZLMR[ RXMR[P_NaLbKb|J[XMM[ RMMXM RM[X[|"
    r"KYTBRCQDPFPHQJRKSMSOQQ RRCQEQGRISJTLTNSPORSTTVTXSZR[Q]Q_Ra RQSSUSWRYQZP\P^Q`RaTb|NVRBRb|"
    r"KYPBRCSDTFTHSJRKQMQOSQ RRCSESGRIQJPLPNQPURQTPVPXQZR[S]S_Ra RSSQUQWRYSZT\T^S`RaPb|"
    r"F^IUISJPLONOPPTSVTXTZS[Q RISJQLPNPPQTTVUXUZT[Q[O"
)
_STROKES = _ALL_STROKES.split("|")
_BOX = "I[LFXFX[L[LF"  # for what there is no letter for
_TOP, _BOTTOM, _CAPITAL = -14, 18, 21.0  # rows of strokes: above the letters, below them, and how tall a capital is


@cache
def _glyph(letter: str) -> tuple[int, int, tuple[np.ndarray, ...]]:
    """Left edge, width, and polylines (k, 2) of x and y, where y = 9 is what letters stand on."""
    strokes = _STROKES[ord(letter) - 32] if " " <= letter <= "~" else _BOX
    numbers = [
        np.array([ord(c) - ord("R") for c in piece]).reshape(-1, 2) for piece in strokes[2:].split(" R") if piece
    ]
    left, right = (ord(c) - ord("R") for c in strokes[:2])
    return left, right - left, tuple(numbers)


def _plain(text: str) -> str:
    """Letters without their accents."""
    return "".join(c for c in unicodedata.normalize("NFKD", text) if not unicodedata.combining(c))


def width_of(text: str, size: float) -> int:
    """Pixels that a line takes."""
    return int(np.ceil(sum(_glyph(c)[1] for c in _plain(text)) * size / _CAPITAL)) if text else 0


def fitted(text: str, size: float, width: int) -> str:
    """The text, or as much of it as fits, with dots after it."""
    if width_of(text, size) <= width:
        return text
    while text and width_of(text + "...", size) > width:
        text = text[:-1]
    return text + "..."


def letters(text: str, size: float, pen: float = 0.0) -> np.ndarray:
    """(h, w) of numbers from 0 to 1: how much of each pixel is ink.

    size : how tall a capital is, in pixels
    pen : how thick lines are; default: a ninth of that, and 1.3 at least
    """
    unit, pen = size / _CAPITAL, pen or max(1.3, size / 9.0)
    ink = np.zeros((int(np.ceil((_BOTTOM - _TOP) * unit)) + 1, width_of(text, size)))
    at = 0.0
    for letter in _plain(text):
        left, width, lines = _glyph(letter)
        for line in lines:
            points = np.stack(((line[:, 0] - left) * unit + at, (line[:, 1] - _TOP) * unit), axis=1)
            for a, b in zip(points, points[1:] if len(points) > 1 else points):
                stroke(ink, a, b, pen)
        at += width * unit
    return ink


def stroke(ink: np.ndarray, a: np.ndarray, b: np.ndarray, pen: float) -> None:
    """A line from a to b, x and y in pixels, onto what is inked; an edge of a pixel is smooth."""
    lower, upper = np.minimum(a, b) - pen - 1.0, np.maximum(a, b) + pen + 1.0
    x0, y0 = np.maximum(np.floor(lower), 0).astype(int)
    x1, y1 = np.minimum(np.ceil(upper).astype(int), (ink.shape[1], ink.shape[0]))
    if x1 <= x0 or y1 <= y0:
        return
    x, y = np.meshgrid(np.arange(x0, x1) + 0.5, np.arange(y0, y1) + 0.5)
    along = b - a
    length = float(along @ along)
    part = np.clip(((x - a[0]) * along[0] + (y - a[1]) * along[1]) / length, 0.0, 1.0) if length else 0.0
    away = np.hypot(x - a[0] - part * along[0], y - a[1] - part * along[1])
    inked = ink[y0:y1, x0:x1]
    np.maximum(inked, np.clip(0.5 * pen + 0.5 - away, 0.0, 1.0), out=inked)


def put(paper: np.ndarray, ink: np.ndarray, corner: tuple[int, int], colour: tuple[float, float, float]) -> None:
    """Ink onto a picture (h, w, 3) of any kind of numbers, its upper left corner at (row, column); what is outside is
    cut off. colour : in the numbers of the picture."""
    row, column = max(corner[0], 0), max(corner[1], 0)
    part = paper[row : row + ink.shape[0], column : column + ink.shape[1]]
    ink = ink[: part.shape[0], : part.shape[1], None]
    part[:] = (part * (1.0 - ink) + np.array(colour) * ink).astype(paper.dtype)
