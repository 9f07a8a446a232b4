#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Would the targets notice? Take one rule at a time out of a copy of what they fuzz, and see
# that one fails, beginning with the seeds alone. Prints TAP.
#
#	mutants.sh SOURCES TOOL LIB HEADERS [PATTERN]
#
# FUZZ_SECONDS=n says how long each is tried. With MUTANTS=look, see only that each rule is
# still in the source.

# The dollars are perl's:
# shellcheck disable=SC2016

src=$1
tool=$2
lib=$3
headers=$4
only=${5:-.}
seconds=${FUZZ_SECONDS:-40}
cd "$(dirname "$0")" || exit 1
headers=$(cd "$headers" && pwd) || exit 1
. ../mutants.sh

# In folders of the same names, but with the objects elsewhere.
copy() {
	rm -rf "${work:?}/src" "${work:?}/tool" "${work:?}/lib"
	mkdir -p "$work/src" "$work/tool" "$work/lib"
	(cd "$src" && cp --parents ./*/*.[ch] "$work/src")
	(cd "$tool" && cp --parents ./*/*.[ch] "$work/tool")
	cp "$lib/glob.c" "$work/lib"
}

compiles() { # target
	rm -f "$work/out/$1"
	make -s SRC="$work/src" RECORD="$work/tool/record" TOOL="$work/tool" LIB="$work/lib" OUT="$work/out" \
		"$work/out/$1" > "$work/make.log" 2>&1
}

passes() { # target, seconds
	[ -d "$work/seeds/$1" ] || python3 seeds.py "$1" "$work/seeds/$1" "$headers" >/dev/null
	"$work/out/$1" -seed=1 -max_total_time="$2" -timeout=20 -max_len=8192 -dict=words \
		-artifact_prefix="$work/" "$work/seeds/$1" > "$work/$1.log" 2>&1
}

mutant() { # target, what is wrong with it, file, perl expression
	echo "$1: $2" | grep -q "$only" || return
	change "$1 $2" "$3" "$4" || return
	if ! compiles "$1"; then
		say "not ok" "$1 $2: does not compile"
	elif passes "$1" "$seconds"; then
		say "not ok" "$1 $2: nobody notices"
	else
		say ok "$1 $2: noticed"
	fi
}

# A target that fails anyway notices nothing.
copy
for target in print_fmt metadata settings events repair trace; do
	[ -z "$look" ] || continue
	echo "$target" | grep -q "${only%%:*}" || continue
	if compiles "$target" && passes "$target" 10; then
		say ok "$target the source as it is: passes"
	else
		say "not ok" "$target the source as it is: does not compile, or fails"
	fi
done

# What a pattern names
mutant events "names a system only with a colon" src/event/gate.c \
	's/ \|\|\n\t\t       glob_match\(pattern->name, event->class->system\)//'
mutant events "names nothing by SYSTEM:" src/event/gate.c \
	's/!\*pattern->name \|\| //'
mutant events "takes an event of any system" src/event/gate.c \
	's/if \(!glob_match\(pattern->system, event->class->system\)\)/if (0)/'
mutant events "finds what is hidden" src/event/gate.c \
	's/!event->hidden && etch_pattern_names/etch_pattern_names/'
mutant events "enables what is hidden" src/event/gate.c \
	's/if \(event->hidden\)/if (0)/'
mutant events "has no ranges" lib/glob.c \
	's/class\[0\] == .-. && class\[1\] != .\]./0/'
mutant events "sees no class inverted" lib/glob.c \
	's/inverted = \(\*pat == .!.\)/inverted = false/'
mutant events "ends a class at its first bracket" lib/glob.c \
	's/\} while \(\(a = \*class\+\+\) != .\].\);/} while (a != 93 \&\& (a = *class++) != 93);/'
mutant events "takes a bracket that nothing closes for a class" lib/glob.c \
	's/if \(a == .\\0.\)\t\/\* Malformed \*\/\n\t+goto literal;/if (!a)\n\t\t\t\t\treturn false;/'
mutant events "goes back to no star" lib/glob.c \
	's/if \(c == .\\0. \|\| !back_pat\)/if (1)/'

# All events that the words name, or none
mutant events "looks at no word first" src/tree/set_event.c \
	's/ \?: etch_choice_words\(c\);/;/'
