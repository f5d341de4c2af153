#compdef perfdata
# Completion of perfdata for zsh: source <(perfdata help --completion zsh)

_perfdata_list() { compset -P '*,'; compadd -S '' -- "$@" }
_perfdata_events() { _perfdata_list ${(f)"$(perfdata list --raw-dump 2>/dev/null)"} }
_perfdata_program() { _arguments '(-)1:program: _command_names -e' '*:: :_normal' }

_perfdata()
{
	local state line ret=1
	local -a commands
	local curcontext=$curcontext
	commands=(
@NAMES@
	)
	_arguments -C -S \
@OPTIONS@
			'1: :->command' '*:: :->arguments' && ret=0
	case $state in
	command) _describe -t commands command commands && ret=0 ;;
	arguments)
		curcontext=${curcontext%:*}:perfdata-$line[1]:
		case $line[1] in
@COMMANDS@
		esac
		;;
	esac
	return ret
}

if [[ $funcstack[1] == _perfdata ]]; then
	_perfdata "$@"
else
	compdef _perfdata perfdata
fi
