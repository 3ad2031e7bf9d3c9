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


class Task:
    """A function that is called with the results of the tasks it needs."""

    def __init__(self, work: Callable[..., Any], *needs: str) -> None:
        self.work, self.needs = work, needs


class ThreadPool:
    """Runs ``work(worker, chunk)`` for every chunk on so many threads; ``worker`` is a number from 0.

    The calling thread is worker 0: it is the one that notices Ctrl-C and reports progress, between two kernel calls.
    """

    def __init__(self, threads: int, progress: Progress | bool | None = None) -> None:
        self.threads = threads
        self.stopped: bool = False  # no Event: its lock stays locked where an exception comes while it is taken
        self._tasks: list[_WorkerTask] = []  # that may not be done
        self._progress = _show_on_stderr if progress is True else (progress or None)

    def run(self, work: Callable[[int, Any], None], chunks: Sequence[Any], most: int | None = None) -> None:
        """Returns when all chunks are done; the first error of any worker stops the others and is raised here.

        most: so many threads at most.

        An exception may come between any two lines, from the handler of a signal: nobody is at work any more when it
        leaves here; and if another one follows at once, the next run of this pool waits for who still is. A pool is
        not used by what it runs.
        """
        # No lock: an exception may come after it is taken and before that is known. What is done to these is one step.
        remaining, finished = iter(chunks), []
        errors: list[BaseException] = []
        reported, total = 0, len(chunks)
        workers = min(self.threads, total, most or total)

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
            if workers > 1:  # a single thread has nobody to stop, and SERIAL may be in use elsewhere
                self.stopped = True

        try:
            self._settle()  # what exceptions one after the other may have left of an earlier run
            self.stopped = False
            for worker in range(1, workers):
                self._tasks.append(_WorkerTask(loop, worker))
                _hand_over(self._tasks[-1])
            loop(0)
            self._settle()
        except BaseException as error:
            fail(error)
        while self._tasks:
            try:
                self._settle()
            except BaseException as error:
                fail(error)
        if errors:
            self.stopped = False  # or whoever keeps this pool would go on without doing anything
            try:
                raise next((error for error in errors if not isinstance(error, Exception)), errors[0])  # Ctrl-C first
            finally:
                errors.clear()  # an error holds this frame, and what was worked on, as long as the frame holds it
        if self._progress and reported < total and not self.stopped:
            self._progress(total, total)

    def _settle(self) -> None:
        """Wait until nobody works on anything of this pool; what nobody has begun is not begun any more.

        Calls no function of Python: where the limit of recursion is near, making a task needs a deeper stack than this.
        """
        while self._tasks:
            task = self._tasks[-1]
            if task.done or task.owner.setdefault("owner", self) is self:
                self._tasks.pop()
                continue
            try:  # noqa: SIM105
                task.ended.get(True, 0.1)  # with a timeout, or Ctrl-C would not get through on Windows
            except Empty:
                pass

    def run_range(self, work: Callable[[int, int], None], count: int, least: int = 4096) -> None:
        """``work(begin, end)`` for ranges that make up 0 .. count, at least so long each, as many for each thread."""
        parts = min(2 * self.threads, count // least)
        if parts > self.threads:
            parts -= parts % self.threads
        if parts <= 1 and not self._progress and not self._tasks:
            work(0, count)
            return
        parts = max(1, parts)
        ends = [count * i // parts for i in range(parts + 1)]
        self.run(lambda _, i: work(ends[i], ends[i + 1]), range(parts))

    def run_tasks(self, tasks: Mapping[str, Task]) -> None:
        """Runs every task once those that it needs are done, which come before it; of several, the first one first.

        Nothing of ``threading`` is used: Ctrl-C between two lines of a Condition leaves it locked, and the others wait
        for it forever.
        """
        waiting, done, ended = dict(tasks), {}, SimpleQueue()
        before: set[str] = set()
        for name, task in tasks.items():
            if not before.issuperset(task.needs):
                raise ValueError(f"task {name} needs {', '.join(task.needs)}, not all of which come before it")
            before.add(name)

        def take() -> str | None:
            while waiting and not self.stopped:
                for name in list(waiting):
                    if all(need in done for need in tasks[name].needs) and waiting.pop(name, None) is not None:
                        return name
                with suppress(Empty):
                    ended.get(timeout=0.1)
            return None

        def work(_worker: int, _chunk: int) -> None:
            while (name := take()) is not None:
                task = tasks[name]
                done[name] = task.work(*(done[need] for need in task.needs))
                for _ in range(self.threads - 1):
                    ended.put(None)

        self.run(work, range(min(self.threads, len(tasks))))


SERIAL = ThreadPool(1)  # the calling thread alone


class _WorkerTask:
    """What one worker thread has to do in one run. Whoever takes it first owns it: a thread, or the pool again.

    ``setdefault`` is one step, and may be repeated: an exception between taking and noting that leaves nothing unclear.
    """

    def __init__(self, loop: Callable[[int], None], worker: int) -> None:
        self.loop, self.worker = loop, worker
        self.owner: dict[str, ThreadPool | _WorkerThread] = {}
        self.done, self.ended = False, SimpleQueue()


# Worker threads wait for more: starting one takes 0.1 ms, and a frame of a detector has a dozen runs. They end when
# they have had no task for some seconds, and, being daemons, with the process.
_IDLE_SECONDS = 5.0
_idle: list[_WorkerThread] = []


class _WorkerThread:
    """A thread that runs tasks, one after the other.

    Not a ``threading.Thread``: an exception that comes while one of these starts leaves half of it.
    """

    def __init__(self) -> None:
        self.tasks: SimpleQueue[_WorkerTask] = SimpleQueue()

    def run(self) -> None:
        while True:
            try:
                task = self.tasks.get(timeout=_IDLE_SECONDS)
            except Empty:
                with suppress(ValueError):  # it has just been taken; its pool takes back what it is handed now
                    _idle.remove(self)
                return
            is_mine = task.owner.setdefault("owner", self) is self
            if is_mine:
                task.loop(task.worker)
            _idle.append(self)  # before the end is reported, so that the next run finds this thread
            if is_mine:
                task.done = True
                task.ended.put(None)
            del task  # and with it the arrays it worked on


def _hand_over(task: _WorkerTask) -> None:
    """To a worker thread that is idle, or to a new one."""
    try:
        _idle.pop().tasks.put(task)
    except IndexError:
        thread = _WorkerThread()
        thread.tasks.put(task)
        _thread.start_new_thread(thread.run, ())


def _forget_threads() -> None:
    """A forked process has none of the threads of its parent."""
    _idle.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_threads)


def _show_on_stderr(done: int, total: int) -> None:
    end = "\n" if done == total else ""
    print(f"\rpliant: {100 * done // max(total, 1):3d}% of {total} chunks", end=end, file=sys.stderr, flush=True)