mutant events "replaces before it looks" src/tree/set_event.c \
	's/(\tret = etch_choice_make\(&c\);)/\tif (sel->replace)\n\t\tetch_events_disable_all(\&in->inst->rec);\n$1/'
mutant events "restores nothing" src/tree/set_event.c \
	's/\t\tetch_enabled_restore\(inst, saved\);\n\t\}\n/\t}\n/'
mutant events "restores what was beside it" src/tree/enable.c \
	's/at->event = list_next_entry\(at->event, node\);\n\t\tat->i\+\+;/at->event = list_next_entry(at->event, node);\n\t\tat->i += !at->event->hidden;/'
mutant events "enables what is behind a !" src/tree/set_event.c \
	's/(if \(\*word == .!.\)\n\t\treturn) ETCH_DISABLE;/$1 ETCH_ENABLE;/'
mutant events "blames no word with a glob" src/tree/set_event.c \
	's/return etch_recorder_takes\(rec, event\) && !etch_event_enabled\(rec, event\);/return false;/'
mutant events "lets the first word decide" src/event/gate.c \
	's/if \(notes\)/if (notes \&\& !notes[i])/'
mutant events "blames the first word" src/tree/set_event.c \
	's/return etch_choice_word\(c, event\);\n\treturn/return c->in->text;\n\treturn/'
mutant events "takes an empty name behind a !" src/tree/set_event.c \
	's/if \(!ret \|\| !word\[not\]\)/if (!ret \&\& word[not])/'
mutant events "says a fault is where the word begins" src/tree/set_event.c \
	's/return system \? colon \+ 1 - word : 0;/return 0;/'
mutant events "forgets the ! when it says where" src/tree/set_event.c \
	's/at \+ not \+ etch_word_fault/at + etch_word_fault/'
mutant events "replaces at each write" src/tree/set_event.c \
	's/sel->replace = false;/;/'
mutant events "loses the selection to a typo" src/tree/set_event.c \
	's/sel->replace && !sel->failed/sel->replace/'
mutant events "goes on though killed" src/tree/set_event.c \
	's/return -EINTR;/return 0;/'
mutant events "keeps a word for ever" src/tree/set_event.c \
	's/\t\tkfree\(word\);\n//'
mutant events "keeps a pattern for ever" src/event/gate.c \
	's/\tkfree\(pattern.copy\);\n\treturn pattern.named/\treturn pattern.named/'
mutant events "lists what is hidden" src/tree/set_event.c \
	's/!event->hidden && etch_event_enabled/etch_event_enabled/'

# And the gates
mutant events "leaves changes waiting" src/event/gate.c \
	's/(err = err \?: ret;\n\t\}\n\tret = )etch_flush_changes\(\)(;\n\treturn err \?: ret;\n\}\n\nstatic enum)/${1}0$2/'
mutant events "lets more changes wait than there is room for" src/event/gate.c \
	's/etch_nr_changes < TRACEPOINT_SET_MAX \?/etch_nr_changes <= TRACEPOINT_SET_MAX ?/'
mutant events "opens gates for an instance that is off" src/event/gate.c \
	's/etch_rules_gate\(event, mask & etch_on\);/etch_rules_gate(event, mask);/'
mutant events "has it that what refused was enabled" src/event/gate.c \
	's/if \(!ret\)\n\t\tevent->mask = mask;/event->mask = mask;/'
mutant events "records what its region has no room for" src/event/gate.c \
	's/return rec->admit \? rec->admit\(rec, event\) : 0;/return 0;/'
mutant events "is half on when it could not be" src/event/gate.c \
	's/etch_on = old;\n\t\tetch_follow_on\(bit\);/etch_on = old;/'

# At boot
mutant events "writes behind the list" src/tree/boot.c \
	's/sizeof\(etch_boot_list\) - len, /sizeof(etch_boot_list), /'
mutant events "has one list of events at boot" src/tree/boot.c \
	's/size_t len = strlen\(etch_boot_list\);/size_t len = 0;/'
mutant events "takes blanks for names" src/tree/boot.c \
	's/strsep\(&list, ", "\)/strsep(\&list, ",")/'
mutant events "stops at a name that is none" src/tree/boot.c \
	's/(pr_warn\("etch_event=%s)/return; $1/'

# What a panic dumps
mutant settings "has the first word count" src/text/dump.c \
	's/if \(word != ETCH_DUMP_SILENT\)/if (word != ETCH_DUMP_SILENT \&\& wish == ETCH_DUMP_NOT)/'
