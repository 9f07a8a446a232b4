#compdef etch etch-record
# SPDX-License-Identifier: GPL-2.0
#
# What zsh completes behind "etch" and "etch-record": verbs, options, events, presets, formats
# and folders. It asks the program, so it offers what that program has.
#
# "make install" puts it where zsh finds it, as _etch.

# The options that lines of the help begin with: "  -e EVENT   ...", "  --from T, --to T  ...".
_etch_options()
{
	$1 $2 --help 2>/dev/null | sed -n 's/^  \(-[-a-zA-Z].*\)/\1/p' | sed 's/   *.*//' |
		sed 's/[, ]/\n/g' | grep '^-'
}

# Events and systems: of the trace that the line names, else of this kernel.
_etch_events()
{
	local -a where
	local i

	for ((i = 3; i < CURRENT; i++)); do
		if [[ $words[i] == --tree || ($2 == (record|list) && $words[i] == -t) ]]; then
			where=(-t $words[i+1])
		elif [[ -e $words[i]/metadata ]]; then
			where=(-d $words[i])
		fi
	done
	$1 list -n $where 2>/dev/null | awk -F: '{ print } !seen[$1]++ { print $1 }'
}

# A name that does not exist makes the program tell those that do.
_etch_formats()
{
	$1 export -f '?' . 2>&1 | sed -n 's/.*The formats are \(.*\)\. See.*/\1/p' | tr -d ' ' | tr , '\n'
}

_etch_presets()
{
	$1 record -p '?' 2>&1 | sed -n 's/.*The presets are //p' | tr -d ' ' | tr , '\n'
}

# The value of an option. False: it is a file, or nobody knows.
_etch_value() # program, verb, option
{
	case $2$3 in
	*-e)
		compset -P '*,'
		compadd -- ${(f)"$(_etch_events $1 $2)"} ;;
	record-p | trace-p)
		compset -P '*,'
		compadd -- ${(f)"$(_etch_presets $1)"} ;;
	record-m)
		compadd overwrite discard ;;
	export-f)
		compadd -- ${(f)"$(_etch_formats $1)"} ;;
	*)
		return 1 ;;
	esac
	return 0
}

_etch_verbs()
{
	local -a verbs

	verbs=(${(f)"$($1 help 2>/dev/null |
		sed -n 's/^  etch \([a-z]*\) .*  \([^ ].*\)$/\1:\2/p')"} 'help:what a verb does')
	_describe verb verbs
}

_etch()
{
	local program=${words[1]%-record} verb=$words[2] command

	[[ $words[1] == $program ]] || verb=record
	command=${words[(i)--]}
	if ((CURRENT == 2)) && [[ $words[1] == $program ]]; then
		_etch_verbs $program
	elif ((command < CURRENT)); then
		# A command of the user's.
		shift $command words
		((CURRENT -= command))
		_normal
	elif _etch_value $program $verb $words[CURRENT-1]; then
		return 0
	elif [[ $PREFIX == -* ]]; then
		compadd -- ${(f)"$(_etch_options $program $verb)"}
	elif [[ $verb == list ]]; then
		compadd -- ${(f)"$(_etch_events $program list)"}
	elif [[ $verb == help ]]; then
		_etch_verbs $program
	else
		_files
	fi
}

_etch "$@"
