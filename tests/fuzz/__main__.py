"""python -m tests.fuzz --files 20000 [--seed 1] [--only .usdz] [--folder FOLDER]

Prints how many files of each kind ended how; the exit code is 1 where any of them ended as none should.
"""

import argparse
import sys
import tempfile
from pathlib import Path

from tests.fuzz.running import run

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("--files", type=int, default=20_000)
parser.add_argument("--seed", type=int, default=1)
parser.add_argument("--only", default="", help="a part of the name of the sound file")
parser.add_argument("--folder", type=Path, help="where findings are kept; a temporary one if not given")
given = parser.parse_args()
folder = given.folder or Path(tempfile.mkdtemp(prefix="fuzz-"))
folder.mkdir(parents=True, exist_ok=True)
counts, findings = run(folder, given.files, given.seed, given.only, lambda text: print(text, flush=True))
kinds = sorted({kind for row in counts.values() for kind in row})
print(f"{'':18}" + "".join(f"{kind:>12}" for kind in kinds))
for name, row in [*counts.items(), ("all", {k: sum(r.get(k, 0) for r in counts.values()) for k in kinds})]:
    print(f"{name:18}" + "".join(f"{row.get(kind, 0):12}" for kind in kinds))
print(f"{len(findings)} findings{f', in {folder}' if findings else ''}")
sys.exit(bool(findings))
