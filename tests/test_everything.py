"""What `make test` runs: a failure of any part is one of all, and whoever stops it stops all of it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

CHECKOUT = Path(__file__).resolve().parents[1]
NAMES = ("first", "second", "third")
RUN = """
import sys
from tests import everything
everything.PATIENCE = 0.1
given = zip(sys.argv[1::2], sys.argv[2::2])
first, *beside = (everything.Part(name, ["-c", code], {"PART": name}) for name, code in given)
everything.parts = lambda: (first, beside)
sys.exit(everything.main())
"""


def command(*codes: str) -> list[str]:
    return [sys.executable, "-c", RUN, *(word for pair in zip(NAMES, codes, strict=True) for word in pair)]


@pytest.mark.parametrize("failing", [None, *NAMES])
def test_all_parts_run_and_any_of_them_can_fail(failing: str | None):
    # In one piece: the first part and those beside it write to one stream.
    code = (
        f"import os; me = os.environ['PART']; os.write(1, f'this is {{me}}\\n'.encode()); os._exit(me == '{failing}')"
    )
    done = subprocess.run(command(code, code, code), cwd=CHECKOUT, capture_output=True, text=True)
    assert done.returncode == (failing is not None), done.stderr
    for name in NAMES:
        assert f"this is {name}\n" in done.stdout
        verdict = "FAILED" if name == failing else "passed"
        assert f"\n{name:14} {verdict} in " in done.stdout
        assert (f"= {name}: {verdict}\nthis is {name}\n=" in done.stdout) == (name != "first")


@pytest.mark.skipif(os.name == "nt", reason="signals are others there")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_all_parts(number: signal.Signals):
    """Those that have begun: the third is never run. A pipe that they hold open would keep us here."""
    code = "import time; print('began', flush=True); time.sleep(600)"
    started = subprocess.Popen(command(code, code, "print('third')"), cwd=CHECKOUT, stdout=subprocess.PIPE, text=True)
    assert started.stdout is not None
    assert started.stdout.readline() == "began\n"
    started.send_signal(number)
    assert "third" not in started.communicate()[0]
    assert started.returncode == 128 + number
