# The front door. Every target works in a fresh clone with Python 3.11+ and make, nothing else.
PYTHON ?= python3
ARGS   ?=
VENV   := .venv
BIN    := $(VENV)/bin
UV     := $(BIN)/uv
# Trust what the machine trusts (a company's own authority, say), as pip does.
export UV_SYSTEM_CERTS := true
export UV_PYTHON_DOWNLOADS := never

.DEFAULT_GOAL := help
.PHONY: help demo test contract lint format bench bundle fingerprint picture lock clean

help: ## list the targets
	@grep -hE '^[a-z]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z]+):.*## /  make \1\t/' | expand -t 20

demo: $(VENV)/.installed ## the whole system on this machine; ARGS="--for 60s --scenario chaos", say
	@$(BIN)/python -m reconcile demo $(ARGS)

test: $(VENV)/.installed ## run every test on a PostgreSQL of its own; ARGS go to pytest
	$(BIN)/python -m pytest $(ARGS)

lint: $(VENV)/.installed ## ruff (style and format) and mypy --strict
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

format: $(VENV)/.installed ## rewrite the code in the house format
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

contract: $(VENV)/.installed ## the contract suites, on KUBECONFIG's cluster and the named GitHub if given
	CONTRACT_REAL=1 $(BIN)/python -m pytest tests/contract $(ARGS)

bench: $(VENV)/.installed ## measure; ARGS names the benches to run
	$(BIN)/python -m tests.bench $(ARGS)

bundle: $(VENV)/.installed ## build the function's deployable zip in dist/
	$(BIN)/python -m tools.bundle $(ARGS)

fingerprint: $(VENV)/.installed ## describe schema.sql anew for `reconcile check`, after changing it
	$(BIN)/python -m tools.fingerprint

picture: $(VENV)/.installed ## take the README's picture of the overview anew, from the demo
	$(BIN)/python -m tools.picture

COMPILE = $(UV) pip compile --quiet --universal --generate-hashes --python-version 3.11 --no-header \
    --no-emit-package riscv-runners
OF_THE_LOCK = $(COMPILE) --no-annotate --constraint requirements.lock
lock: $(VENV)/.installed ## resolve requirements.lock anew from pyproject.toml, and the image's parts of it
	$(COMPILE) pyproject.toml --all-extras --upgrade -o requirements.lock
	$(OF_THE_LOCK) pyproject.toml --extra reconcile -o requirements-image.lock
	echo 'hatchling>=1.27' | $(OF_THE_LOCK) - -o requirements-build.lock

clean: ## remove what the other targets made
	rm -rf $(VENV) dist build .pytest_cache .mypy_cache .ruff_cache .hypothesis

# uv installs the lock in seconds; where it cannot (an index that only pip is told of), pip
# installs the same lock.
$(VENV)/.installed: requirements.lock pyproject.toml
	@$(PYTHON) -c 'import sys; sys.version_info >= (3, 11) or sys.exit( \
	    "Python 3.11 or newer is needed, this is " + sys.version.split()[0] + "; name one with PYTHON=")'
	@$(PYTHON) -c 'import ensurepip' 2>/dev/null || { \
	    echo "This Python has no venv module; on Debian: apt-get install python3-venv" >&2; exit 1; }
	$(PYTHON) -m venv --clear $(VENV)
	grep -A999 '^uv==' requirements.lock | sed '/^[^ u#]/,$$d' > $(VENV)/uv.lock
	$(BIN)/pip install --quiet --disable-pip-version-check --require-hashes -r $(VENV)/uv.lock \
	    && $(UV) pip sync --quiet --python $(BIN)/python --require-hashes requirements.lock \
	    && $(UV) pip install --quiet --python $(BIN)/python --no-deps --no-build-isolation -e . \
	    || { $(BIN)/pip install --quiet --disable-pip-version-check --require-hashes -r requirements.lock \
	         && $(BIN)/pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e . ; }
	@touch $@
