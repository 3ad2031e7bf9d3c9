"""What `pliant untangle` says and writes: before and after in one table, files of the same kind, frames, a page."""

from __future__ import annotations

import tempfile
import warnings
from pathlib import Path
from typing import Any

import numpy as np

import pliant
from pliant.commands.inputs import up_axis
from pliant.commands.options import Up
from pliant.commands.repairing import Done, Scene, Stored, Subject
from pliant.commands.running import Run, fault
from pliant.commands.writing import holds_frames, to_path, write_sequence, write_sheet
from pliant.commands.writing import write_report as write_scan
from pliant.frames.scanning import Scan, ScannedFrame
from pliant.frames.sequence import Sequence
from pliant.io.content import ending_of
from pliant.io.rewriting.files import require_rewritable, rewrite
from pliant.io.writing.meshes import USD
from pliant.mesh.parts import Parts
from pliant.mesh.triangles import TriMesh
from pliant.report.outputs import Result, intersection_table, joined
from pliant.report.tables import ROWS, count, face_table, merged_words, more, table
from pliant.runtime.writing import OutputError, folder_atomically
from pliant.untangling.judging import areas, exponent_of

_EXACT = (".obj", ".off", ".npz", ".pvd", ".xdmf", ".vtu")  # endings that keep every bit


def require_writable(subject: Subject, out: Path) -> None:
    """Said before anything is computed: that frames are not written in this format."""
    is_one = subject.sources is not None and len(subject.sources) == 1
    if out.suffix and not is_one and not holds_frames(out, None) and out.suffix.lower() not in (".xdmf", *USD):
        raise fault(
            f"{out.name}: frames are written as .npz, .pc2, .mdd, {', '.join(USD)}, .pvd, .xdmf, or numbered files, as "
            f"{out.stem}_%04d{out.suffix}"
        )
    for source in subject.sources or ():
        if _is_folder(out):
            require_rewritable(out / source.name, source)
        elif is_one:
            require_rewritable(out, source)


def stored_in(subject: Subject, out: Path) -> Stored | None:
    """What becomes of positions in the file; None where every bit stays."""
    ending = ending_of(subject.sources[0]) if subject.sources and not out.suffix else ending_of(out)
    if ending in _EXACT:
        return None
    sources = subject.sources
    is_soup = ending == ".stl" and sources is not None and ending_of(sources[0]) != ".stl"  # that has other vertices
    if sources is None or is_soup or (len(sources) > 1 and out.suffix):
        return lambda _, x: x.astype(np.float32).astype(np.float64)

    def stored(frame: int, x: np.ndarray) -> np.ndarray:
        with tempfile.TemporaryDirectory(prefix="pliant-") as folder, warnings.catch_warnings():
            warnings.simplefilter("ignore")  # they are said once, when the file itself is written
            file = Path(folder) / (out if out.suffix else sources[frame]).name
            rewrite(file, sources[frame], x)
            found = pliant.io.read(file, displacement="none").points
        if found.shape != x.shape:
            raise OutputError(
                f"{file.name}: would have other vertices than {sources[frame].name}; write another format"
            )
        return found

    return stored


def _is_folder(out: Path) -> bool:
    """Files of the same names are written into it."""
    return out.is_dir() or not out.suffix


# --- writing ---------------------------------------------------------------------------------------------------------


def write(run: Run, subject: Subject, done: Done, out: Path) -> None:
    """A file for each that was read, rewritten; or frames, as the ending says."""
    x, sources = done.x[:, : len(subject.sequence[0])], subject.sources
    is_folder = _is_folder(out)
    if sources is not None and len(sources) == 1 and not is_folder:
        to_path(run, out, lambda file: rewrite(file, sources[0], x[0]))
    elif sources is not None and is_folder:
        with folder_atomically(out) as folder:
            for source, positions in zip(sources, x):
                rewrite(folder / source.name, source, positions)
        run.wrote(out)
    else:
        sequence = subject.sequence
        kept: dict[str, Any] = {"times": sequence.times, "numbers": sequence.numbers, "objects": sequence.objects}
        kept |= {"cells": sequence.cells, "parts": sequence.parts, "space": sequence.space, "name": sequence.name}
        write_sequence(run, out, Sequence(None if sequence.cells else sequence.faces, x, **kept))


