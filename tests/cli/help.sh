# SPDX-License-Identifier: MIT
# Help, manual pages and completion.
try help
for command in info report dump check explain version help; do
	try help $command
	[ "$(perfdata $command --help)" = "$(perfdata help $command)" ] || echo "--help differs"
	[ "$(perfdata $command -h)" = "$(perfdata help $command)" ] || echo "-h differs"
done
for command in $(perfdata help | sed -n 's/^  \([a-z][a-z-]*\)  *[a-z].*/\1/p'); do
	perfdata $command --help >page || echo "no help of $command"
	grep -q '^all commands:' page || echo "options are missing: $command"
done
try help exit-codes
try help nothing
try help dumb
try help --man exit-codes
try help --man version
shell 'perfdata help --man | head -n 12'
try help --completion tcsh
shell 'perfdata help --completion bash | head -n 8'

complete_words()
{
	COMP_WORDS=("$@")
	COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
	_perfdata
	echo "$*: ${COMPREPLY[*]}"
}

# what the shells themselves say of it, where they are there
for shell in bash zsh fish; do
	perfdata help --completion $shell >completion.$shell
	! type $shell >/dev/null 2>&1 || $shell -n completion.$shell
done
if type fish >/dev/null 2>&1; then
	[ "$(fish -c 'source completion.fish; complete -C "perfdata report --sort=comm,srcf"' | cut -f 1)" = "--sort=comm,srcfile" ] ||
		echo "fish does not complete sort keys"
	[ "$(fish -c 'source completion.fish; complete -C "perfdata --col"' | cut -f 1)" = --color ] ||
		echo "fish does not complete options"
fi
shell 'perfdata help --completion zsh | grep -c "^[[:space:]]*[a-z-]*)$"'
shell 'perfdata help --completion zsh | grep "percentage"'
shell 'perfdata help --completion fish | grep "percentage"'
shell 'perfdata help --completion fish | grep "from unpack.*output"'

compopt() { :; }
. <(perfdata help --completion bash)
complete_words perfdata ''
complete_words perfdata d
complete_words perfdata dump --he
complete_words perfdata dump --type CO
complete_words perfdata explain trunc
complete_words perfdata help ex
complete_words perfdata help --completion ''
complete_words perfdata --no-pager rep
complete_words perfdata --color = au
complete_words perfdata report --so
complete_words perfdata report --sort =
complete_words perfdata report -s comm,srcf
complete_words perfdata report --percentage = r
complete_words perfdata script -F ip,sy
complete_words perfdata convert --to d
complete_words perfdata info no
