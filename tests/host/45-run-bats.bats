# A run of bats whose TAP tells all.

bats_require_minimum_version 1.5.0

setup() {
	run_bats=$(readlink -f "$BATS_TEST_DIRNAME/../run-bats")
	cd "$BATS_TEST_TMPDIR"
}

# outcomes ARGUMENT...: of that run, without times; its status
outcomes() {
	env -i PATH="$(getconf PATH)" "$run_bats" "$@" 2>/dev/null |
		sed -E 's/ in [0-9]+ms$//; /^#/d'
	return "${PIPESTATUS[0]}"
}

@test "what passes and what fails is told once" {
	printf '@test "%s" { %s; }\n' good true bad false >a.bats
	run -1 outcomes a.bats
	echo "$output"
	[[ $output == $'1..2\nok 1 good\nnot ok 2 bad' ]]
	sed -i 2d a.bats
	run -0 outcomes a.bats
	echo "$output"
	[[ $output == $'1..1\nok 1 good' ]]
}

@test "a run that fails without a test that failed has one" {
	printf '@test "good" { true; }\n' >a.bats
	run -1 outcomes --setup-suite-file none a.bats
	echo "$output"
	[[ $output == $'1..1\nnot ok 1 bats ended with status 1, and no test failed' ]]
}

@test "so has one that is killed" {
	# What started bats, with bats' status.
	printf '@test "good" { true; }\nteardown_file() { kill -KILL "$(cat top)"; }\n' >a.bats
	printf '#!/bin/sh\necho "$PPID" >top\nexec %s "$@"\n' "$(PATH=$(getconf PATH) type -P bats)" >bats
	chmod +x bats
	run -1 env -i PATH="$PWD:$(getconf PATH)" "$run_bats" a.bats
	echo "$output"
	[[ $output == *"not ok 1 bats ended with status 1, and no test failed" ]]
}

@test "what a test said is out before the next one ends" {
	# The second test finds what the first said, or gives up.
	finds_first() {
		local n
		for ((n = 0; n < 1200; n++)); do
			! grep -q '^ok 1 first' "$BATS_TEST_DIRNAME/told" || return 0
			sleep 0.1
		done
		return 1
	}
	{
		declare -f finds_first
		printf '@test "%s" { %s; }\n' first true second finds_first
	} >a.bats
	env -i PATH="$(getconf PATH)" "$run_bats" a.bats >told
}
