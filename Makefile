# Two commands do all the set-up on a fresh machine: `make demo` and `make test`.
# Everything lives in .venv and out/; `make clean` removes both.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
OUT ?= out/demo

.PHONY: demo test check bench clean
.DELETE_ON_ERROR:

$(VENV)/ready: pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "goldsmith needs Python 3.11 or newer; name one with: make PYTHON=python3.12 ..."; exit 2; }
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip
	$(BIN)/python -m pip install --quiet -c constraints.txt -e '.[dev]'
	@touch $@

demo: $(VENV)/ready  ## build, check, document and release every dataset from its bundled sample
	@set -e; for name in $$($(BIN)/goldsmith list --names); do \
	  echo "== $$name"; \
	  $(BIN)/goldsmith build $$name --sample -o $(OUT)/$$name; \
	  $(BIN)/goldsmith check $(OUT)/$$name; \
	  $(BIN)/goldsmith card $(OUT)/$$name; \
	  $(BIN)/goldsmith release $(OUT)/$$name -o $(OUT)/releases/$$name; \
	done; \
	echo; echo "Reports to look at:"; ls $(OUT)/*/quality/report.html

test: $(VENV)/ready  ## run the tests
	$(BIN)/python -m pytest

check: $(VENV)/ready  ## formatting, lint, types, and who may import whom
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/lint-imports
	$(BIN)/pyright

clean:
	rm -rf $(VENV) out