def write_looks(run: Run, scene: Scene, done: Done, files: tuple[Path | None, Path | None], up: Up | None) -> None:
    """A page with a slider between before and after, and a sheet with both: of the mesh, or of the frame in which most
    has moved."""
    sequence = scene.subject.sequence
    place = max(range(len(scene)), key=lambda frame: done.frames[frame].largest)
    frame, x = done.frames[place], np.stack((scene.frames[place], done.x[place]))
    name = scene.subject.name if len(scene) == 1 else f"{scene.subject.name}, frame {frame.number}"
    shown = Sequence(scene.faces, x, parts=_parts(scene), space=sequence.space, name=name)
    found = [pliant.check(scene.faces, one, threads=run.threads) for one in x]
    frames = tuple(ScannedFrame(i, float(i), None, hits, (0.0, 0.0), i) for i, hits in enumerate(found))
    options: dict[str, object] = {"moved": _moved_words(scene, done), "sides": _side_words(done), "how": frame.method}
    (report, png), scan, axis = files, Scan(shown, frames, done.seconds), up_axis(up, sequence)
    if report is not None:
        write_scan(run, report, scan, {"up": axis, "verb": "untangle"}, options)
    if png is not None:
        write_sheet(run, png, scan, {"up": axis})


def _parts(scene: Scene) -> Parts | None:
    """Those of the subject, and a part for each body; None where there are none to tell apart."""
    own = scene.subject.parts
    if own is None and not scene.bodies:
        return None
    names = list(own.names) if own is not None else [scene.subject.name]
    of_face = [own.of_face if own is not None else np.zeros(len(scene.subject.faces), np.int32)]
    for body in scene.bodies:
        of_face.append(np.full(len(body.faces), len(names), np.int32))
        names.append(body.name)
    return Parts(np.concatenate(of_face).astype(np.int32), tuple(names))


# --- saying ----------------------------------------------------------------------------------------------------------


def say(run: Run, scene: Scene, done: Done) -> None:
    """Before and after, what moved and how far, sides, and what remains."""
    subject = scene.subject
    beside = f", beside {', '.join(body.name for body in scene.bodies)}" if scene.bodies else ""
    size = f"{len(subject.faces):,} triangles, {scene.own:,} vertices"
    run.say(f"{subject.name}: {size}{f', {len(scene):,} frames' if len(scene) > 1 else ''}{beside}", style="bold")
    run.say(_frames_table(done) if len(scene) > 1 else _table(scene, done))
    run.say(_moved_words(scene, done), _side_words(done))
    if subject.has_solids:
        run.say("Vertices inside of the solids stay: look for inverted cells with pliant scan.", style="bold")
    left = sum(len(frame.unfixable) for frame in done.frames)
    if left:
        run.say(f"{count(left, 'pair')} cannot be fixed: all of their vertices are fixed.", style="bold")
    run.say(merged_words(len(subject.merging.others)))
    worst = max(done.frames, key=lambda frame: len(frame.remaining))
    if not done.remains:
        run.say(f"Clean: an exact check finds nothing{' else' if left else ''}. {done.seconds:.1f} s.")
    elif len(worst.remaining):
        where = f", most in frame {worst.number}" if len(scene) > 1 else ""
        total = sum(len(frame.remaining) for frame in done.frames)
        run.say(f"{count(total, 'pair')} remain{'' if total > 1 else 's'}{where}. {done.seconds:.1f} s.", style="bold")
        x = done.x[done.frames.index(worst)] if len(scene) > 1 else done.x[0]
        run.say(
            face_table(worst.remaining, scene.faces, x, ROWS), more(ROWS, len(np.unique(worst.remaining.faces)), "face")
        )


