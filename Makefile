# Every target is one call of the command; `make help` lists them. Variables: PERSONA MODEL DATA RUN ARGS
SHELL := /bin/bash
PYTHON ?= python3
BIN := .venv/bin
OPTIMIZER := $(BIN)/optimizer
OPTIONS = $(if $(PERSONA),--persona $(PERSONA)) $(if $(MODEL),--model $(MODEL)) $(if $(DATA),--data "$(DATA)") $(ARGS)

.PHONY: help setup optimize evaluate compare headroom export report serve test test-vllm check bench clean
help:  ## this list
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 12
setup: .venv/ready  ## .venv with everything that is needed
.venv/ready: pyproject.toml requirements.lock
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Python 3.11 or later is needed: make PYTHON=python3.11 ...")'
	$(PYTHON) -m venv .venv
	$(BIN)/pip install --quiet --disable-pip-version-check -r requirements.lock
	$(BIN)/pip install --quiet --disable-pip-version-check --no-deps -e .
	@touch $@
optimize: setup  ## search better prompts: make optimize PERSONA=skeptic|advocate|expert|source_skepticism|all
	$(OPTIMIZER) optimize $(OPTIONS)
evaluate: setup  ## score the panel with its controls
	$(OPTIMIZER) evaluate $(OPTIONS)
compare: setup  ## the candidates of a run (RUN=, the latest if left out)
	$(OPTIMIZER) compare $(RUN) $(ARGS)
headroom: setup  ## the items that are wrong under every candidate
	$(OPTIMIZER) headroom $(RUN) $(ARGS)
export: setup  ## write the winner's prompt files (ARGS="--to DIR")
	$(OPTIMIZER) export $(RUN) $(ARGS)
report: setup  ## write report.html
	$(OPTIMIZER) report $(RUN) $(ARGS)
serve: setup  ## keep an embedded model served
	$(OPTIMIZER) serve $(MODEL) $(ARGS)
test: setup  ## the whole suite, with one search on a real small model
	$(BIN)/python -m pytest $(ARGS)
test-vllm: setup  ## the vLLM path for real: make test-vllm VLLM_PYTHON=/path/to/python (a CPU build will do)
	VLLM_PYTHON=$(VLLM_PYTHON) $(BIN)/python -m pytest tests/vllm_real -s -o python_files='check_*.py' $(ARGS)
check: setup  ## lint, format and types
	$(BIN)/ruff check . && $(BIN)/ruff format --check . && $(BIN)/mypy
bench: setup  ## what is timed
	$(BIN)/python -m pytest tests/benchmarks -s -o python_files='bench_*.py' $(ARGS)
clean:  ## remove .venv and tool caches; runs/ stays
	rm -rf .venv .mypy_cache .ruff_cache .pytest_cache
