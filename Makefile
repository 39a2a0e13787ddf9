# Two commands do all the set-up on a fresh machine: `make demo` and `make test`.
# Everything lives in .venv and out/ (servers that tests talk to, in .venv-*); `make clean` removes all.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
OUT ?= out/demo

LABEL_STUDIO := .venv-label-studio
S3_SERVER := .venv-s3-server

.PHONY: demo test test-slow check bench clean label-studio s3-server oracles
.DELETE_ON_ERROR:

$(VENV)/ready: pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "goldsmith needs Python 3.11 or newer; name one with: make PYTHON=python3.12 ..."; exit 2; }
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip
	$(BIN)/python -m pip install --quiet -c constraints.txt -e '.[dev]'
	@touch $@

# A sample with planted defects that stop a release has waivers for them beside it: its check fails, and it is released.
demo: $(VENV)/ready  ## build, check, document and release every dataset from its bundled sample
	@rm -rf $(OUT)/releases
	@set -e; for name in $$($(BIN)/goldsmith list --names); do \
	  echo "== $$name"; \
	  waivers=builders/$$name/sample/waivers.toml; \
	  $(BIN)/goldsmith build $$name --sample -o $(OUT)/$$name; \
	  $(BIN)/goldsmith check $(OUT)/$$name || [ $$? = 1 -a -f $$waivers ]; \
	  $(BIN)/goldsmith card $(OUT)/$$name; \
	  if [ -f $$waivers ]; then set -- --waivers $$waivers; else set --; fi; \
	  $(BIN)/goldsmith release $(OUT)/$$name -o $(OUT)/releases/$$name "$$@"; \
	done; \
	echo "== webspatial: some of its pages again, in a browser"; \
	$(BIN)/python -m builders.webspatial try -o $(OUT)/webspatial-again; \
	$(BIN)/python -m builders.webspatial gallery $(OUT)/webspatial -o $(OUT)/webspatial-gallery.html; \
	echo; echo "Reports to look at:"; ls $(OUT)/*/quality/report.html

test: $(VENV)/ready  ## run the tests, all but those that need a browser or a Label Studio
	$(BIN)/python -m pytest

test-slow: $(VENV)/ready  ## tests against a real Chromium, Label Studio, Ray cluster and S3 server; they say what they need
	$(BIN)/python -m pytest -m "chromium or gamma or hub or labelstudio or ray or s3"

label-studio: $(LABEL_STUDIO)/ready  ## a real Label Studio for the tests of audits (1 GB; an environment of its own)

$(LABEL_STUDIO)/ready:
	$(PYTHON) -m venv $(LABEL_STUDIO)
	$(LABEL_STUDIO)/bin/python -m pip install --quiet 'label-studio>=1.20,<2'
	@touch $@

s3-server: $(S3_SERVER)/ready  ## a server that speaks S3, for tests (its libraries are not of the versions that ours are)

$(S3_SERVER)/ready:
	$(PYTHON) -m venv $(S3_SERVER)
	$(S3_SERVER)/bin/python -m pip install --quiet 'moto[s3]>=5.1,<6' flask flask-cors
	@touch $@

oracles: $(VENV)/ready  ## libraries that statistics are compared with, and gamma for spans; tests skip without them
	$(BIN)/python -m pip install --quiet -c constraints.txt -e '.[oracles,audit-gamma]'

check: $(VENV)/ready  ## formatting, lint, types, and who may import whom
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/lint-imports
	$(BIN)/pyright

clean:
	rm -rf $(VENV) $(LABEL_STUDIO) $(S3_SERVER) out
