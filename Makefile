# Every target sets up what it needs in .venv, once; `make help` lists them.
.DEFAULT_GOAL := help

VENV := .venv
PY := $(VENV)/bin/python
# Tests wait for terminals, processes and disks a quarter of their time: one worker more than CI has processors.
JOBS ?= 3
# Keras writes a file of settings when TensorFlow is imported: not into the home of whoever tries tfdbg.
export KERAS_HOME := $(CURDIR)/$(VENV)/keras
SOURCES := setup.cfg setup.py tfdbg_cli/version.py

# The first Python that TensorFlow has wheels for; `make PYTHON=… TARGET` names another.
PYTHON ?= $(shell for p in python3 python3.13 python3.12 python3.11; do \
  $$p -c 'import sys; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 13))' >/dev/null 2>&1 && echo $$p && break; done)

.PHONY: help demo demo-session test test-matrix test-zoo fuzz lint style bench golden docs clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-14s%s\n", $$1, $$2 }' $(MAKEFILE_LIST)

# The programs that the demos debug; their numbers go bad.
DEMO := tfdbg_cli.examples.keras_fit
DEMO_SESSION := tfdbg_cli.examples.classifier

# $(call demo,MODULE): the full screen where there is a terminal, else the finding as text.
define demo
	@export TF_CPP_MIN_LOG_LEVEL=3; \
	if [ -t 0 ] && [ -t 1 ]; then \
	  $(PY) -m tfdbg_cli run --watch -m $(1); \
	else \
	  $(PY) -m tfdbg_cli run --watch -c origin -m $(1); \
	fi
endef

demo: $(VENV)/ready-demo ## fit a Keras model until its loss is NaN, and open tfdbg on the op that made it so
	$(call demo,$(DEMO))

demo-session: $(VENV)/ready-demo ## the same with a session, as in TensorFlow 1
	$(call demo,$(DEMO_SESSION))

# Types are checked while the tests run: what mypy says comes behind them, whole. A failure of either is one of `make`.
test: style ## check style and types, and run every test
	@said=$$(mktemp) && trap 'rm -f "$$said"' EXIT && trap 'kill $$types 2>/dev/null; exit 130' INT TERM; \
	$(PY) -m mypy > "$$said" 2>&1 & types=$$!; \
	echo '$(PY) -m pytest -n $(JOBS) --dist worksteal'; $(PY) -m pytest -n $(JOBS) --dist worksteal; tested=$$?; \
	echo '$(PY) -m mypy'; wait $$types; typed=$$?; cat "$$said"; \
	[ $$tested = 0 ] && [ $$typed = 0 ]

# TensorFlow and NumPy, `TF-NUMPY`: each pair has an environment of its own, of 2 GB. 2.16 takes no NumPy 2. `2.21` means
# the newest 2.21.*; pip takes a release candidate only by its whole name: `2.22.0rc0-2`.
MATRIX ?= 2.16-1.26 2.18-2 2.20-1.26 2.21-2
TESTS ?= tests

# The file `ready` names what there was none of for this TensorFlow: those tests are skipped, see tests/support/libraries.py.
test-matrix: $(MATRIX:%=.venv-matrix/%/ready) ## run the tests with older TensorFlow and NumPy, too
	@failed=; for pair in $(MATRIX); do \
	  without=$$(cat .venv-matrix/$$pair/ready); \
	  echo "TensorFlow $${pair%-*} with NumPy $${pair#*-}$${without:+, without $$without}:"; \
	  KERAS_HOME=$(CURDIR)/.venv-matrix/$$pair/keras TFDBG_TESTS_WITHOUT="$$without" \
	    .venv-matrix/$$pair/bin/python -m pytest -n $(JOBS) --dist worksteal $(TESTS) || failed="$$failed $$pair"; \
	done; [ -z "$$failed" ] || { echo "Tests failed with$$failed." >&2; exit 1; }

# GPflow wants an older NumPy than ours, hence an environment of its own.
test-zoo: ## run the slow tests of libraries, such as keras_hub and GPflow, in .venv-zoo
	$(MAKE) VENV=.venv-zoo .venv-zoo/ready-zoo
	.venv-zoo/bin/python -m pytest -m slow tests/exactness/test_libraries.py tests/zoo

FUZZ ?= 500
fuzz: $(VENV)/ready-test ## try FUZZ times as many inputs made by chance as the tests do, and say how many they were
	TFDBG_FUZZ_TIMES=$(FUZZ) $(PY) -m pytest -n $(JOBS) --dist worksteal tests/fuzz

lint: style ## check style and types
	$(PY) -m mypy

style: $(VENV)/ready-test ## check style alone, which takes a second
	$(PY) -m ruff check .
	$(PY) -m ruff format --check .

