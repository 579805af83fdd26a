# The operations of a program that is known: PCs, data addresses, branch targets and
# operation types, from auxtrace's stream and from perf's.

load ../lib

setup() { load_auxtrace buffer_size=64M max_total=1G exclude_kernel=1; }

teardown() { unload_modules; }

# The last instruction but those of the exit is gone through once: nobody may see it.
all_seen() { (($(field program) > 2000 && $(field seen) >= $(field known) - 1)); }

# bats test_tags=short
@test "auxtrace's stream and perf's say the same of a known program" {
	record_trace /dev/auxtrace1 bash -c 'work 1 1000'
	check_trace 1
	[[ $(field gaps) -eq 0 && $(field kernel) -eq 0 ]]
	all_seen
	ours=$output seen=$(field seen)

	# At the hardware's own interval, as auxtrace's period is.
	perf record -q -o "$traces/perf.data" -m,16M -c 1024 -e ${event}u bash -c 'work 1 1000'
	run -0 "${checker[@]}" "$traces/perf.data" 1
	echo "perf: $output"
	all_seen
	row "perf record" 1 "a known program"
	output=$ours
	row auxtrace 1 "a known program" "the same $seen operations, addresses, targets"
}

# perf's decoder on perf's data tells that sperecords reads what perf reads.
@test "perf's own decoder has the same operations" {
	perf record -q -o "$BATS_TEST_TMPDIR/perf.data" -m,16M -c 1024 -e ${event}u bash -c 'work 1 300'
	run -0 "${checker[@]}" "$BATS_TEST_TMPDIR/perf.data" 1
	echo "$output"
	perf report -D -i "$BATS_TEST_TMPDIR/perf.data" >"$BATS_TEST_TMPDIR/dump" 2>/dev/null
	on_any_cpu=0
	for cpu in 0 1; do
		run -0 "${checker[@]}" "$BATS_TEST_TMPDIR/perf.data" $cpu
		on_any_cpu=$((on_any_cpu + $(field records)))
	done
	((on_any_cpu == $(grep -c '^\. .* PC 0x' "$BATS_TEST_TMPDIR/dump")))
}
