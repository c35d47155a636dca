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

.PHONY: demo app test test-browser test-oldest test-versions wheel lint docs bench paper fuzz fuzz-files fuzz-threads clean

demo: $(VENV)/installed
	$(BIN)/python -m ispca.demo

# The whole road in a browser, with only what it needs; ARGS="--port 8000 --no-browser" for more.
app: $(VENV)/app
	$(BIN)/python -m ispca app $(ARGS)

test: $(VENV)/installed $(VENV)/arrays
	$(PYTEST) tests paper --pyargs ispca

# What depends on the versions of Python and of the libraries: files, outputs, processes, threads, scikit-learn's checks.
VERSION_SENSITIVE := tests/commands tests/datasets tests/reduction tests/readers tests/models/test_engine.py \
    tests/models/test_engine_failures.py tests/penalized/test_estimator_checks.py tests/report/test_page.py \
    tests/test_anndata.py tests/test_atomic.py tests/test_cli.py tests/test_estimator_checks.py tests/test_minimal_install.py \
    tests/test_model_file_limits.py tests/test_packaging.py tests/test_persistence.py tests/validation/test_kill.py \
    tests/validation/test_fit_store.py tests/validation/test_time_limit.py tests/validation/test_runner.py

# For another Python: make test-versions PYTHON=python3.13 VENV=.venv-3.13
test-versions: $(VENV)/installed
	$(PYTEST) $(VERSION_SENSITIVE) --pyargs ispca

# The wheel with the oldest supported version of every library. Needs Python 3.11 or 3.12. Without the doctests, because
# NumPy 1 prints numbers differently.
OLDEST := $(VENV)-oldest
test-oldest: wheel
	$(BIN)/python -m venv --clear $(OLDEST)
	$(OLDEST)/bin/python -m pip install --quiet -c constraints-oldest.txt "$$(ls dist/*.whl)[test]"
	$(subst $(BIN),$(OLDEST)/bin,$(PYTEST)) $(VERSION_SENSITIVE)

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

# clang-tidy learns from build/lint how each file is compiled; nothing is built there.
lint: $(VENV)/lint-tools
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/clang-format --dry-run --Werror cpp/*
	$(BIN)/cmake -S . -B build/lint -DCMAKE_EXPORT_COMPILE_COMMANDS=ON -DPython_EXECUTABLE=$(abspath $(BIN))/python \
	    -Dnanobind_DIR=$$($(BIN)/python -m nanobind --cmake_dir) > /dev/null
	ls cpp/*.cpp | xargs -n 3 -P 2 $(BIN)/clang-tidy -p build/lint --quiet

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

$(VENV)/build-tools: $(VENV)/python constraints.txt
	$(PIP) install -c constraints.txt scikit-build-core nanobind cmake ninja
	touch $@

# Editable: Python files are used where they are, so that editing one installs nothing.
$(VENV)/dependencies: $(VENV)/build-tools pyproject.toml
	$(PIP) install $(BUILD) -c constraints.txt -e '.[test,test-survival]'
	touch $@

# Only the changed parts of the engine are compiled again, because the build folder stays. The installation lists the
# files of the package, so that it is made again when a folder has gained or lost one.
FOLDERS := $(shell find src -type d -not -name __pycache__)
$(VENV)/installed: $(VENV)/dependencies $(wildcard cpp/*) CMakeLists.txt $(FOLDERS)
	$(PIP) install $(BUILD) --no-deps -e .
	touch $@

# What the page needs, without the libraries of the tests.
$(VENV)/app: $(VENV)/build-tools pyproject.toml $(wildcard cpp/*) CMakeLists.txt $(FOLDERS)
	$(PIP) install $(BUILD) -c constraints.txt -e '.[app,plots]'
	touch $@

# By name, not by path: the package is there already, only the tools are added.
$(VENV)/lint-tools: $(VENV)/dependencies
	$(PIP) install -c constraints.txt 'ispca[lint]'
	touch $@

$(VENV)/arrays: $(VENV)/installed
	$(PIP) install -c constraints.txt 'ispca[test-arrays]'
	touch $@

$(VENV)/documenting: $(VENV)/installed
	$(PIP) install -c constraints.txt 'ispca[docs]'
	touch $@

clean:
	rm -rf .venv .venv-* build dist docs/_build docs/gallery docs/generated

# Random small problems through the engine: under AddressSanitizer and UndefinedBehaviorSanitizer (fuzz), or under
# ThreadSanitizer (fuzz-threads). Compiler warnings are errors here.
PROBLEMS ?= 10000
fuzz: SANITIZE := address,undefined
fuzz-threads: SANITIZE := thread
fuzz fuzz-threads: $(VENV)/build-tools
	$(BIN)/cmake -S . -B build/$@ -DISPCA_FUZZ=ON -DCMAKE_BUILD_TYPE=Release \
	    -DCMAKE_CXX_FLAGS="-fsanitize=$(SANITIZE) -fno-sanitize-recover=all -fno-omit-frame-pointer"
	$(BIN)/cmake --build build/$@ --parallel 2
	build/$@/fuzz $(PROBLEMS)

# Mutated data and model files; ARGS="--seconds 600 --seed 7" for more. What fails is kept in build/fuzz-files.
fuzz-files: $(VENV)/installed
	$(BIN)/python -m fuzz $(ARGS)
