# Completion of perfdata for bash: source <(perfdata help --completion bash)
_perfdata()
{
	local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD-1]} command= options= words= kind= i
	COMPREPLY=()
	for ((i = 1; i < COMP_CWORD; i++)); do
		case ${COMP_WORDS[i]} in
		=) ((i++)) ;;
		-*) ;;
		*) command=${COMP_WORDS[i]} && break ;;
		esac
	done
	# --name=value comes as three words
	if [ "$previous" = = ]; then
		previous=${COMP_WORDS[COMP_CWORD-2]}
	elif [ "$current" = = ]; then
		current=
	fi
	case $command in
@OPTIONS@
	esac
	case "$command $previous" in
@VALUES@
	esac
	if [ -z "$kind" ] && [[ $current == -* ]]; then
		COMPREPLY=($(compgen -W "$options" -- "$current"))
		[[ ${COMPREPLY[0]} != *= ]] || compopt -o nospace
		return
	fi
	if [ -z "$kind" ]; then
		case $command in
		"") kind=word words="@NAMES@" ;;
@ARGUMENTS@
		esac
	fi
	case $kind in
	word) COMPREPLY=($(compgen -W "$words" -- "$current")) ;;
	folder) COMPREPLY=($(compgen -d -- "$current")) ;;
	program) COMPREPLY=($(compgen -c -- "$current")) ;;
	events | list)
		[ $kind = list ] || words=$(perfdata list --raw-dump 2>/dev/null)
		COMPREPLY=($(compgen -P "${current%"${current##*,}"}" -W "$words" -- "${current##*,}"))
		compopt -o nospace
		;;
	esac
}
complete -o default -F _perfdata perfdata
