"""A few hundred of the damaged files that `python -m tests.fuzz` makes by the thousand."""

import pytest

from tests.fuzz.damage import damaged
from tests.fuzz.running import GOOD, run
from tests.fuzz.seeds import seeds

pytestmark = pytest.mark.slow


def test_damaged_files_end_in_errors_of_ours(tmp_path):
    for package in ("meshio", "h5py", "pxr", "lasso"):
        pytest.importorskip(package)
    said = []
    counts, findings = run(tmp_path, 600, 3, say=said.append)
    assert findings == [], said
    assert len(counts) >= 50  # formats, and ways in which they are written
    of_kind = {kind: sum(row.get(kind, 0) for row in counts.values()) for kind in GOOD}
    assert of_kind["error"] > 300
    assert of_kind["sound"] > 30


def test_damage_is_the_same_each_time(tmp_path):
    np = pytest.importorskip("numpy")
    for one in seeds(tmp_path)[:4]:
        content = one.files[one.name]
        again = [damaged(content, np.random.default_rng(5), content) for _ in range(2)]
        assert again[0] == again[1]
