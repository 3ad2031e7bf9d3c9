"""Threads: Ctrl-C and errors stop everyone, progress is told."""

from __future__ import annotations

import _thread
import itertools
import os
import re
import signal
import subprocess
import sys
import threading
import time
import weakref

import numpy as np
import pytest

import pliant
from pliant.runtime import jit
from pliant.runtime import threads as module
from pliant.runtime.threads import Task, ThreadPool
from tests.shapes.meshes import scene
from tests.shapes.tables import assert_identical

# Every triangle moves through the whole unit cube, so every pair is tested: hours, if nobody stops it.
# Ctrl-C may be ignored where tests run in the background, and what ignores it hands that on.
LONG_QUERY = """
import signal
import numpy as np, pliant
signal.signal(signal.SIGINT, signal.default_int_handler)
rng = np.random.default_rng(0)
x0, x1 = rng.random((2, 60_000, 3))
faces = np.arange(60_000).reshape(-1, 3)
pliant.{query}(faces[:4], x0, x1)  # compiled, or loaded
print("started", flush=True)
try:
    pliant.{query}(faces, x0, x1, threads={threads}, tuning=pliant.Tuning(culling={culling!r}))
except KeyboardInterrupt:
    print("interrupted", flush=True)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="Windows sends Ctrl-C to consoles, not to processes")
@pytest.mark.parametrize(
    ("query", "threads", "culling"), [("ccd", 1, "boxes"), ("ccd", 2, "boxes"), ("ccd", 2, "brute")]
)
def test_ctrl_c_stops_a_long_query(query, threads, culling):
    script = LONG_QUERY.format(query=query, threads=threads, culling=culling)
    path = os.pathsep.join(sys.path)
    with subprocess.Popen(
        [sys.executable, "-c", script], stdout=subprocess.PIPE, text=True, env=os.environ | {"PYTHONPATH": path}
    ) as process:
        try:
            assert process.stdout.readline() == "started\n"
            with pytest.raises(subprocess.TimeoutExpired):
                process.wait(1.5)
            process.send_signal(signal.SIGINT)
            assert process.stdout.readline() == "interrupted\n"
            assert process.wait(30) == 0
        finally:
            process.kill()


# An error that Ctrl-C raised while numba built what a kernel returned was a crash. Tasks that wait for others did so in
# a Condition, which Ctrl-C left locked, but only where it came from another process; and so did the flag of a pool.
MANY_INTERRUPTS = """
import os, signal, subprocess, sys
import pliant
from pliant.scenes import load, load_volume
signal.signal(signal.SIGINT, signal.default_int_handler)
if sys.argv[1] == "ccd":
    scene = load("twisted_cloth", 2000)
    ask = lambda: pliant.ccd(scene.faces, scene.x0, scene.x1, threads=2)
else:
    mesh = pliant.VolumeMesh(load_volume("liver", 3000).steps[0].cells)
    mesh.o_sets
    pliant.mesh.changed.cells.WORTH_THREADS = 0
    ask = lambda: mesh.changed(remove=[5, 77, 300], add={"tetra": [[0, 1, 2, 5000]]}, threads=2)
ask()
interrupt = '''
import os, signal, sys, time
for i in iter(lambda: sys.stdin.buffer.read(1)[0], 0):
    time.sleep(i % 97 * 1e-4)
    os.kill(int(sys.argv[1]), signal.SIGINT)
'''
command = [sys.executable, "-c", interrupt, str(os.getpid())]
other = subprocess.Popen(command, stdin=subprocess.PIPE, start_new_session=True)
for i in range(200):
    try:
        other.stdin.write(bytes([1 + i]))
        other.stdin.flush()
        while True:
            ask()
    except KeyboardInterrupt:
        pass
other.kill()
print("still here", flush=True)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="Windows sends Ctrl-C to consoles, not to processes")
@pytest.mark.parametrize("query", ["ccd", "changed"])
def test_ctrl_c_at_any_moment_is_an_ordinary_error(query):
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, "-X", "faulthandler", "-c", MANY_INTERRUPTS, query]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=300, check=False)
    assert (done.returncode, done.stdout) == (0, "still here\n"), done.stderr


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="there are no timers of this kind")
@pytest.mark.skipif(jit.INTERPRETED, reason="nothing is compiled")
@pytest.mark.parametrize("kind", ["alarm", "term", "recursion"])
def test_handlers_that_raise_and_recursion_are_ordinary_errors(kind):
    """numba builds named tuples and tuples of arrays in Python: an exception there crashed 5 of 5 processes."""
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, "-X", "faulthandler", "-m", "tests.runtime.storms", kind, "--calls", "1500"]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=600, check=False)
    assert done.returncode == 0, done.stderr
    calls, ended = (int(number) for number in re.findall(r"\d+", done.stdout.splitlines()[-1])[:2])
    assert calls >= 1500
    assert ended > 100


