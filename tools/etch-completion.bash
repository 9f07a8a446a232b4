# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# What bash completes behind "etch" and "etch-record": verbs, options, events, presets, formats
# and folders. It asks the program, so it offers what that program has.
#
# "make install" puts it where bash-completion finds it; or: . etch-completion.bash

_etch_verbs()
{
	"$1" help 2>/dev/null | sed -n 's/^  etch \([a-z]*\) .*/\1/p'
}

# The options that lines of the help begin with: "  -e EVENT   ...", "  --from T, --to T  ...".
_etch_options()
{
	"$1" "$2" --help 2>/dev/null | sed -n 's/^  \(-[-a-zA-Z].*\)/\1/p' | sed 's/   *.*//' |
		sed 's/[, ]/\n/g' | grep '^-'
}

# Events and systems: of the trace that the line names, else of this kernel.
_etch_events()
{
	local where=() i

	for ((i = 2; i < ${#COMP_WORDS[@]}; i++)); do
		if [[ $2 == record || $2 == list ]] && [[ ${COMP_WORDS[i - 1]} == -t ]]; then
			where=(-t "${COMP_WORDS[i]}")
		elif [[ ${COMP_WORDS[i - 1]} == --tree ]]; then
			where=(-t "${COMP_WORDS[i]}")
		elif [[ -e ${COMP_WORDS[i]}/metadata ]]; then
			where=(-d "${COMP_WORDS[i]}")
		fi
	done
	"$1" list -n "${where[@]}" 2>/dev/null | awk -F: '{ print } !seen[$1]++ { print $1 }'
}

# A name that does not exist makes the program tell those that do.
_etch_formats()
{
	"$1" export -f '?' . 2>&1 | sed -n 's/.*The formats are \(.*\)\. See.*/\1/p' | tr -d ,
}

_etch_presets()
{
	"$1" record -p '?' 2>&1 | sed -n 's/.*The presets are //p' | tr -d ,
}

# Offers the words of $1 that what was typed, $2, is the beginning of; $3 goes in front.
_etch_offer()
{
	local word

	for word in $1; do
		[[ $word != "$2"* ]] || COMPREPLY+=("$3$word")
	done
}

# The same, of words with colons, several with commas. Bash ends words at colons, and puts
# the offered word in the place of the text behind the last colon.
_etch_offer_list()
{
	local line=${COMP_LINE:0:COMP_POINT} typed

	line=${line##*[[:space:]]}
	typed=${line##*,}
	_etch_offer "$1" "$typed" "${line%"$typed"}"
	if [[ $COMP_WORDBREAKS == *:* && $line == *:* ]]; then
		COMPREPLY=("${COMPREPLY[@]#"${line%"${line##*:}"}"}")
	fi
}

# The value of an option. False: it is a file, or nobody knows.
_etch_value() # program, verb, option
{
	case $2$3 in
	*-e)
		_etch_offer_list "$(_etch_events "$1" "$2")" ;;
	record-p | trace-p)
		_etch_offer_list "$(_etch_presets "$1")" ;;
	record-m)
		_etch_offer 'overwrite discard' "${COMP_WORDS[COMP_CWORD]}" ;;
	export-f)
		_etch_offer "$(_etch_formats "$1")" "${COMP_WORDS[COMP_CWORD]}" ;;
	*)
		return 1 ;;
	esac
}

_etch() # program, word
{
	local program=${1%-record} verb=${COMP_WORDS[1]} line=${COMP_LINE:0:COMP_POINT}

	COMPREPLY=()
	[[ $1 == "$program" ]] || verb=record
	if [[ $COMP_CWORD == 1 && $1 == "$program" ]]; then
		_etch_offer "$(_etch_verbs "$program") help" "$2"
	elif [[ $line == *' -- '* ]]; then
		return	# a command of the user's
	elif [[ $line =~ [[:space:]](-[a-zA-Z])[[:space:]]+[^[:space:]]*$ ]] &&
	     _etch_value "$program" "$verb" "${BASH_REMATCH[1]}"; then
		return
	elif [[ $2 == -* ]]; then
		_etch_offer "$(_etch_options "$program" "$verb")" "$2"
	elif [[ $verb == list ]]; then
		_etch_offer_list "$(_etch_events "$program" list)"
	elif [[ $verb == help ]]; then
		_etch_offer "$(_etch_verbs "$program")" "$2"
	fi
}

complete -o default -F _etch etch etch-record
