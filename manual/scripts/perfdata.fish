# Completion of perfdata for fish: perfdata help --completion fish | source
function __perfdata_list
	set -l front (string replace -r '[^,=]*$' '' -- (commandline -ct | string replace -r '^--[^=]*=' ''))
	for word in $argv
		echo $front$word
	end
end
function __perfdata_events
	__perfdata_list (perfdata list --raw-dump 2>/dev/null | string split -n ' ')
end
complete -c perfdata -e
@NAMES@
@OPTIONS@
@COMMANDS@
