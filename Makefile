# make demo    sets up, then runs the main job on a scene that is built in
# make test    sets up, then runs ruff, types and tests: what CI runs
# make test-long   sets up, then runs the tests that take minutes
# make docs    builds the site into site/, and fails where anything is to be warned of
# make wheel   builds wheel and sdist into dist/, and looks at what is in them
# make fuzz    damages files of every format, 20,000 in all, and reads them; ARGS="--files 500 --only .usd" for others
# make smoke   installs that wheel into an empty environment and uses it
# make simulators PYTHON=python3.11   other simulators of cloth beside ours, in .venv-simulators; Blender needs this Python
#
# Everything is installed into .venv in this folder, nothing elsewhere. PYTHON=python3.12 make ... chooses another Python.
#
# On Windows without make:
#   py -m venv .venv
#   .venv\Scripts\python -m pip install --editable .[dev]
#   .venv\Scripts\python -m pliant demo
#   .venv\Scripts\python -m pytest

PYTHON ?= python3
BIN := .venv/bin

.PHONY: setup demo test test-long lint types docs wheel smoke bench simulators fuzz clean

setup: .venv/installed-dev

demo: .venv/installed-cli
	$(BIN)/pliant warm scan simulate
	$(BIN)/pliant demo $(ARGS)
	@mkdir -p demo
	$(BIN)/pliant simulate cloth_ball --triangles 2000 --frames 80 --no-cache --report demo/simulation.html

# Types and tests side by side; the tests three ways: compiled, compiled with bounds checks, interpreted.
test: lint
	$(BIN)/python -m tests.everything

test-long: .venv/installed-dev
	PLIANT_LONG=1 $(BIN)/python -m pytest --numprocesses auto --maxprocesses 4 --dist loadfile -m long

lint: .venv/installed-dev
	$(BIN)/ruff check
	$(BIN)/ruff format --check

types: .venv/installed-dev
	$(BIN)/pyright

docs: .venv/installed-docs
	$(BIN)/python -m mkdocs build --strict
	@echo "site/index.html; search needs a server: $(BIN)/python -m http.server --directory site"

wheel: .venv/installed-dist
	rm -rf dist
	$(BIN)/python -m build --no-isolation
	$(BIN)/python tests/install/contents.py dist

# Of any Python: make smoke PYTHON=python3.14
smoke: wheel
	$(PYTHON) tests/install/smoke.py dist

bench: .venv/installed-bench
	$(BIN)/python -m bench $(ARGS)

simulators: .venv-simulators/installed
	.venv-simulators/bin/python -m bench simulators $(ARGS)

fuzz: .venv/installed-dev
	$(BIN)/python -m tests.fuzz $(ARGS)

clean:
	rm -rf .venv .venv-simulators .pytest_cache .ruff_cache .hypothesis build dist site demo
	find . -name .git -prune -o -name __pycache__ -type d -prune -exec rm -rf {} +

# One stamp for each extra that is installed, renewed when pyproject.toml changes. An environment without a working
# pip is one whose making was interrupted, or whose Python is gone.
.venv/installed-%: pyproject.toml
	@$(BIN)/python -m pip --version >/dev/null 2>&1 || $(PYTHON) -m venv --clear .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[$*]'
	@touch $@

# An environment of its own: Blender and the tools of the others pin versions that ours are not tested with.
.venv-simulators/installed: pyproject.toml
	$(PYTHON) -m venv .venv-simulators
	.venv-simulators/bin/python -m pip install --quiet --disable-pip-version-check --editable '.[simulators]'
	@touch $@
