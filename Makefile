# Every target sets itself up: a virtual environment in .venv with the pinned tools.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --quiet --disable-pip-version-check
# One worker per core; a file stays with one worker, so that its fixtures are made once.
PYTEST := $(BIN)/python -m pytest --numprocesses auto --maxprocesses 8 --dist loadfile
BUILD := --no-build-isolation --config-settings=build-dir=build/{wheel_tag}

# Real data lies beside the project in development and in CI; tests that need it skip elsewhere.
ifneq ($(wildcard ../shared/data),)
export ISPCA_DATA ?= $(abspath ../shared/data)
endif

.PHONY: demo test test-browser wheel lint docs bench fuzz fuzz-files clean

demo: $(VENV)/installed
	$(BIN)/python -m ispca.demo

test: $(VENV)/installed
	$(PYTEST) tests --pyargs ispca

# Shares the compiled files of the editable installation, so that it takes seconds.
wheel: $(VENV)/installed
	rm -rf dist
	$(PIP) wheel $(BUILD) --no-deps --wheel-dir dist .
	ISPCA_WHEEL=$$(ls dist/*.whl) $(BIN)/python -m pytest tests/test_packaging.py

# The report in a real browser; installs Debian's chromium where there is none.
test-browser: $(VENV)/browser
	ISPCA_BROWSER_TESTS=1 $(BIN)/python -m pytest tests/browser

$(VENV)/browser: $(VENV)/installed
	.ci/chromium
	$(PIP) install -c constraints.txt playwright axe-playwright-python
	touch $@

lint: $(VENV)/installed
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

# Warnings are errors; nothing is fetched by the build or by the pages. Examples run again only when they have changed.
docs: $(VENV)/documenting
	$(BIN)/python -m sphinx -W --keep-going -q -b html docs docs/_build/html
	@echo "The start page is docs/_build/html/index.html"

bench: $(VENV)/installed
	$(BIN)/python -m benchmarks $(ARGS)

$(VENV)/python:
	$(PYTHON) -m venv $(VENV)
	touch $@

$(VENV)/build-tools: $(VENV)/python constraints.txt
	$(PIP) install -c constraints.txt scikit-build-core nanobind cmake ninja
	touch $@

# Editable: Python files are used where they are, so that editing one installs nothing.
$(VENV)/dependencies: $(VENV)/build-tools pyproject.toml
	$(PIP) install $(BUILD) -c constraints.txt -e '.[test,lint]'
	touch $@

# Only the changed parts of the engine are compiled again, because the build folder stays.
$(VENV)/installed: $(VENV)/dependencies $(wildcard cpp/*) CMakeLists.txt
	$(PIP) install $(BUILD) --no-deps -e .
	touch $@

# By name, not by path: the package is there already, only the tools are added.
$(VENV)/documenting: $(VENV)/installed
	$(PIP) install -c constraints.txt 'ispca[docs]'
	touch $@

clean:
	rm -rf $(VENV) build dist docs/_build docs/gallery docs/generated

# 10,000 random small problems through the engine under AddressSanitizer and UndefinedBehaviorSanitizer.
SANITIZE := -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer
CMAKE := $(shell command -v cmake 2>/dev/null || echo $(BIN)/cmake)
fuzz: $(VENV)/python
	command -v $(CMAKE) >/dev/null || $(PIP) install cmake
	$(CMAKE) -S . -B build/fuzz -DISPCA_FUZZ=ON -DCMAKE_BUILD_TYPE=Release -DCMAKE_CXX_FLAGS="$(SANITIZE)"
	$(CMAKE) --build build/fuzz
	build/fuzz/fuzz 10000

# Mutated data and model files; ARGS="--seconds 600 --seed 7" for more. What fails is kept in build/fuzz-files.
fuzz-files: $(VENV)/installed
	$(BIN)/python -m fuzz $(ARGS)
