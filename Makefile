# Every target sets itself up: a virtual environment in .venv with the pinned tools.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
SOURCES := $(shell find src -name '*.py' -o -path '*/report/page/*' -type f) $(wildcard cpp/*) CMakeLists.txt pyproject.toml README.md constraints.txt

# Real data lies beside the project in development and in CI; tests that need it skip elsewhere.
ifneq ($(wildcard ../shared/data),)
export ISPCA_DATA ?= $(abspath ../shared/data)
endif

.PHONY: demo test test-browser lint docs bench paper fuzz fuzz-files clean

demo: $(VENV)/installed
	$(BIN)/python -m ispca.demo

test: $(VENV)/installed
	$(BIN)/python -m pytest tests paper --pyargs ispca

# The report in a real browser; installs Debian's chromium where there is none.
test-browser: $(VENV)/browser
	ISPCA_BROWSER_TESTS=1 $(BIN)/python -m pytest tests/browser

$(VENV)/browser: $(VENV)/installed
	.ci/chromium
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt playwright axe-playwright-python
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

# The paper's figures and tables, for example ARGS="toy scatter"; without ARGS all of them, which takes over an hour.
paper: $(VENV)/installed
	$(BIN)/python -m paper $(ARGS)

$(VENV)/python:
	$(PYTHON) -m venv $(VENV)
	touch $@

$(VENV)/installed: $(VENV)/python $(SOURCES)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt '.[test,lint]'
	touch $@

# By name, not by path: the package is there already, only the tools are added.
$(VENV)/documenting: $(VENV)/installed
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt 'ispca[docs]'
	touch $@

clean:
	rm -rf $(VENV) build dist docs/_build docs/gallery docs/generated

# 10,000 random small problems through the engine under AddressSanitizer and UndefinedBehaviorSanitizer.
SANITIZE := -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer
CMAKE := $(shell command -v cmake 2>/dev/null || echo $(BIN)/cmake)
fuzz: $(VENV)/python
	command -v $(CMAKE) >/dev/null || $(BIN)/python -m pip install --quiet --disable-pip-version-check cmake
	$(CMAKE) -S . -B build/fuzz -DISPCA_FUZZ=ON -DCMAKE_BUILD_TYPE=Release -DCMAKE_CXX_FLAGS="$(SANITIZE)"
	$(CMAKE) --build build/fuzz
	build/fuzz/fuzz 10000

# Mutated data and model files; ARGS="--seconds 600 --seed 7" for more. What fails is kept in build/fuzz-files.
fuzz-files: $(VENV)/installed
	$(BIN)/python -m fuzz $(ARGS)