@pytest.mark.parametrize("threads", [1, 2, 3])
@pytest.mark.parametrize("query", [pliant.ccd, pliant.safe_step])
def test_progress(query, threads):
    motion, told = scene("ball_heap"), []
    query(*motion, threads=threads, progress=lambda done, total: told.append((done, total)))
    assert told
    assert all(0 <= done <= total for done, total in told)
    if query is pliant.ccd:
        assert [done for done, _ in told] == sorted(done for done, _ in told)
        assert told[-1][0] == told[-1][1]


def test_progress_on_stderr(capfd):
    pliant.ccd(*scene("ball_heap"), progress=True)
    error = capfd.readouterr().err
    assert "100%" in error
    assert error.endswith("\n")


class OwnError(Exception):
    pass


@pytest.mark.parametrize("threads", [1, 2, 3])
@pytest.mark.parametrize("query", [pliant.ccd, pliant.safe_step])
def test_an_error_in_the_progress_callback_comes_out(query, threads):
    def refuse(done, total):
        raise OwnError

    with pytest.raises(OwnError):
        query(*scene("ball_heap"), threads=threads, progress=refuse)
    pliant.ccd(*scene("ball_heap"), threads=threads)  # and stops nobody later


def test_threads_are_used_again_and_end_when_nobody_needs_them(monkeypatch):
    def helpers():
        return set(module._idle)

    def run(threads):
        together = threading.Barrier(threads)  # so that each of them has a chunk
        ThreadPool(threads).run(lambda worker, chunk: together.wait(30), range(threads))

    threads = _thread._count()
    run(4)
    some = helpers()
    assert len(some) >= 3
    for _ in range(20):
        run(4)
    assert helpers() <= some
    monkeypatch.setattr(module, "_IDLE_SECONDS", 0.01)
    run(len(some) + 1)  # wakes all of them, to wait for a shorter time
    for _ in range(1000):
        if not helpers() and _thread._count() <= threads:
            break
        time.sleep(0.03)
    assert not helpers()
    assert _thread._count() <= threads


def test_a_run_within_a_run():
    seen = []

    def work(worker, chunk):
        ThreadPool(3).run(lambda _, inner: seen.append((chunk, inner)), range(5))

    ThreadPool(3).run(work, range(5))
    assert sorted(seen) == [(i, j) for i in range(5) for j in range(5)]


def test_idle_threads_keep_nothing_alive():
    def run():
        large, together = np.empty(1), threading.Barrier(2)
        ThreadPool(2).run(lambda worker, chunk: (large, together.wait(30)), range(2))
        return weakref.ref(large)

    gone = run()
    for _ in range(1000):
        if gone() is None:
            break
        time.sleep(0.01)
    assert gone() is None


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork")
def test_a_forked_process_starts_its_own_threads():
    """Helpers of the parent are in the child's list, but not there: whoever waited for one would wait forever."""
    code = """
import os, threading, warnings
from pliant.runtime.threads import ThreadPool
warnings.simplefilter("ignore")  # newer versions of Python warn of fork where there are threads
def run():
    together = threading.Barrier(2)
    ThreadPool(2).run(lambda worker, chunk: together.wait(30), range(2))
run()
child = os.fork()
run()
if child:
    assert os.waitpid(child, 0)[1] == 0
"""
    path = os.pathsep.join(sys.path)
    subprocess.run([sys.executable, "-c", code], env=os.environ | {"PYTHONPATH": path}, check=True, timeout=60)


@pytest.mark.parametrize("threads", [1, 2, 3, 8])
@pytest.mark.parametrize("count", [0, 1, 99, 100, 250, 1000, 12_345])
def test_ranges_make_up_the_whole_and_are_as_many_for_each_thread(threads, count):
    parts = []
    ThreadPool(threads).run_range(lambda begin, end: parts.append((begin, end)), count, 100)
    parts.sort()
    assert parts[0][0] == 0
    assert parts[-1][1] == count
    assert all(end == begin for (_, end), (begin, _) in itertools.pairwise(parts))
    assert len(parts) <= threads or len(parts) == 2 * threads
    assert len(parts) == 1 or min(end - begin for begin, end in parts) >= 100


