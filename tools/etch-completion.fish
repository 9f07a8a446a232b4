# SPDX-License-Identifier: GPL-2.0
#
# What fish completes behind "etch" and "etch-record": verbs, options, events, presets, formats
# and folders. It asks the program, so it offers what that program has.
#
# "make install" puts it where fish finds it; or: source etch-completion.fish

# Runs the program that the line begins with.
function __etch_run
    set -l words (commandline -opc)
    set -l program (string replace -r -- '-record$' '' $words[1])
    $program $argv
end

function __etch_verb
    set -l words (commandline -opc)
    if string match -q -- '*etch-record' $words[1]
        echo record
    else if set -q words[2]
        echo $words[2]
    end
end

# Is the word at the cursor the verb?
function __etch_first
    set -l words (commandline -opc)
    test (count $words) -eq 1; and not string match -q -- '*etch-record' $words[1]
end

# Is it the value of option $argv[2], of verb $argv[1]?
function __etch_value
    set -l words (commandline -opc)
    string match -q -- $argv[1] (__etch_verb); and test "$words[-1]" = "$argv[2]"
    and not contains -- -- $words
end

# Behind -- is a command of the user's.
function __etch_own
    not __etch_first; and not contains -- -- (commandline -opc)
end

function __etch_verbs
    __etch_run help 2>/dev/null | string replace -rf '^  etch ([a-z]+) .*?  +(\S.*)$' '$1\t$2'
end

# Lines of the help: "  -e EVENT   ...", "  --from T, --to T  ...".
function __etch_options
    for line in (__etch_run (__etch_verb) --help 2>/dev/null | string match -r '^  -[-a-zA-Z].*')
        set -l parts (string split -m 1 '   ' -- (string trim -- $line))
        for option in (string split ' ' -- (string replace -a ',' ' ' -- $parts[1]))
            string match -q -- '-*' $option; and printf '%s\t%s\n' $option (string trim -- "$parts[2]")
        end
    end
end

# Each completion begins with the words in front of the last comma.
function __etch_list
    set -l before (string match -r '.*,' -- (commandline -ct))
    while read -l word
        echo "$before$word"
    end
end

# Events and systems: of the trace that the line names, else of this kernel.
function __etch_events
    set -l words (commandline -opc)
    set -l where
    for i in (seq 3 (count $words))
        if test "$words[$i]" = --tree; or contains -- "$words[2] $words[$i]" 'record -t' 'list -t'
            set where -t $words[(math $i + 1)]
        else if test -e "$words[$i]/metadata"
            set where -d $words[$i]
        end
    end
    __etch_run list -n $where 2>/dev/null | awk -F: '{ print } !seen[$1]++ { print $1 }' | __etch_list
end

# A name that does not exist makes the program tell those that do.
function __etch_presets
    __etch_run record -p '?' 2>&1 | string replace -rf '.*The presets are (.*)' '$1' |
        string split ', ' | __etch_list
end

function __etch_formats
    __etch_run export -f '?' . 2>&1 | string replace -rf '.*The formats are (.*)\. See.*' '$1' |
        string split ', '
end

for program in etch etch-record
    complete -c $program -n __etch_first -f -a '(__etch_verbs) help'
    complete -c $program -n __etch_own -a '(__etch_options)'
    complete -c $program -n '__etch_value "*" -e' -f -a '(__etch_events)'
    complete -c $program -n '__etch_value record -p; or __etch_value trace -p' -f -a '(__etch_presets)'
    complete -c $program -n '__etch_value record -m' -f -a 'overwrite discard'
    complete -c $program -n '__etch_value export -f' -f -a '(__etch_formats)'
    complete -c $program -n 'string match -q list -- (__etch_verb); and __etch_own' -f -a '(__etch_events)'
    complete -c $program -n 'string match -q help -- (__etch_verb); and __etch_own' -f -a '(__etch_verbs)'
end
