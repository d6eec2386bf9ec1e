# Everything here needs make and CPython 3.11 or newer; the rest comes from PyPI into $(VENV).
# A C++ compiler makes naively several times faster, and is not required.

PYTHON ?= python3
VENV ?= .venv
SETTINGS ?=# more settings for the build of the kernels
ARGS ?=# more arguments for pytest, mutants, faults, or the benchmarks
WITH ?=# what Python is started with, such as env NAME=value
JOBS ?= --numprocesses=auto
SEED ?=# what the examples of "make test-thorough" are drawn from; another one each time
SECONDS ?= 60# of each test of "make fuzz"
IN_NUMPY := $(patsubst %,tests/test_%.py,\
    laws cells kernels sparse sparse_total softmax newton strings read_strings repair_utf8 vocabulary word_arrays tokens \
    splitting dialects worked)
KERNEL_TESTS := $(patsubst %,tests/test_%.py,\
    kernels sparse sparse_total softmax newton vocabulary word_arrays tokens cells strings read_strings repair_utf8 string_texts splitting)

SPEED := --save benchmarks/results/speed.json --page docs/speed.md

BIN := $(VENV)/bin
MADE := $(VENV)/made
# Twice quiet: errors are shown, and neither warnings nor notices.
PIP := $(BIN)/python -m pip --quiet --quiet --disable-pip-version-check --no-input
BEGIN = mkdir -p $(MADE) && date +%s > $@.begun
END = touch $@ && echo "... done in $$(($$(date +%s) - $$(cat $@.begun))) s" && rm $@.begun

# The stamp's name says which kernels it stands for, so a compiler installed later is noticed.
COMPILER := $(shell command -v c++ || command -v g++ || command -v clang++)
NAIVELY := $(MADE)/naively-with-$(if $(COMPILER),native,numpy)-kernels

# Bytecode is kept wherever make is run: to compile the tests anew takes each of their processes 20 s.
export PYTHONDONTWRITEBYTECODE :=

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help more setup demo test test-rest test-all test-numpy test-spark test-browser test-thorough fuzz conformance mutants faults lint types bench bench-text bench-accuracy bench-data bench-engines bench-mail bench-serve bench-compare docs man js docs-links picture sanitize clean

# A line of help begins with ## where most people need the target, and else with #+.
LIST = sed -n 's/^\([a-z-]*\):.* $(1) \(.*\)/make \1\t\2/p' $(MAKEFILE_LIST) | expand -t 22

