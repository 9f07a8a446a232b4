# SPDX-License-Identifier: GPL-2.0
# Etch: the verbs. "make help" lists them; each is a script in a folder of scripts/.

LANE ?= um
BENCH ?= gate
BASES := $(shell awk '/^[0-9]/ { print $$1 }' scripts/series/bases)
S := scripts

# The kernel, by its version: a line of scripts/series/bases.
export ETCH_BASE := $(BASE)
export LANE KDIR
# The word means something else to "make bisect".
mbox: export ETCH_FROM := $(FROM)

# The user's shell may have variables of these names; the scripts use them to pass words to
# each other.
unexport BASE OUT SOURCE M MORE ONLY WITHOUT LLVM CDPATH

help:
	@echo 'Etch, static tracing for Linux. Verbs:'
	@awk -F '## ' '/^#### / { printf "\n%s\n", substr($$0, 6) } \
		/^[a-z-]+:.*## / { sub(/:.*/, "", $$1); \
		printf "  make %-14s %s\n", $$1, $$2 }' Makefile
	@echo
	@echo 'Settings:'
	@echo '  LANE=um        which kernel; x86-64, ... (scripts/lab/lanes)'
	@echo '  BENCH=gate     what make bench measures: gate, enable, event, workload, readers,'
	@echo '                 readout, rest, consumers, recorders, rules, contexts, marks, probe,'
	@echo '                 user, bases; BENCH="gate um" in one lane alone'
	@echo '  CHECK=...      some lanes of make check alone: CHECK="series um", or LANE=um'
	@echo '  BASE=...       which kernel: $(BASES); made in build/, or in build/BASE'
	@echo '  KDIR=/path     a Linux tree of yours as its source'

#### Use

run: fetch tree		## build a kernel with Etch, boot it under load, show its events
	@$S/lab/run.sh demo

record: fetch tree	## the same kernel, load, and a binary trace of it in build/trace
	@$S/lab/fetch.sh ctf && $S/lab/run.sh record

shell: fetch tree	## the same kernel, and you in a shell inside
	@$S/lab/run.sh shell

apply:			## put the series on a kernel tree of yours, or make it newer: KDIR=/path
	@$S/series/apply.sh

unapply:		## take the series off that tree, whichever version it is: KDIR=/path
	@$S/series/apply.sh unapply

#### Develop

fetch:			## install the tools that are missing, unpack the kernel source
	@$S/lab/fetch.sh

tree: fetch		## bring build/linux up to date: source, series, our files
	@$S/series/tree.py build

build: fetch tree	## only build the kernel of LANE, in build/LANE
	@$S/lab/build.sh $(LANE)

dev: fetch		## build/linux-dev: a tree to edit the patches in, with quilt
	@$S/series/dev.sh

sync:			## copy changed files of ours into the trees under build/
	@$S/series/tree.py sync

refresh:		## write the patches from our files
	@$S/series/refresh.py

maintainers: fetch	## write Cc: lines into the messages of the patches
	@$S/series/maintainers.py

mbox:			## the series as mails in build/etch.mbox; FROM="Name <address>" signs them
	@FROM="$$ETCH_FROM" $S/series/mbox.py

forecast:		## what of the series does not fit the newest kernel, or KDIR=/path
	@$S/series/forecast.py

#### Prove

check: fetch		## every test that does not take hours; the last line counts them
	@$S/proof/check.py $(or $(CHECK),$(if $(filter command,$(origin LANE)),$(LANE)))

check-long: fetch	## the same, and kernels of more kinds (scripts/README.md): hours
	@$S/proof/check.py long

check-series: fetch	## files and patches agree, apply, and pass checkpatch
	@$S/series/check-series.py

lint: fetch tree	## what compiler, sparse, Coccinelle, checkpatch and others say of the sources
	@$S/lab/fetch.sh lint && $S/proof/lint/check.py

cocci-tree: fetch tree	## our Coccinelle rules on the whole kernel tree
	@$S/lab/fetch.sh lint && $S/proof/lint/whole.py

model: fetch		## exhaust the ring's protocol with SPIN, and show what each rule is for
	@$S/lab/fetch.sh model && $S/proof/model/check.py

litmus: fetch		## what the ring's barriers forbid, by the kernel's memory model
	@$S/lab/fetch.sh litmus && $S/proof/litmus/check.py

bisect: fetch		## build and boot each prefix of the series; ONLY=um, FROM=patch, TO=patch
	@$S/series/prefixes.py $(ONLY:%=--only %) $(FROM:%=--from %) $(TO:%=--to %)

bench: fetch tree	## measure a site's cost beside mainline's; BENCH=event, ...
	@$S/bench/bench.py $(BENCH)

size: fetch tree	## what an event and its sites add to a kernel; FULL=1: five whole kernels
	@$S/bench/size.sh

pictures: fetch tree	## the pictures of Documentation/gallery.rst, of a new recording
	@$S/proof/pictures.sh

#### Clean

clean:			## remove what was built; the kernel source stays
	@$S/lab/clean.sh

distclean:		## remove build/ altogether, and what was made beside it
	@$S/lab/clean.sh all

.NOTPARALLEL:

.PHONY: help run record shell check check-long apply unapply build fetch tree dev sync refresh \
	maintainers mbox forecast bisect check-series size bench lint cocci-tree model litmus clean \
	distclean pictures
