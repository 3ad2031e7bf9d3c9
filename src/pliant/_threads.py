"""Worker threads that take the next chunk when free. Kernels release the GIL; Ctrl-C and errors stop everyone."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Sequence
from typing import Any

Progress = Callable[[int, int], None]

_NO_MORE = object()


class Stopped(Exception):
    """Raised inside a worker to leave its chunk because somebody asked everyone to stop."""


class Crew:
    """Runs ``work(worker, chunk)`` for every chunk on so many threads; ``worker`` is a number from 0.

    The calling thread is worker 0: it is the one that notices Ctrl-C and reports progress, between two kernel calls.
    """

    def __init__(self, threads: int, progress: Progress | bool | None = None) -> None:
        self.threads = threads
        self.stop = threading.Event()
        self._progress = _show_on_stderr if progress is True else (progress or None)

    def run(self, work: Callable[[int, Any], None], chunks: Sequence[Any]) -> None:
        """Returns when all chunks are done; the first error of any worker stops the others and is raised here."""
        remaining, lock = iter(chunks), threading.Lock()
        errors: list[BaseException] = []
        done, reported, total = 0, 0, len(chunks)

        def loop(worker: int) -> None:
            nonlocal done, reported
            try:
                while not self.stop.is_set():
                    with lock:
                        chunk = next(remaining, _NO_MORE)
                    if chunk is _NO_MORE:
                        return
                    work(worker, chunk)
                    with lock:
                        done += 1
                    if worker == 0 and self._progress:
                        reported = done
                        self._progress(reported, total)
            except Stopped:
                pass
            except BaseException as error:  # Ctrl-C too: the others have to stop before it may go on its way
                errors.append(error)
                self.stop.set()

        helpers = [threading.Thread(target=loop, args=(w,)) for w in range(1, min(self.threads, total))]
        started: list[threading.Thread] = []
        try:
            for thread in helpers:
                thread.start()
                started.append(thread)
            loop(0)
            _join(started)
        except BaseException:
            self.stop.set()
            _join(started)
            raise
        if errors:
            raise errors[0]
        if self._progress and reported < total and not self.stop.is_set():
            self._progress(total, total)

    def run_range(self, work: Callable[[int, int], None], count: int, least: int = 16384) -> None:
        """``work(begin, end)`` for ranges that make up 0 .. count, at least so long each."""
        parts = max(1, min(2 * self.threads, count // least))
        ends = [count * i // parts for i in range(parts + 1)]
        self.run(lambda _, i: work(ends[i], ends[i + 1]), range(parts))


ALONE = Crew(1)  # for what the calling thread does by itself


def _join(threads: list[threading.Thread]) -> None:
    for thread in threads:
        while thread.is_alive():
            thread.join(0.1)  # with a timeout, or Ctrl-C would not get through on Windows


def _show_on_stderr(done: int, total: int) -> None:
    end = "\n" if done == total else ""
    print(f"\rpliant: {100 * done // max(total, 1):3d}% of {total} chunks", end=end, file=sys.stderr, flush=True)
