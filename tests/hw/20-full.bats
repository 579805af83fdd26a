# Full buffers: the driver stops, the reader makes room, and it goes on, on each CPU,
# as often as it happens.

load lib

teardown() {
	stop_busy
	unload_modules
}

# bats test_tags=short
@test "busy CPUs and a slow reader" {
	load_auxtrace buffer_size=256K
	record_busy -d 20000 -s 65536 /dev/auxtrace0 /dev/auxtrace1 sleep 5
	for cpu in 0 1; do
		check_trace $cpu
		all_gaps_counted $cpu
		decoders_resume
		no_silent_gap $cpu
		(( $(field gaps) > 3 && $(field gaps_full) > 3 ))
		row auxtrace $cpu "slow reader"
	done
}

@test "a busy CPU, the buffer in two halves" {
	# intel_pt stops at the end of each: see the README's limits.
	load_auxtrace buffer_size=1M watermark=0
	record_busy /dev/auxtrace0 /dev/auxtrace1 sleep 2
	for cpu in 0 1; do
		check_trace $cpu
		all_gaps_counted $cpu
		decoders_resume
		no_silent_gap $cpu
		row auxtrace $cpu "two halves"
	done
}

# What perf makes of it is shown, and not judged.
@test "perf record -a beside it: what each has traced of the same time" {
	start_busy 0
	start_busy 1
	perf record -q -o "$BATS_TEST_TMPDIR/perf.data" -a -m,256K -e $event sleep 3
	load_auxtrace buffer_size=256K
	record_trace /dev/auxtrace0 /dev/auxtrace1 sleep 3
	stop_busy
	for cpu in 0 1; do
		run "${checker[@]}" "$BATS_TEST_TMPDIR/perf.data" $cpu
		echo "$output"
		perfs=$(field bytes)
		row "perf record" $cpu "buffer often full"
		check_trace $cpu
		all_gaps_counted $cpu
		decoders_resume
		row auxtrace $cpu "buffer often full" "$(($(field bytes) / (perfs ? perfs : 1))) times perf's"
	done
}
