# The tool auxtrace: the command line that all its subcommands share.

bats_require_minimum_version 1.5.0

setup_file() {
	top=$(readlink -f "$BATS_TEST_DIRNAME/../..")
	"$top/tests/build" --tools
	auxtrace=$top/build/userspace-asan/auxtrace/auxtrace
	export top auxtrace
}

@test "no argument: the overview on stderr, exit code 2" {
	run -2 --separate-stderr "$auxtrace"
	[[ -z $output && $stderr == "Usage: auxtrace COMMAND"* ]]
}

@test "--help and help: the overview names each command" {
	local asked
	for asked in --help -h help; do
		run -0 --separate-stderr "$auxtrace" $asked
		[[ -z $stderr && $output == "Usage: auxtrace COMMAND"* && $output == *"  help "* ]]
	done
}

@test "--version is that of the sources" {
	run -0 "$auxtrace" --version
	[[ $output == "auxtrace $(<"$top/VERSION")" ]]
}

@test "a command that there is not: one line, exit code 2" {
	local words
	for words in frob --frob "help frob"; do
		run -2 --separate-stderr "$auxtrace" $words
		[[ -z $output && ${#stderr_lines[@]} -eq 1 && $stderr == *"see auxtrace --help" ]]
	done
	run -2 --separate-stderr "$auxtrace" help a b
	[[ -z $output && $stderr == "auxtrace: one command at a time; see auxtrace help --help" ]]
}

@test "a wrong option: one line that names it, exit code 2" {
	local words
	for words in --frob -x --help=no; do
		run -2 --separate-stderr "$auxtrace" help $words
		[[ -z $output && ${#stderr_lines[@]} -eq 1 ]]
		[[ $stderr == *"option ${words%}"*"; see auxtrace help --help" ]]
	done
}

@test "output that cannot be written is an error" {
	run -1 bash -c '"$auxtrace" --help >/dev/full'
	[[ $output == *"No space left on device" ]]
}

@test "no file takes the place of a standard stream that is closed" {
	cd "$BATS_TEST_TMPDIR"
	mkfifo pipe
	"$auxtrace" dump pipe <&- >&- 2>&- &
	exec {writer}>pipe
	until [[ -n $(find /proc/$!/fd -lname '*/pipe') ]]; do sleep 0.1; done
	[[ $(readlink /proc/$!/fd/{0,1,2} | sort -u) == /dev/null ]]
	[[ $(find /proc/$!/fd -lname '*/pipe') == /proc/$!/fd/[3-9] ]]
	exec {writer}>&-
	local status=0
	wait $! || status=$?
	[[ $status -eq 3 ]]
}

@test "sizes, durations, JSON" {
	run -0 meson test -C "$top/build/userspace-asan" --no-rebuild common
	[[ $output == *"Ok: "*1* ]]
}
