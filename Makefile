# SPDX-License-Identifier: GPL-2.0
# Etch: the verbs. "make help" lists them; each is a script in scripts/.

LANE ?= um
BENCH ?= gate
S := scripts

export LANE KDIR

# The user's shell may have variables of these names; the scripts use them to pass words to
# each other.
unexport OUT SOURCE M MORE ONLY WITHOUT LLVM CDPATH

help:
	@echo 'Etch, static tracing for Linux 6.12. Verbs:'
	@awk -F '## ' '/^#### / { printf "\n%s\n", substr($$0, 6) } \
		/^[a-z-]+:.*## / { sub(/:.*/, "", $$1); \
		printf "  make %-14s %s\n", $$1, $$2 }' Makefile
	@echo
	@echo 'Settings:'
	@echo '  LANE=um        which kernel; x86-64, ... (scripts/lanes)'
	@echo '  BENCH=gate     what make bench measures: gate, enable, event, workload, readers,'
	@echo '                 readout; BENCH="gate um" in one lane alone'
	@echo '  CHECK=...      some lanes of make check alone: CHECK="series um", or LANE=um'
	@echo '  KDIR=/path     a Linux 6.12.y tree of yours as the base'

#### Use

run: fetch tree		## build a kernel with Etch, boot it under load, show its events
	@$S/run.sh demo

record: fetch tree	## the same kernel, load, and a binary trace of it in build/trace
	@$S/fetch.sh ctf && $S/run.sh record

shell: fetch tree	## the same kernel, and you in a shell inside
	@$S/run.sh shell

apply:			## put the series on a kernel tree of yours, or make it newer: KDIR=/path
	@$S/apply.sh

unapply:		## take the series off that tree, whichever version it is: KDIR=/path
	@$S/apply.sh unapply

#### Develop

fetch:			## install the tools that are missing, unpack the kernel source
	@$S/fetch.sh

tree: fetch		## bring build/linux up to date: source, series, our files
	@$S/tree.py build

build: fetch tree	## only build the kernel of LANE, in build/LANE
	@$S/build.sh $(LANE)

dev: fetch		## build/linux-dev: a tree to edit the patches in, with quilt
	@$S/dev.sh

sync:			## copy changed files of ours into the trees under build/
	@$S/tree.py sync

refresh:		## write the patches from our files
	@$S/refresh.py

maintainers: fetch	## write Cc: lines into the messages of the patches
	@$S/maintainers.py

mbox:			## the series as mails with a cover letter, in build/etch.mbox
	@mkdir -p build && $S/mbox.py

#### Prove

check: fetch		## every test that does not take hours; the last line counts them
	@$S/check.py $(or $(CHECK),$(if $(filter command,$(origin LANE)),$(LANE)))

check-long: fetch	## the same, and kernels of more kinds (scripts/README.md): hours
	@$S/check.py long

check-series: fetch	## files and patches agree, apply, and pass checkpatch
	@$S/check-series.py

lint: fetch tree	## what compiler, sparse, Coccinelle, checkpatch and others say of the sources
	@$S/fetch.sh lint && $S/lint/check.py

cocci-tree: fetch tree	## our Coccinelle rules on the whole kernel tree
	@$S/fetch.sh lint && $S/lint/whole.py

model: fetch		## exhaust the ring's protocol with SPIN, and show what each rule is for
	@$S/fetch.sh model && $S/model/check.py

litmus: fetch		## what the ring's barriers forbid, by the kernel's memory model
	@$S/fetch.sh litmus && $S/litmus/check.py

bisect: fetch		## build and boot each prefix of the series; ONLY=um, FROM=patch, TO=patch
	@$S/prefixes.py $(ONLY:%=--only %) $(FROM:%=--from %) $(TO:%=--to %)

bench: fetch tree	## measure a site's cost beside mainline's; BENCH=event, ...
	@$S/bench.py $(BENCH)

size: fetch tree	## what an event and its sites add to a kernel; FULL=1: five whole kernels
	@$S/size.sh

#### Clean

clean:			## remove what was built; the kernel source stays
	@$S/clean.sh

distclean:		## remove build/ altogether, and what was made beside it
	@$S/clean.sh all

.NOTPARALLEL:

.PHONY: help run record shell check check-long apply unapply build fetch tree dev sync refresh \
	maintainers mbox bisect check-series size bench lint cocci-tree model litmus clean \
	distclean
