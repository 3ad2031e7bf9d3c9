"""Threads: Ctrl-C and errors stop everyone, progress is told."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading

import numpy as np
import pytest

import pliant
from pliant._threads import Crew
from tests.meshes import assert_identical, scene

# Every triangle moves through the whole unit cube, so every pair is tested: hours, if nobody stops it.
LONG_QUERY = """
import numpy as np, pliant
rng = np.random.default_rng(0)
x0, x1 = rng.random((2, 60_000, 3))
faces = np.arange(60_000).reshape(-1, 3)
pliant.{query}(faces[:4], x0, x1)  # compiled, or loaded
print("started", flush=True)
try:
    pliant.{query}(faces, x0, x1, threads={threads}, culling={culling!r})
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

    before = threading.active_count()
    with pytest.raises(OwnError):
        query(*scene("ball_heap"), threads=threads, progress=refuse)
    assert threading.active_count() == before


@pytest.mark.parametrize("threads", [1, 2, 4])
def test_an_error_in_a_worker_comes_out_and_stops_the_others(threads):
    done = []

    def work(worker, chunk):
        if chunk == 5:
            raise OwnError(chunk)
        done.append(chunk)

    crew = Crew(threads)
    with pytest.raises(OwnError, match="5"):
        crew.run(work, range(100_000))
    assert len(done) < 100_000


@pytest.mark.parametrize("threads", [1, 2, 4])
@pytest.mark.parametrize("chunks", [0, 1, 3, 500])
def test_every_chunk_is_worked_off_once_by_a_known_worker(threads, chunks):
    seen = []
    Crew(threads).run(lambda worker, chunk: seen.append((worker, chunk)), range(chunks))
    assert sorted(chunk for _, chunk in seen) == list(range(chunks))
    assert {worker for worker, _ in seen} <= set(range(threads))


def test_stop_leaves_the_rest():
    crew = Crew(1)
    seen = []

    def work(worker, chunk):
        seen.append(chunk)
        if chunk == 3:
            crew.stop.set()

    crew.run(work, range(100))
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
