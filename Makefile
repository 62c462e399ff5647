# Two commands: `make demo` and `make test`. Needs Python 3.11 and make; Node and the CDK CLI
# come from wheels in requirements.txt.
PYTHON ?= python3
BIN := .venv/bin
LANES ?= 2
.DEFAULT_GOAL := help

.PHONY: help setup demo test lint fmt types synth synth-all image-check clean

help:  ## Show these targets
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "  make %-11s %s\n", $$1, $$2}'

setup: .venv/.installed  ## Install everything into .venv from pinned requirements

.venv/.installed: requirements.txt pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Relay needs Python 3.11 or newer; set PYTHON=python3.11")'
	@echo "Installing into .venv: about two minutes, 3 GB"
	$(PYTHON) -m venv .venv
	$(BIN)/pip install --quiet --disable-pip-version-check -r requirements.txt
	$(BIN)/pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
	@touch $@

demo: setup  ## A dropped log of games becomes a policy that plays, on this machine
	@$(BIN)/relay demo

test: setup lint  ## Every check and every test
	$(BIN)/pytest -n $(LANES) --no-loadscope-reorder

lint: setup  ## ruff, mypy, import rules
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

fmt: setup  ## Format the code
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

synth: setup  ## The CloudFormation template, in cdk.out
	$(BIN)/python app.py

synth-all: setup  ## Every documented combination of settings, synthesised and linted
	$(BIN)/python tests/cdk/synth_all.py

image-check: setup  ## Build the jobs' image and have it work; needs root, buildah, debootstrap
	$(BIN)/python -m training.image.check

clean:  ## Remove what the project made here, but for the venv
	rm -rf .relay cdk.out .pytest_cache .mypy_cache .ruff_cache .hypothesis
