"""Worker threads that take the next chunk when free. Kernels release the GIL; Ctrl-C and errors stop everyone."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from typing import Any

Progress = Callable[[int, int], None]


class Stopped(Exception):  # noqa: N818
    """Raised inside a worker to leave its chunk because somebody asked everyone to stop."""


class Crew:
    """Runs ``work(worker, chunk)`` for every chunk on so many threads; ``worker`` is a number from 0."""

    def __init__(self, threads: int, progress: Progress | bool | None = None) -> None:
        self.threads = threads
        self.stop = threading.Event()
        self._progress = _show_on_stderr if progress is True else (progress or None)

    def run(self, work: Callable[[int, Any], None], chunks: Sequence[Any]) -> None:
        """Returns when all chunks are done or ``stop`` is set; the first error of a worker is raised here."""
        remaining = iter(chunks)
        lock = threading.Lock()
        done = 0

        def loop(worker: int) -> None:
            nonlocal done
            while not self.stop.is_set():
                with lock:
                    chunk = next(remaining, None)
                if chunk is None:
                    return
                work(worker, chunk)
                with lock:
                    done += 1

        try:
            if self.threads == 1 or len(chunks) == 1:
                self._run_here(work, chunks)
            else:
                with ThreadPoolExecutor(self.threads) as pool:
                    futures = [pool.submit(loop, worker) for worker in range(self.threads)]
                    try:
                        while True:
                            # A timeout, so that the main thread comes by to notice Ctrl-C and to report.
                            state = wait(futures, timeout=0.1, return_when=FIRST_EXCEPTION)
                            self._report(done, len(chunks))
                            if not state.not_done or any(f.exception() for f in state.done):
                                break
                    except BaseException:
                        self.stop.set()
                        raise
                    for future in futures:
                        if future.done() and future.exception():
                            self.stop.set()
                    for future in futures:
                        future.result()
        except Stopped:
            pass

    def _run_here(self, work: Callable[[int, Any], None], chunks: Sequence[Any]) -> None:
        for done, chunk in enumerate(chunks, start=1):
            if self.stop.is_set():
                return
            work(0, chunk)
            self._report(done, len(chunks))

    def _report(self, done: int, total: int) -> None:
        if self._progress is not None:
            self._progress(done, total)


def _show_on_stderr(done: int, total: int) -> None:
    end = "\n" if done == total else ""
    print(f"\rpliant: {100 * done // max(total, 1):3d}% of {total} chunks", end=end, file=sys.stderr, flush=True)
