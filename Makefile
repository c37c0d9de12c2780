# Every target sets up .venv by itself: Python 3.11+ is all that is needed.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
READY  := $(VENV)/.ready
TESTS  := $(VENV)/.ready-for-tests
TEMPLATES := .templates
AGENTS := .agents
INSTALL = PIP_CONSTRAINT=constraints.txt $(BIN)/python -m pip install --quiet --disable-pip-version-check --editable

ifneq ($(wildcard $(TEMPLATES)),)
export CANONICALL_TEMPLATES ?= $(CURDIR)/$(TEMPLATES)
endif

ifneq ($(wildcard $(AGENTS)),)
export CANONICALL_AGENTS ?= $(CURDIR)/$(AGENTS)
endif

.DEFAULT_GOAL := help
.PHONY: help demo test coverage check templates agents bench serve clean

help: ## Show what there is to run.
	@grep -hE '^[a-z]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z]+):.*## (.*)/  make \1|\2/' | column -t -s '|'

$(READY): pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(0 if sys.version_info >= (3, 11) else "canonicall needs Python 3.11 or newer; this is " + sys.version.split()[0] + ". Try: make PYTHON=python3.12 demo")'
	@echo "Setting up $(VENV) (once) ..."
	@$(PYTHON) -m venv $(VENV)
	@$(INSTALL) '.[all]'
	@touch $(READY)

$(TESTS): $(READY)
	@echo "Installing what the tests need, the providers' own SDKs among it (once) ..."
	@$(INSTALL) '.[dev]'
	@touch $(TESTS)

demo: $(READY) ## Run the main job offline.
	@$(BIN)/canonicall demo

test: $(TESTS) ## Run the whole test suite.
	@$(BIN)/python -m pytest -n auto

coverage: $(TESTS) ## Run the whole test suite and show what it does not reach.
	@$(BIN)/python -m pytest -n auto --cov --cov-report=term

check: $(TESTS) ## Format, lint, types, import contracts, tests: what CI runs.
	@$(BIN)/ruff format --check .
	@$(BIN)/ruff check .
	@$(BIN)/mypy
	@$(BIN)/lint-imports
	@$(MAKE) --no-print-directory test

templates: $(READY) ## Fetch models' chat templates; tests compare with them then.
	@$(BIN)/python tests/judges/fetch_templates.py $(TEMPLATES)

agents: ## Install coding agents by npm; tests run them before the gateway then.
	@command -v npm > /dev/null || { echo "npm is not installed: there are no coding agents to be had." >&2; exit 1; }
	@mkdir -p $(AGENTS)
	@cp tests/agents/package.json $(AGENTS)
	@cd $(AGENTS) && npm install --no-audit --no-fund --no-package-lock --loglevel=error

bench: $(TESTS) ## Print speed as ratios measured side by side.
	@$(BIN)/python benchmarks/run.py

serve: $(READY) ## Start the gateway; CONFIG=FILE names its settings.
	@exec $(BIN)/canonicall serve $(if $(CONFIG),-c '$(CONFIG)')

clean: ## Remove .venv and everything generated.
	rm -rf $(VENV) $(TEMPLATES) $(AGENTS) .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache .coverage dist
	find src tests benchmarks -name __pycache__ -type d -prune -exec rm -rf {} +