mutant settings "takes back nothing by a 0" src/text/dump.c \
	's/if \(word != ETCH_DUMP_SILENT\)/if (word != ETCH_DUMP_SILENT \&\& word != ETCH_DUMP_NOT)/'
mutant settings "takes the beginning of a name" src/text/dump.c \
	's/strlen\(name\) != own \|\| //'
mutant settings "knows the first word only" src/text/dump.c \
	's/if \(!text\[len\]\)\n\t\t\treturn wish;/return wish;/'
mutant settings "takes anything behind an equals sign" src/text/dump.c \
	's/ \|\| \(equal && etch_dump_how\(equal \+ 1, len - own - 1\) == ETCH_DUMP_BAD\)//'
mutant settings "takes an empty word" src/text/dump.c \
	's/if \(!own \|\| /if (/'
mutant settings "cuts a setting that is too long" src/text/dump.c \
	's/if \(strlen\(text\) >= ETCH_DUMP_MAX\)/if (0)/'
mutant settings "dumps all CPUs" src/text/dump.c \
	's/wishes\[bit\] == ETCH_DUMP_ORIG \?\n\t\t\t\t\t   smp_processor_id\(\) : ETCH_ALL_CPUS/ETCH_ALL_CPUS/'
mutant settings "leaves an instance on while it is dumped" src/text/dump.c \
	's/WRITE_ONCE\(inst->on, false\);//'
mutant settings "forgets the main tree before a comma" src/text/dump.c \
	's/"1%s", text/"%s", text + 1/'
mutant settings "boots with what it does not understand" src/text/dump.c \
	's/strscpy\(etch_dump_text, "0"\);/;/'
mutant settings "dumps no line" src/text/dump.c \
	's/ \|\| !lines\)/)/'
mutant settings "keeps room that it has no use for" src/text/dump.c \
	's/kvfree\(room\);\n\t\treturn -ENOMEM/return -ENOMEM/'

# Other settings
mutant settings "takes more than 100 percent" src/tree/control.c \
	's/percent > 100\)/percent > 101)/'
mutant settings "lets KiB overflow" src/tree/control.c \
	's/kb > ULONG_MAX >> 10\)/0)/'
mutant settings "has room for half of the text written" src/instance/input.c \
	's/len \+ 1\), GFP_KERNEL/len \/ 2), GFP_KERNEL/'
mutant settings "takes what is behind a zero for nothing" src/instance/input.c \
	's/strlen\(in->text\) \+ 1 < len/0/'
mutant settings "offers no files of text" src/text/files.c \
	's/\tetch_tree_offer\(&etch_text_files\);\n//'
mutant settings "has a caret that does not know of escapes" src/instance/error_log.c \
	's/caret = end - shown;/caret = at;/'
mutant settings "shows all of the wrong text" src/instance/error_log.c \
	's/min\(len - at, ETCH_ERROR_BYTES - \(at - from\)\)/len - at/'
mutant settings "remembers for ever" src/instance/error_log.c \
	's/kfree\(error->text\);//'

# Metadata
mutant metadata "has quotes in a name" src/ctf/metadata.c \
	's/"\\"\\\\\\n\\r\\t"/"\\\\\\n\\r\\t"/'
mutant metadata "has line feeds in a name" src/ctf/metadata.c \
	's/"\\"\\\\\\n\\r\\t"/"\\"\\\\\\r\\t"/'
mutant metadata "does not escape what escapes" src/ctf/metadata.c \
	's/"\\"\\\\\\n\\r\\t"/"\\"\\n\\r\\t"/'
mutant metadata "confuses release and version" src/ctf/metadata.c \
	's/"kernel_version", uts->version/"kernel_version", uts->release/'
mutant metadata "does not end the environment" src/ctf/metadata.c \
	's/metadata_generation = %u;\\n\};\\n/metadata_generation = %u;\\n/'
mutant metadata "ends a line no more" src/ctf/metadata.c \
	's/\};\\n"\);\n\}/};");\n}/'
mutant metadata "describes an event twice" src/ctf/metadata.c \
	's/\*pos = event->id;/;/'
mutant metadata "forgets the last id" src/ctf/metadata.c \
	's/\*pos > ETCH_ID_MAX/*pos >= ETCH_ID_MAX/'
mutant metadata "has another uuid" src/ctf/metadata.c \
	's/md->uuid = inst->uuid/md->uuid = inst->origin.uuid/'