help:
	@$(call LIST,##)
	@echo 'make more lists the rest. With another Python: make PYTHON=python3.13 ... (after make clean)'

more:
	@$(call LIST,#+)

setup: $(NAIVELY) $(MADE)/test $(MADE)/lint ## install naively and all it is tested with into .venv

demo: $(NAIVELY) ## learn, score and explain real data, or yours: DATA=file.csv TARGET=column
	$(BIN)/naively demo $(if $(DATA),"$(DATA)") $(if $(TARGET),--target "$(TARGET)") $(ARGS)

test: $(NAIVELY) $(MADE)/test ## run one test of each kind, in five minutes; ARGS='-k forget' chooses
	$(WITH) $(BIN)/python -m pytest $(JOBS) --quick $(ARGS)

test-rest: $(NAIVELY) $(MADE)/test #+ run the tests that "make test" leaves out
	$(BIN)/python -m pytest $(JOBS) --rest $(ARGS)

# Only of the first are the lines counted: it runs nearly all, and to count costs a quarter of the time.
# In plain NumPy one test of a kind will do: that its numbers are those of the native kernels, the first two try.
test-all: #+ run all tests, list the lines that "make test" misses, and test counting in plain NumPy
	$(MAKE) test ARGS='--cov $(ARGS)'
	$(MAKE) test-rest ARGS='$(REST)'
	$(MAKE) test-numpy ARGS='--quick $(ARGS)'

test-numpy: $(NAIVELY) $(MADE)/test #+ run the tests of counting in plain NumPy
	NAIVELY_NATIVE=0 $(BIN)/python -m pytest $(JOBS) $(ARGS) $(IN_NUMPY)

test-spark: $(NAIVELY) $(MADE)/test-spark #+ run the tests of Spark; needs Java 17 or newer, and 0.5 GB
	$(BIN)/python -m pytest -p no:xdist $(ARGS) tests/spark

test-browser: $(NAIVELY) $(MADE)/test-browser #+ test the report and the pages in a real browser; needs Chromium
	$(BIN)/python -m pytest $(JOBS) $(ARGS) tests/browser

test-thorough: export HYPOTHESIS_PROFILE := thorough
test-thorough: SEED := $(or $(SEED),$(shell date +%s))
test-thorough: $(NAIVELY) $(MADE)/test #+ run the tests of random examples with many more; SEED=n repeats a run
	@echo 'To draw the same examples again: make test-thorough SEED=$(SEED)'
	$(BIN)/python -m pytest $(JOBS) -m hypothesis --hypothesis-seed=$(SEED) $(ARGS)

fuzz: export FUZZ_SECONDS := $(SECONDS)
fuzz: export FUZZ_SEED := $(or $(FUZZ_SEED),$(shell date +%s))
fuzz: $(NAIVELY) $(MADE)/test #+ try hostile inputs, each test for SECONDS=60; FUZZ_SEED=n repeats one
	@echo 'The first seed is $(FUZZ_SEED).'
	$(BIN)/python -m pytest $(JOBS) $(ARGS) tests/fuzz

conformance: $(NAIVELY) $(MADE)/test #+ run scikit-learn's own tests of naive Bayes on the drop-ins
	$(BIN)/python -m tests.conformance $(ARGS)

mutants: $(NAIVELY) $(MADE)/test $(MADE)/mutants #+ plant 300 small changes and count those that the tests notice; an hour, ARGS=--help
	$(BIN)/python -m tests.mutants $(ARGS)

faults: $(NAIVELY) $(MADE)/test #+ plant named faults, each of which the tests must notice
	$(BIN)/python -m tests.mutants.faults $(ARGS)

lint: $(NAIVELY) $(MADE)/lint ## check style, format and the layers of imports
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/lint-imports

types: $(NAIVELY) $(MADE)/test $(MADE)/lint ## check the types
	$(BIN)/mypy

bench: $(NAIVELY) $(MADE)/bench ## measure speed beside scikit-learn and others, and write docs/speed.md
	$(BIN)/python -m benchmarks.speed $(ARGS) $(SPEED)

bench-text: $(NAIVELY) $(MADE)/bench #+ measure speed on texts, beside scikit-learn and, where installed, fastText and others
	$(BIN)/python -m benchmarks.speed newsgroups texts words learners $(ARGS) $(SPEED)

bench-accuracy: $(NAIVELY) $(MADE)/bench #+ measure accuracy and calibration beside peers; FOLDER=of/csvs, ARGS=--text
	$(BIN)/python -m benchmarks.accuracy $(if $(FOLDER),"$(FOLDER)") $(ARGS)

bench-data: $(NAIVELY) $(MADE)/bench #+ measure the way from frames and files to a model; ARGS='polars --rows 100000'
	$(BIN)/python -m benchmarks.data $(ARGS)

bench-engines: $(NAIVELY) $(MADE)/bench $(MADE)/test #+ measure counting and scoring in databases; ARGS='scoring --rows 1000000'
	$(BIN)/python -m benchmarks.engines $(ARGS)

bench-mail: $(NAIVELY) $(MADE)/bench $(MADE)/test #+ measure the mail filter, beside bogofilter where it is installed, and its daemon
	$(BIN)/python -m benchmarks.mail
	$(BIN)/python -m benchmarks.mail_daemon
	$(BIN)/python -m benchmarks.mail_years

bench-serve: $(NAIVELY) $(MADE)/test #+ measure naively serve under load: requests a second, latency
	$(BIN)/python -m benchmarks.serve $(ARGS)

bench-compare: $(NAIVELY) $(MADE)/bench #+ measure what became slower or larger since BASE=commit; ARGS=words of the cases
	$(BIN)/python -m benchmarks.compare $(or $(BASE),$(error Say BASE=commit, what to compare with)) $(ARGS)

docs: $(NAIVELY) $(MADE)/docs ## build the documentation into docs/_build/html
	$(BIN)/python -m sphinx -W --keep-going --quiet docs docs/_build/html

man: $(NAIVELY) #+ write the manual pages into docs/_build/man
	$(BIN)/python tools/man_pages.py docs/_build/man

js: #+ pack the scorer in JavaScript, with its types, into build/js; needs npm
	rm -rf build/js
	$(PYTHON) tools/npm_package.py build/js
	cd build/js && npm pack

picture: $(NAIVELY) $(MADE)/test #+ draw the picture of the README again
	$(BIN)/python docs/picture.py

docs-links: $(NAIVELY) $(MADE)/docs #+ check the outward links of the documentation; needs a network
	$(BIN)/python -m sphinx -b linkcheck --keep-going --quiet docs docs/_build/links

# Python itself is not built with the sanitizers, so their library must be loaded before it; and
# what Python keeps until it exits is no leak of the kernels.
sanitize: #+ run the kernels' tests under AddressSanitizer and UBSan (g++)
	$(MAKE) test VENV=build/sanitize \
	    SETTINGS=--config-settings=cmake.define.NAIVELY_SANITIZE=ON \
	    WITH="env ASAN_OPTIONS=detect_leaks=0 LD_PRELOAD='$$(g++ -print-file-name=libasan.so) \
	    $$(g++ -print-file-name=libstdc++.so)'" \
	    JOBS= ARGS='--rest -p no:cacheprovider $(KERNEL_TESTS)'

clean: ## remove everything that make has made
	rm -rf .venv build dist docs/_build docs/gallery docs/reference/api docs/reference/verbs .coverage* .pytest_cache .mypy_cache .ruff_cache \
	    .import_linter_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

$(MADE)/python:
	@$(PYTHON) -c 'import sys; sys.version_info >= (3, 11) or sys.exit("naively needs CPython \
	3.11 or newer, and $(PYTHON) is " + sys.version.split()[0] + "; try: make PYTHON=python3.13")'
	@$(PYTHON) -c 'import ensurepip' || \
	    { echo 'This Python cannot make environments; on Debian: apt install python3-venv'; exit 1; }
	@$(BEGIN)
	@echo 'Making $(VENV) ...'
	@$(PYTHON) -m venv $(VENV)
	@$(PIP) install --upgrade 'pip>=25.1'
	@$(END)

# Editable, so that changes in Python need nothing; changes in C++ run this again. Building
# outside pip's isolated environment recompiles only what changed.
$(NAIVELY): $(MADE)/python pyproject.toml CMakeLists.txt $(wildcard src/native/*)
	@$(BEGIN)
	@echo 'Installing naively and what it needs from PyPI into $(VENV); this may take some minutes ...'
	@$(PIP) install $$($(BIN)/python -c "import tomllib; \
	    print(*tomllib.load(open('pyproject.toml', 'rb'))['build-system']['requires'])")
	@$(PIP) install scikit-build-core $$($(BIN)/python -c "import scikit_build_core.build as build; \
	    print(*build.get_requires_for_build_editable())")
	@rm -f $(VENV)/build/CMakeCache.txt
	@$(PIP) install --no-build-isolation --editable . \
	    --config-settings=build-dir=$(VENV)/build $(SETTINGS)
	@$(WITH) $(BIN)/python -c 'import naively; naively.show_config()'
	@$(END)

$(MADE)/test $(MADE)/test-spark $(MADE)/test-browser $(MADE)/lint $(MADE)/docs $(MADE)/bench $(MADE)/mutants: $(MADE)/%: $(MADE)/python pyproject.toml | $(NAIVELY)
	@$(BEGIN)
	@echo 'Installing what "make $*" needs ...'
	@$(PIP) install --group $*
	@$(END)
