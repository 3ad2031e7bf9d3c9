"""Worker threads that take the next chunk when free. Kernels release the GIL; Ctrl-C and errors stop everyone."""

from __future__ import annotations

import _thread
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from queue import Empty, SimpleQueue
from typing import Any

Progress = Callable[[int, int], None]

_NO_MORE = object()


class Stopped(Exception):
    """Raised inside a worker to leave its chunk because somebody asked everyone to stop."""


class Job:
    """Part of a flow of work: a function that is called with what the jobs return that it needs."""

    def __init__(self, work: Callable[..., Any], *needs: str) -> None:
        self.work, self.needs = work, needs


class Crew:
    """Runs ``work(worker, chunk)`` for every chunk on so many threads; ``worker`` is a number from 0.

    The calling thread is worker 0: it is the one that notices Ctrl-C and reports progress, between two kernel calls.
    """

    def __init__(self, threads: int, progress: Progress | bool | None = None) -> None:
        self.threads = threads
        self.stopped: bool = False  # no Event: its lock stays locked where an exception comes while it is taken
        self._errands: list[_Errand] = []  # that may not be done
        self._progress = _show_on_stderr if progress is True else (progress or None)

    def run(self, work: Callable[[int, Any], None], chunks: Sequence[Any]) -> None:
        """Returns when all chunks are done; the first error of any worker stops the others and is raised here.

        An exception may come between any two lines, from the handler of a signal: nobody is at work any more when it
        leaves here; and if another one follows at once, the next run of this crew waits for who still is. A crew is
        not used by what it runs.
        """
        # No lock: an exception may come after it is taken and before that is known. What is done to these is one step.
        remaining, finished = iter(chunks), []
        errors: list[BaseException] = []
        reported, total = 0, len(chunks)
        workers = min(self.threads, total)

        def loop(worker: int) -> None:
            nonlocal reported
            try:
                while not self.stopped:
                    chunk = next(remaining, _NO_MORE)
                    if chunk is _NO_MORE:
                        return
                    work(worker, chunk)
                    finished.append(None)
                    if worker == 0 and self._progress:
                        reported = len(finished)
                        self._progress(reported, total)
            except Stopped:
                pass
            except BaseException as error:  # Ctrl-C too: the others have to stop before it may go on its way
                fail(error)

        def fail(error: BaseException) -> None:
            errors.append(error)
            if workers > 1:  # who works alone has nobody to stop, and ALONE may be at work elsewhere
                self.stopped = True

        try:
            self._settle()  # what exceptions one after the other may have left of an earlier run
            self.stopped = False
            for worker in range(1, workers):
                self._errands.append(_Errand(loop, worker))
                _hand_over(self._errands[-1])
            loop(0)
            self._settle()
        except BaseException as error:
            fail(error)
        while self._errands:
            try:
                self._settle()
            except BaseException as error:
                fail(error)
        if errors:
            self.stopped = False  # or whoever keeps this crew would go on without doing anything
            try:
                raise next((error for error in errors if not isinstance(error, Exception)), errors[0])  # Ctrl-C first
            finally:
                errors.clear()  # an error holds this frame, and what was worked on, as long as the frame holds it
        if self._progress and reported < total and not self.stopped:
            self._progress(total, total)

    def _settle(self) -> None:
        """Wait until nobody works on anything of this crew; what nobody has begun is not begun any more.

        Calls no function of Python: where the limit of recursion is near, making an errand needed more room than this.
        """
        while self._errands:
            errand = self._errands[-1]
            if errand.done or errand.owner.setdefault("owner", self) is self:
                self._errands.pop()
                continue
            try:  # noqa: SIM105
                errand.told.get(True, 0.1)  # with a timeout, or Ctrl-C would not get through on Windows
            except Empty:
                pass

    def run_range(self, work: Callable[[int, int], None], count: int, least: int = 4096) -> None:
        """``work(begin, end)`` for ranges that make up 0 .. count, at least so long each, as many for each thread."""
        parts = min(2 * self.threads, count // least)
        if parts > self.threads:
            parts -= parts % self.threads
        parts = max(1, parts)
        ends = [count * i // parts for i in range(parts + 1)]
        self.run(lambda _, i: work(ends[i], ends[i + 1]), range(parts))

    def flow(self, jobs: Mapping[str, Job]) -> None:
        """Runs every job once those that it needs are done, which come before it; of several, the first one first.

        Nothing of ``threading`` is used: Ctrl-C between two lines of a Condition leaves it locked, and the others wait
        for it forever.
        """
        waiting, done, told = dict(jobs), {}, SimpleQueue()
        before: set[str] = set()
        for name, job in jobs.items():
            if not before.issuperset(job.needs):
                raise ValueError(f"job {name} needs {', '.join(job.needs)}, not all of which come before it")
            before.add(name)

        def take() -> str | None:
            while waiting and not self.stopped:
                for name in list(waiting):
                    if all(need in done for need in jobs[name].needs) and waiting.pop(name, None) is not None:
                        return name
                with suppress(Empty):
                    told.get(timeout=0.1)
            return None

        def work(_worker: int, _chunk: int) -> None:
            while (name := take()) is not None:
                job = jobs[name]
                done[name] = job.work(*(done[need] for need in job.needs))
                for _ in range(self.threads - 1):
                    told.put(None)

        self.run(work, range(min(self.threads, len(jobs))))


ALONE = Crew(1)  # for what the calling thread does by itself


class _Errand:
    """What one helper has to do in one run. Whoever is its owner first has it: a helper, or the crew, to take it back.

    ``setdefault`` is one step, and may be repeated: an exception between taking and noting that leaves nothing unclear.
    """

    def __init__(self, loop: Callable[[int], None], worker: int) -> None:
        self.loop, self.worker = loop, worker
        self.owner: dict[str, Crew | _Helper] = {}
        self.done, self.told = False, SimpleQueue()


# Helpers wait for more: to start a thread takes 0.1 ms, and a frame of a detector has a dozen runs. They end when
# nobody has needed them for some seconds, and, being daemons, with the process.
_IDLE_SECONDS = 5.0
_idle: list[_Helper] = []


class _Helper:
    """A thread that does errands, one after the other.

    Not a ``threading.Thread``: an exception that comes while one of these starts leaves half of it.
    """

    def __init__(self) -> None:
        self.errands: SimpleQueue[_Errand] = SimpleQueue()

    def run(self) -> None:
        while True:
            try:
                errand = self.errands.get(timeout=_IDLE_SECONDS)
            except Empty:
                with suppress(ValueError):  # it has just been taken; its crew takes back what it is handed now
                    _idle.remove(self)
                return
            is_mine = errand.owner.setdefault("owner", self) is self
            if is_mine:
                errand.loop(errand.worker)
            _idle.append(self)  # before it is told, so that the next run finds this helper
            if is_mine:
                errand.done = True
                errand.told.put(None)
            del errand  # and with it the arrays it worked on


def _hand_over(errand: _Errand) -> None:
    """To a helper that is idle, or to a new one."""
    try:
        _idle.pop().errands.put(errand)
    except IndexError:
        helper = _Helper()
        helper.errands.put(errand)
        _thread.start_new_thread(helper.run, ())


def _forget_helpers() -> None:
    """A forked process has none of the threads of its parent."""
    _idle.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_helpers)


def _show_on_stderr(done: int, total: int) -> None:
    end = "\n" if done == total else ""
    print(f"\rpliant: {100 * done // max(total, 1):3d}% of {total} chunks", end=end, file=sys.stderr, flush=True)
