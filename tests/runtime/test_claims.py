"""Of several processes one compiles a kernel, and whoever holds a lock gives it back, however it ends."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from pliant.runtime.claims import claimed

HOLD = """
import sys, time
from pathlib import Path
from pliant.runtime.claims import claimed
with claimed(Path(sys.argv[1]), 10.0) as is_mine:
    print(is_mine, flush=True)
    time.sleep(600)
"""
PATH = os.pathsep.join(sys.path)


def test_a_lock_ends_with_its_process(tmp_path: Path):
    place, environment = tmp_path / "one.claim", os.environ | {"PYTHONPATH": PATH}
    with claimed(place, 0.0) as is_mine:
        assert is_mine
    holding = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(place)], env=environment, stdout=subprocess.PIPE, text=True
    )
    assert holding.stdout is not None
    assert holding.stdout.readline() == "True\n"
    with claimed(place, 0.0) as is_mine:
        assert not is_mine
    with claimed(place, 0.05) as is_mine:
        assert not is_mine
    holding.kill()
    holding.communicate()
    with claimed(place, 10.0) as is_mine:
        assert is_mine


def test_where_nothing_can_be_written_all_go_ahead(tmp_path: Path):
    with claimed(tmp_path / "missing" / "one.claim", 0.0) as is_mine:
        assert is_mine


COMPILE = """
import sys
from numba.core import event
sys.path.insert(0, sys.argv[1])
from some_kernels import double

count = event.RecordingListener()
event.register("numba:compile", count)
assert double(2.0) == 4.0
print(len(count.buffer) // 2)
"""


def test_one_of_several_processes_compiles(tmp_path: Path):
    text = "from pliant.runtime.jit import kernel\n\n\n@kernel\ndef double(x):\n    return 2.0 * x\n"
    (tmp_path / "some_kernels.py").write_text(text, "utf-8")
    (tmp_path / "cache").mkdir(mode=0o700)
    environment = os.environ | {"PLIANT_CACHE_DIR": str(tmp_path / "cache"), "PYTHONPATH": PATH}
    line = [sys.executable, "-c", COMPILE, str(tmp_path)]
    started = [subprocess.Popen(line, env=environment, stdout=subprocess.PIPE, text=True) for _ in range(3)]
    assert sorted(one.communicate()[0] for one in started) == ["0\n", "0\n", "1\n"]