bench: $(VENV)/ready-test ## measure what debugging costs, beside TensorFlow's own tools
	TF_CPP_MIN_LOG_LEVEL=3 $(PY) -m bench

golden: $(VENV)/ready-test ## write the expected screens and outputs of the tests anew; look at `git diff` afterwards
	TFDBG_GOLDEN=1 $(PY) -m pytest -n $(JOBS) -m "not tf and not terminal"

docs: $(VENV)/ready-test ## write the pages of commands and keys and the pictures anew
	$(PY) -m tfdbg_cli.commands.manual > docs/commands.new && mv docs/commands.new docs/commands.md
	$(PY) -m tfdbg_cli.tui.keys_page > docs/keys.new && mv docs/keys.new docs/keys.md
	$(PY) tools/make_pictures.py

clean: ## remove what tests and builds leave behind; .venv stays
	rm -rf build dist *.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find . -name '.venv*' -prune -o -name __pycache__ -type d -print0 | xargs -0 rm -rf

# --- set-up -----------------------------------------------------------------------------------------------------

# $(call install,EXTRA,STAMP): pip is quiet, so say what is going on; the stamp comes last, so a killed set-up is repeated.
comma := ,
define install
	@$(PY) -c '' 2>/dev/null || { echo "$(VENV) is broken (was its Python removed?). Remove it and try again: rm -r $(VENV)" >&2; exit 1; }
	@echo "Setting up $(VENV) with tfdbg[$(1)]; TensorFlow is large, the first time takes some minutes."
	@$(PY) -m pip install --quiet --disable-pip-version-check --no-input -e '.[$(1)]' || { \
	  echo "pip could not install tfdbg[$(1)]: see its message above. It needs a way to a package index and 2 GB of disk." >&2; exit 1; }
	@touch $(VENV)/$(2)
endef

$(VENV)/ready-test: $(SOURCES) | $(VENV)/bin/pip
	$(call install,dev,ready-test)
	@touch $(VENV)/ready-demo

$(VENV)/ready-zoo: $(SOURCES) | $(VENV)/bin/pip
	$(call install,dev$(comma)zoo,ready-zoo)

$(VENV)/ready-demo: $(SOURCES) | $(VENV)/bin/pip
	$(call install,tensorflow,ready-demo)

# `2.22`, and a release candidate by its whole name: what each asks of pip, and the tf_keras that goes with both.
matrix_tensorflow = tensorflow==$(1)$(if $(word 3,$(subst ., ,$(1))),,.*)
# TensorFlow 2.20 takes any newer protobuf, but hands text_format an argument that protobuf 7 has no more.
matrix_protobuf = $(if $(filter 2.20 2.20.%,$(1)),'protobuf<7')
matrix_tf_keras = tf_keras==$(word 1,$(subst ., ,$(1))).$(word 2,$(subst ., ,$(1))).*

.venv-matrix/%/ready: $(SOURCES) | .venv-matrix/%/bin/pip
	@echo "Setting up .venv-matrix/$*; TensorFlow is large, the first time takes some minutes."
	@install() { .venv-matrix/$*/bin/python -m pip install --quiet --disable-pip-version-check --no-input -e '.[test]' \
	  '$(call matrix_tensorflow,$(word 1,$(subst -, ,$*)))' 'numpy==$(word 2,$(subst -, ,$*)).*' \
	  $(call matrix_protobuf,$(word 1,$(subst -, ,$*))) "$$@"; }; \
	if install '$(call matrix_tf_keras,$(word 1,$(subst -, ,$*)))'; then without=; \
	elif install; then without=tf_keras; echo "pip found no tf_keras for it: the tests that need one will be skipped." >&2; \
	else echo "pip could not install TensorFlow-NumPy $*: see its message above." >&2; exit 1; fi; \
	echo "$$without" > $@

# Kept when make is done, though it is only on the way to `ready`.
.PRECIOUS: .venv-matrix/%/bin/pip
.venv-matrix/%/bin/pip:
	@if [ -z "$(PYTHON)" ]; then echo "tfdbg needs Python 3.11, 3.12 or 3.13; name one: make PYTHON=… test-matrix" >&2; exit 1; fi
	@$(PYTHON) -m venv --clear .venv-matrix/$* || { rm -rf .venv-matrix/$*; exit 1; }

$(VENV)/bin/pip:
	@if [ -z "$(PYTHON)" ]; then \
	  echo "tfdbg needs Python 3.11, 3.12 or 3.13. Install one, or name it: make PYTHON=/path/to/python3.12 …" >&2; exit 1; fi
	@$(PYTHON) -m venv --clear $(VENV) || { rm -rf $(VENV); \
	  echo "$(PYTHON) cannot make a virtual environment. On Debian and Ubuntu: apt install python3-venv" >&2; exit 1; }
