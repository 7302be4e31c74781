# `make demo` and `make test` set up what they need and then do their job; a second call starts at once.
PYTHON ?= python3
BIN := .venv/bin
# pip would compile ten thousand modules on one processor; compileall does it on all of them, past those that are templates.
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check --no-compile --constraint constraints.txt
COMPILE := $(BIN)/python -m compileall -qq -j 0 .venv/lib || true

.PHONY: demo test docs lint format clean
.DELETE_ON_ERROR:

demo: .venv/installed
	$(BIN)/graphcon demo

test: .venv/installed-dev lint
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest -n 2 --dist loadgroup

docs: .venv/installed-dev
	$(BIN)/python -m sphinx --fail-on-warning --quiet docs build/docs
	@echo "build/docs/index.html"

lint: .venv/installed-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/pyright

format: .venv/installed-dev
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

.venv/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
	  || { echo "graphcon needs Python 3.11 or newer; name one with: make PYTHON=python3.11 ..." >&2; exit 2; }
	@echo "Setting up .venv (once; a few minutes)"
	$(PYTHON) -m venv .venv

.venv/installed: pyproject.toml constraints.txt | .venv/bin/python
	$(PIP) --editable .
	@$(COMPILE)
	@touch $@

.venv/installed-dev: pyproject.toml constraints.txt | .venv/bin/python
	$(PIP) --editable '.[dev]'
	@$(COMPILE)
	@touch $@ .venv/installed

clean:
	rm -rf .venv build dist runs .pytest_cache .ruff_cache