mutant metadata "keeps the file for ever" src/ctf/metadata.c \
	's/etch_metadata_free\(\(\(struct seq_file \*\)file->private_data\)->private\);//'
mutant metadata "has times before 1970 wrong" src/ctf/metadata_clock.c \
	's/if \(ns < 0\)/if (0)/'
mutant metadata "has nanoseconds for ticks" src/ctf/metadata_clock.c \
	's/mul_u64_u64_div_u64\(ns, origin->hz, NSEC_PER_SEC\)/(u64)ns/'
mutant metadata "has numbers for times" src/ctf/metadata_clock.c \
	's/str_true_false\(etch_clock_in_ns\(clock\)\)/"true"/'
mutant metadata "has an origin each" src/ctf/metadata_clock.c \
	's/if \(!etch_origins\[clock\].origin.known \|\|/if (1 ||/'
mutant metadata "does not see that the clock was set" src/ctf/metadata_clock.c \
	's/etch_origins\[clock\].real != real \|\|/0 ||/'

# Print formats
mutant print_fmt "ends a literal at any quote" src/event/enums.c \
	's/if \(text\[len\] == .\\\\. && text\[len \+ 1\]\)/if (0)/'
mutant print_fmt "reads behind a backslash at the end" src/event/enums.c \
	's/ && text\[len \+ 1\]\)/)/'
mutant print_fmt "cuts a format with long numbers" src/event/enums.c \
	's/if \(!seq_buf_has_overflowed\(&s\)\)/if (1)/'
mutant print_fmt "takes what does not end for a name" src/ctf/metadata_labels.c \
	's/label->len && \*at == .\}. \?/label->len ?/'
mutant print_fmt "opens a block for no name" src/ctf/metadata_types.c \
	's/"\\n\\t\\t\}"/"\\n\\t\\t"/'
mutant print_fmt "lets more operators wait than there is room for" src/ctf/metadata_expr.c \
	's/x->nr_ops == ETCH_EXPR_OPS/0/'

# Repair
mutant repair "leaves half a packet" tool/record/repair.c \
	's/at != size && ftruncate/at > size \&\& ftruncate/'
mutant repair "takes any header" tool/record/repair.c \
	's/pump_header_ok\(header\) && //'

# The reader of traces
mutant trace "takes a packet that is smaller than its content" tool/read/stream.c \
	's/h->packet_size >= h->content_size && //'
mutant trace "knows no largest packet" tool/read/stream.c \
	's/ && h->packet_size <= 8ULL \* STREAM_PACKET//'
mutant trace "takes padding that is not there for read" tool/read/stream.c \
	's/whole \? h.packet_size \/ 8 : s->have - s->at;/h.packet_size \/ 8;/'
mutant trace "takes a packet without its end for whole" tool/read/stream.c \
	's/!whole && s->have - s->at < h.content_size \/ 8/0/'
mutant trace "counts nothing as cut off" tool/read/stream.c \
	's/s->cpu->cut = s->have - s->at;/s->cpu->cut = 0;/'
mutant trace "goes back in time with a packet" tool/read/stream.c \
	's/h.timestamp_begin > s->time \? h.timestamp_begin : s->time/h.timestamp_begin/'
mutant trace "goes back in time when all bits wrap" tool/read/stream.c \
	's/if \(time < s->time\) \{/if (0) {/'
mutant trace "has fields behind the content" tool/read/stream.c \
	's/if \(end > left\)\n\t\treturn 0;/;/'
mutant trace "lets text begin anywhere" tool/read/stream.c \
	's/start < event->size \|\| start \+ len > left/0/'
mutant trace "lets text end anywhere" tool/read/stream.c \
	's/ \|\| start \+ len > left//'
mutant trace "does not count text to the record" tool/read/stream.c \
	's/\t\t\tend = start \+ len;/\t\t\t;/'
mutant trace "counts from the record where it is from the field" tool/read/stream.c \
	's/start \+= field->offset \+ 4;/;/'
mutant trace "forgets that text has a place of its own" tool/read/layout.c \
	's/event->dynamic \|= field->where != ETCH_FIXED;/;/'
mutant trace "lets a field begin anywhere" tool/read/layout.c \
	's/field->offset > LAYOUT_SIZE \|\| //'
mutant trace "lets a field be of any size" tool/read/layout.c \
	's/ \|\| field->size > LAYOUT_SIZE//'

finish
