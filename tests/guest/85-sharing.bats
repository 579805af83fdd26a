# One open file description, several descriptors and processes: a byte goes to one of
# them, once; the last close is what counts.

load lib

setup() { load_modules config="$fast" buffer_size=1M; }
teardown() { unload_modules; }

@test "two and four processes read one description: disjoint, and complete" {
	for readers in 2 4; do
		sharing $readers 16000000 /dev/auxtrace0 2>"$BATS_TEST_TMPDIR/counts" |
			auxcheck - >"$BATS_TEST_TMPDIR/check"
		output=$(<"$BATS_TEST_TMPDIR/counts")
		echo "$output"
		[[ $(field least) -gt 0 && $(field bytes) -ge 16000000 ]]
		bytes=$(field bytes)
		output=$(<"$BATS_TEST_TMPDIR/check")
		echo "$output"
		[[ $(field bytes) -eq $bytes ]]
	done
	[[ $(stat_of 0 reads) -gt 100 ]]
}

@test "a description that is nowhere but in a socket keeps the device open" {
	sharing passed /dev/auxtrace0
	state_is 0 closed
}
