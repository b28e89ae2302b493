# Each target sets up all that it needs on a machine with Python 3.11 to 3.13 and make: with uv
# where it is installed, with venv and pip otherwise.

VENV   ?= .venv
PYTHON ?= python3
BIN    := $(VENV)/bin
ARGS   ?=
comma  := ,

.PHONY: help run test test-all test-rest lint format bench alarms mutation docs clean

help:  ## List the targets
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 11

$(BIN)/python:
	@if command -v uv >/dev/null 2>&1; then \
		uv venv --quiet --python '>=3.11,<3.14' $(VENV); \
	else \
		$(PYTHON) -c 'import sys; sys.exit(not (3, 11) <= sys.version_info < (3, 14))' || \
			{ echo "tokgate needs Python 3.11 to 3.13; name one: make PYTHON=python3.12"; exit 1; }; \
		$(PYTHON) -m venv $(VENV); \
	fi

# $(call install,EXTRAS): the project, editable, with extras
define install
	@if command -v uv >/dev/null 2>&1; then \
		uv pip install --quiet --python $(BIN)/python --editable '.$(1)'; \
	else \
		$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.$(1)'; \
	fi
	@touch $@
endef

$(VENV)/.installed: $(BIN)/python pyproject.toml
	$(call install,[engines])

$(VENV)/.installed-dev: $(BIN)/python pyproject.toml
	$(call install,[dev])
	@touch $(VENV)/.installed

# Workers may write no byte code, and would compile each module at each start.
bytecode = @$(BIN)/python -m compileall -q corpora harness impls reports

run: $(VENV)/.installed  ## Do the main job; options as in: make run ARGS="--seed 1"
	$(bytecode)
	$(BIN)/tokgate run $(ARGS)

# What one target has compiled of the tests, the next one takes, whatever the shell has set.
unexport PYTHONDONTWRITEBYTECODE

# A worker process for each processor that the system counts ("auto" would leave hyperthreads out).
# Each worker gets neighbouring tests, which share what a module sets up; who is done first takes
# over a part of what the others still have.
pytest = $(BIN)/python -m pytest --dist worksteal --numprocesses
# Many of the quick tests wait: for a time-out to come, or for a process to end. The thorough ones
# run whole commands, which wait less.
twice  = $(shell expr 2 '*' $$(nproc 2>/dev/null || echo 1))
more   = $(shell expr 3 '*' $$(nproc 2>/dev/null || echo 1) / 2 '|' 1)

test: $(VENV)/.installed-dev  ## Pass the quick tests: each behaviour once, in 5 minutes on 2 cores
	$(bytecode)
	$(pytest) $(twice) $(ARGS)

test-all: $(VENV)/.installed-dev  ## Pass all tests: the quick ones and the thorough ones
	$(bytecode)
	$(pytest) $(more) -m '' $(ARGS)

test-rest: $(VENV)/.installed-dev  ## Pass the thorough tests, which are all that "test" leaves out
	$(bytecode)
	$(pytest) $(more) -m thorough $(ARGS)

lint: $(VENV)/.installed-dev  ## Lint, format and types
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

format: $(VENV)/.installed-dev  ## Format the sources
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

$(VENV)/.installed-docs: $(BIN)/python pyproject.toml
	$(call install,[docs])

docs: $(VENV)/.installed-docs  ## Build the documentation as a site, in site/
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict

bench: $(VENV)/.installed-dev  ## Measure what the harness costs beside what it calls
	$(BIN)/python -m pytest --override-ini addopts= --timeout 0 --benchmark-only tests/benchmarks $(ARGS)

alarms: $(VENV)/.installed-dev  ## Measure false alarms beside busy processes: hours; ARGS="--runs 8" for less
	$(BIN)/python -m tests.benchmarks.false_alarms $(ARGS)

$(VENV)/.installed-mutation: $(VENV)/.installed-dev
	$(call install,[dev$(comma)mutation])

mutation: $(VENV)/.installed-mutation  ## Measure how many mutants the tests kill: hours; ARGS="checks --mutants 50"
	$(BIN)/python -m tests.benchmarks.mutation $(ARGS)

clean:  ## Remove what the targets made
	rm -rf $(VENV) tokgate-out tokgate-minimize tokgate-replay site .pytest_cache .mypy_cache .ruff_cache .hypothesis
