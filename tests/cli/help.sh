# SPDX-License-Identifier: MIT
# Help, manual pages and completion.
try help
for command in info report dump check explain version help; do
	try help $command
	[ "$(perfdata $command --help)" = "$(perfdata help $command)" ] || echo "--help differs"
	[ "$(perfdata $command -h)" = "$(perfdata help $command)" ] || echo "-h differs"
done
try help exit-codes
try help nothing
try help dumb
try help --man exit-codes
try help --man version
shell 'perfdata help --man | head -n 12'
try help --completion zsh
shell 'perfdata help --completion bash | head -n 8'

complete_words()
{
	COMP_WORDS=("$@")
	COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
	_perfdata
	echo "$*: ${COMPREPLY[*]}"
}

compopt() { :; }
. <(perfdata help --completion bash)
complete_words perfdata ''
complete_words perfdata d
complete_words perfdata dump --he
complete_words perfdata dump --type CO
complete_words perfdata explain trunc
complete_words perfdata help ex
complete_words perfdata help --completion ''
