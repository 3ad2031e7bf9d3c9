"""What makes a job fail: more than so many offences that a baseline does not know; and files for build servers."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from pliant.commands.running import CLEAN, FOUND, Run, fault
from pliant.runtime.terminal import complain

if TYPE_CHECKING:
    from pliant.report.baseline import Judged
    from pliant.report.cases import Case, Key


class Judging(NamedTuple):
    """As the user said it."""

    max_pairs: int = 0
    baseline: Path | None = None
    write_baseline: Path | None = None
    junit: Path | None = None
    sarif: Path | None = None

    def begin(self, run: Run) -> None:
        """Errors that can be told before anything is read."""
        if self.baseline is not None and self.write_baseline is not None:
            raise fault("--baseline reads known offenders and --write-baseline writes them: give one of the two")
        for path in (self.write_baseline, self.junit, self.sarif):
            run.take_output(path)


def sift(verb: str, how: Judging, cases: list[Case], looked_at: Callable[[Key], bool]) -> Judged | None:
    """New offences and known ones, where there is a baseline."""
    from pliant.report import baseline

    if how.baseline is None:
        return None
    return baseline.judge(cases, baseline.read_baseline(how.baseline, verb), how.baseline.parent, looked_at)


def judge(
    run: Run,
    verb: str,
    how: Judging,
    cases: list[Case],
    looked_at: Callable[[Key], bool],
    sifted: Judged | None = None,
) -> tuple[int, dict[str, Any]]:
    """Say what is new, write what is wanted; returns the exit code, and what the head of the result says of it.

    sifted : what `sift` gave, where that is there already
    """
    from pliant.report import baseline
    from pliant.report.cases import Case, summary, total_of
    from pliant.report.junit import write_junit
    from pliant.report.sarif import write_sarif
    from pliant.report.tables import count

    new, head = cases, {}
    sifted = sifted or sift(verb, how, cases, looked_at)
    if how.baseline is not None and sifted is not None:
        new, there, gone = sifted
        head = {"baseline": {"known": there, "new": total_of(new), "gone": gone}}
        name = how.baseline.as_posix()
        run.say(f"Known ({name}): {there:,}. New: {total_of(new):,}.", style="bold")
        if gone:
            run.say(
                f"{count(gone, 'known one')} {'is' if gone == 1 else 'are'} gone: --write-baseline {name} forgets them"
            )
    elif how.write_baseline is not None and any(case.error for case in cases):
        complain(f"{how.write_baseline} was not written: not every file could be read")
    elif how.write_baseline is not None:
        new = [case._replace(offences=()) for case in cases]
        folder = how.write_baseline.parent
        run.write(how.write_baseline, lambda file: baseline.write_baseline(cases, verb, folder, file))
        run.say(f"{count(total_of(cases), 'offender')} will be known with --baseline {how.write_baseline.as_posix()}")
    failing = total_of(new) > how.max_pairs
    if how.max_pairs and total_of(new):
        every = Case((), tuple(some for case in new for some in case.offences))
        what = f": {summary(every)}" if verb == "scan" else ""  # which counts several things together
        verdict = "more than" if failing else "not more than"
        run.say(f"{total_of(new):,} is {verdict} the {how.max_pairs:,} of --max-pairs{what}.")
    if how.junit is not None:
        run.write(how.junit, lambda file: write_junit(new, failing, verb, file))
    if how.sarif is not None:
        shown = new if failing else [case._replace(offences=()) for case in new]
        run.write(how.sarif, lambda file: write_sarif(shown, verb, file, Path()))
    return FOUND if failing else CLEAN, head