@pytest.mark.parametrize("threads", [1, 2, 4])
def test_jobs_get_what_they_need(threads):
    order = []

    def adding(name, own):
        def work(*given):
            order.append(name)
            return own + sum(given)

        return work

    results = {}
    needs = {"a": (), "b": (), "c": ("a",), "d": ("a", "b"), "e": ("d", "c"), "f": ()}
    tasks = {name: Task(adding(name, 10**i), *of) for i, (name, of) in enumerate(needs.items())}
    tasks["end"] = Task(lambda *given: results.update(zip(needs, given)), *needs)
    ThreadPool(threads).run_tasks(tasks)
    assert results == {"a": 1, "b": 10, "c": 101, "d": 1011, "e": 11112, "f": 100_000}
    assert sorted(order) == list(needs)
    assert all(order.index(need) < order.index(name) for name, of in needs.items() for need in of)
    if threads == 1:
        assert order == list(needs)


def test_jobs_that_wait_for_nobody_run_side_by_side():
    together = threading.Barrier(2)
    ThreadPool(2).run_tasks({"one": Task(lambda: together.wait(30)), "other": Task(lambda: together.wait(30))})


def test_ctrl_c_comes_before_other_errors():
    """Whoever catches the error of a task must not take it for that, and go on."""
    failed = threading.Event()

    def fail():
        failed.set()
        raise OwnError("first")

    def interrupted():
        failed.wait(30)
        time.sleep(0.05)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        ThreadPool(2).run_tasks({"one": Task(interrupted), "other": Task(fail)})


@pytest.mark.parametrize("threads", [1, 3])
def test_an_error_in_a_job_stops_those_that_wait_for_it(threads):
    def fail():
        raise OwnError("first")

    done = []
    tasks = {"first": Task(fail), "second": Task(lambda _: done.append("second"), "first")}
    with pytest.raises(OwnError, match="first"):
        ThreadPool(threads).run_tasks(tasks)
    assert done == []


@pytest.mark.parametrize("needs", [("later",), ("nobody",), ("self",)])
def test_jobs_come_after_those_that_they_need(needs):
    tasks = {"self": Task(lambda *_: None, *needs), "later": Task(lambda: None)}
    with pytest.raises(ValueError, match=f"self needs {needs[0]}"):
        ThreadPool(2).run_tasks(tasks)


@pytest.mark.parametrize("threads", [1, 2, 4])
def test_an_error_in_a_worker_comes_out_and_stops_the_others(threads):
    done = []

    def work(worker, chunk):
        if chunk == 5:
            raise OwnError(chunk)
        done.append(chunk)

    pool = ThreadPool(threads)
    with pytest.raises(OwnError, match="5"):
        pool.run(work, range(100_000))
    assert len(done) < 100_000


@pytest.mark.parametrize("threads", [1, 2, 4])
@pytest.mark.parametrize("chunks", [0, 1, 3, 500])
def test_every_chunk_is_worked_off_once_by_a_known_worker(threads, chunks):
    seen = []
    ThreadPool(threads).run(lambda worker, chunk: seen.append((worker, chunk)), range(chunks))
    assert sorted(chunk for _, chunk in seen) == list(range(chunks))
    assert {worker for worker, _ in seen} <= set(range(threads))


@pytest.mark.parametrize("threads", [1, 2, 4])
@pytest.mark.parametrize("error", [OwnError, KeyboardInterrupt])
def test_a_pool_that_is_kept_goes_on_after_an_error(threads, error):
    """Skinning keeps one from frame to frame, and Ctrl-C in a notebook ends a frame, not the session."""

    def fail(worker, chunk):
        raise error

    pool, seen = ThreadPool(threads), []
    for _ in range(3):
        with pytest.raises(error):
            pool.run(fail, range(50))
    pool.run(lambda worker, chunk: seen.append(chunk), range(50))
    assert sorted(seen) == list(range(50))


def test_an_error_of_one_who_works_alone_stops_nobody_else():
    """SERIAL is one for all: others may be at work with it in other threads."""
    failed, seen = threading.Event(), []

    def work(worker, chunk):
        if chunk == 0:
            failed.wait(30)
        seen.append(chunk)

    other = threading.Thread(target=lambda: module.SERIAL.run(work, range(5)))
    other.start()
    with pytest.raises(OwnError):
        module.SERIAL.run(lambda *_: (_ for _ in ()).throw(OwnError()), range(2))
    failed.set()
    other.join()
    assert seen == list(range(5))


def test_stop_leaves_the_rest():
    pool = ThreadPool(1)
    seen = []

    def work(worker, chunk):
        seen.append(chunk)
        if chunk == 3:
            pool.stopped = True

    pool.run(work, range(100))
    assert seen == [0, 1, 2, 3]


def test_queries_from_several_threads_at_once():
    motion = scene("crumpled_sheet")
    expected = pliant.ccd(*motion)
    found = [None] * 4

    def query(i):
        found[i] = pliant.ccd(*motion, threads=2)

    threads = [threading.Thread(target=query, args=(i,)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for contacts in found:
        assert_identical(contacts, expected)
    assert np.isfinite(expected.toi).all()