def _table(scene: Scene, done: Done) -> Any:
    out = table(("", "before", "after", "change"), ("",))
    frame, faces, states = done.frames[0], scene.subject.faces, (scene.frames[0], done.x[0])
    exponent = exponent_of(states[0])  # at the size of ordinary meshes: the squares of others overflow
    before, after = (float(areas(faces, np.ldexp(x, exponent)).sum()) for x in states)
    with np.errstate(over="ignore", under="ignore"):
        shown = [f"{np.ldexp(area, -2 * exponent):.6g}" for area in (before, after)]
    out.add_row("pairs that intersect", f"{frame.pairs:,}", f"{len(frame.remaining):,}", "")
    out.add_row("area", *shown, f"{100.0 * (after / before - 1.0) if before else 0.0:+.2f} %")
    return out


def _frames_table(done: Done) -> Any:
    """The frames that had most pairs."""
    out = table(("frame", "pairs before", "after", "vertices moved", "furthest", "how"), ("how",))
    order = sorted(done.frames, key=lambda frame: (-len(frame.remaining), -frame.pairs, frame.number))
    for frame in order[:ROWS]:
        moved, far = f"{int(frame.moved.sum()):,}", f"{frame.largest:.4g}"
        out.add_row(f"{frame.number}", f"{frame.pairs:,}", f"{len(frame.remaining):,}", moved, far, frame.method)
    return out


def _edge_length(scene: Scene) -> float:
    edges, x = TriMesh(scene.subject.faces).edges, scene.frames[0]
    if not len(edges):
        return 1.0
    exponent = exponent_of(x)
    ways = np.ldexp(x[edges[:, 1]], exponent) - np.ldexp(x[edges[:, 0]], exponent)
    return float(np.ldexp(np.linalg.norm(ways, axis=1).mean(), -exponent))


def _moved_words(scene: Scene, done: Done) -> str:
    far, changed = max(frame.largest for frame in done.frames), np.any([frame.moved for frame in done.frames], axis=0)
    if not changed.any():
        return "Nothing moved."
    length = _edge_length(scene)
    edges = f", {far / length:.2g} mean edges" if length > 0.0 else ""
    frames = sum(bool(frame.moved.any()) for frame in done.frames)
    where = f" in {frames:,} of {len(scene):,} frames" if len(scene) > 1 else ""
    return f"Moved {int(changed.sum()):,} of {scene.own:,} vertices{where}, by {far:.4g} at most{edges}."


def _side_words(done: Done) -> str:
    wrong = [frame.wrong_side for frame in done.frames]
    if any(one is None for one in wrong):
        return "Sides were not checked: --layers or --outside-of say what belongs where."
    number = sum(len(one) for one in wrong if one is not None)
    guess = " Those of open layers are a guess near their rims." if "guess" in done.frames[0].sides else ""
    if number:
        return f"{count(number, 'vertex is', 'vertices are')} on the wrong side.{guess}"
    return f"Sides were checked: all right.{guess}"


def finish(run: Run, scene: Scene, done: Done, out: Path | None) -> None:
    """For machines: totals, a row for each frame, and every pair that remains."""
    length, rows, tables = _edge_length(scene), [], []
    for frame in done.frames:
        wrong = None if frame.wrong_side is None else len(frame.wrong_side)
        rows.append(
            {
                "frame": frame.number, "pairs": frame.pairs, "remaining": len(frame.remaining),
                "unfixable": len(frame.unfixable), "clean": frame.clean, "wrong_side": wrong, "sides": frame.sides,
                "moved": int(frame.moved.sum()), "largest": frame.largest, "method": frame.method,
                "seconds": frame.seconds,
            }
        )  # fmt: skip
        tables.append(intersection_table(frame.remaining, frame=frame.number))
    head: dict[str, Any] = {
        "file": scene.subject.name, "to": None if out is None else out.as_posix(), "clean": not done.remains,
        "pairs": sum(row["pairs"] for row in rows), "remaining": sum(row["remaining"] for row in rows),
        "triangles": len(scene.subject.faces), "vertices": scene.own, "merged": len(scene.subject.merging.others),
        "edge_length": length, "seconds": done.seconds, "frames": rows,
    }  # fmt: skip
    if done.only is not None:
        head |= {"area_change": done.only.area_change.whole, "largest_area_change": done.only.area_change.largest}
        head |= {"edge_change": done.only.edge_change}
    run.finish(Result("untangle", head, (joined(tables),)))
