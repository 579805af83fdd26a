# The run of all tests: nothing that fails, or does not run, is lost on the way. Guests are
# replaced by this machine, which runs what they were to run.

bats_require_minimum_version 1.5.0

setup() {
	# What is tested, in a tree of its own.
	cp -r --parents -t "$BATS_TEST_TMPDIR" \
		tests/{check,matrix,run-bats,provider.bash,vm/threads.bash,guest/run-unclaimed}
	cd "$BATS_TEST_TMPDIR/tests"
	mkdir -p host guest guest-debug hw ../built/module
	: | gcc -x c -c -o ../built/module/auxtrace.ko -
	script deps true
	script build "echo $BATS_TEST_TMPDIR/built"
	script vm/kernel 'echo 1.0'
	script vm/run 'while [[ $1 != -- ]]; do shift; done; shift; CI= "$@"'
	unset CI
}

# script NAME TEXT
script() {
	printf '#!/bin/bash\n%s\n' "$2" >"$1"
	chmod +x "$1"
}

# file NAME COMMAND: a file with a test
file() { printf '@test "%s" { %s; }\n' "$1" "$2" >"$1.bats"; }

# sums PASSED FAILED SKIPPED: the last line of the output says so
sums() {
	echo "$output"
	[[ ${lines[-1]} == "$1 passed, $2 failed, $3 skipped" ]]
}

# Without what bats tells a bats that it starts.
check() { env -i PATH="$(getconf PATH)" HOME="$HOME" TMPDIR="$BATS_TEST_TMPDIR" ./check "$@" 2>&1; }

@test "check: each file that is named is run, in whatever order, and each failure counts" {
	file guest-debug/10-kunit true
	file guest-debug/20-failures false
	file guest/10-kunit false
	file guest/11-good true
	file host/10-good true
	run -1 check guest-debug/20-failures.bats debug
	sums 1 1 0
	run -1 check debug guest-debug/20-failures.bats
	sums 1 1 0
	run -1 check --kernel debug guest/10-kunit.bats debug
	sums 1 1 0
	run -1 check guest/11-good.bats guest host
	sums 2 1 0
	run -0 check guest/11-good.bats host debug
	sums 3 0 0
}

@test "check: a file without a test fails, also beside others" {
	file guest/10-good true
	: >guest/20-empty.bats
	run -1 check guest
	sums 1 1 0
	[[ $output == *'there was no test'* ]]
}

@test "check: whoever runs tests and dies is a failure, and the others go on" {
	local ended
	file host/10-good true
	for ended in 1 3 125; do
		script hw/run "exit $ended"
		run -1 check --jobs 1 hw host
		sums 1 2 0
		[[ $output == *"the short tests on intel-pt were run (status $ended)"* ]]
	done
	script hw/run 'printf "1..1\nnot ok 1 that\n0 passed, 1 failed\n"; exit 1'
	run -1 check --jobs 1 hw host
	sums 1 2 0
	[[ $output != *'were run'* ]]

	file guest/10-good true
	script vm/run 'exit 1'
	run -1 check --jobs 1 guest host
	sums 1 1 0
	[[ $output == *'the guest came through (status 1)'* ]]
}

@test "check: what it cannot take is refused by name" {
	local option
	for option in --kernel --arch --consumer; do
		run -2 check "$option"
		[[ $output == "check: $option needs a value" ]]
		run -2 check "$option" ''
	done
	run -2 check --jobs 0
	run -2 check none
	[[ $output == *': none '* ]]
	run -2 check none.bats
	[[ $output == *': none.bats' ]]
}

# row SUMS STATUS: runs a matrix of one row that ends with these
row() {
	script kernel/patched "echo '$1'; exit $2"
	run ./matrix patches
	echo "$output"
}

@test "matrix: a row's numbers and the status say the same" {
	mkdir kernel
	row '8 passed, 0 failed, 0 skipped' 0
	[[ $status -eq 0 && $output =~ patches.*\ 8/8 ]]
	row '8 passed, 0 failed, 0 skipped' 1
	[[ $status -eq 1 && $output =~ patches.*\ 8/9 ]]
	row '7 passed, 1 failed, 0 skipped' 1
	[[ $status -eq 1 && $output =~ patches.*\ 7/8 ]]
	row '0 passed, 0 failed, 3 skipped' 0
	[[ $status -eq 1 && $output =~ patches.*\ 0/1 ]]
	row '' 0
	[[ $status -eq 1 && $output =~ patches.*\ 0/1 ]]
}

@test "matrix: no row but those that there are, and one run at a time" {
	run -2 ./matrix patches none
	[[ $output == *': none '* ]]
	run -2 ./matrix $'patches\ndkms-12'
	run -2 ./matrix 'patches dkms-12'

	mkdir kernel
	mkfifo go
	script kernel/patched 'read -r <go; echo 1 passed, 0 failed'
	exec {go}<>go
	./matrix patches 3>&- {go}>&- >first &
	until grep -q 'matrix: patches' first; do
		kill -0 $!
		sleep 0.05
	done
	run -2 ./matrix dkms-12
	echo "$output"
	[[ $output == *'another one is running here'* ]]
	echo >&$go
	wait $!
}
