# Streams of the kernel's own driver: every byte, from the first to the last.

load lib

teardown() {
	stop_busy
	unload_modules
}

# bats test_tags=short
@test "pmu=auto takes the hardware's PMU, also beside others with an AUX buffer" {
	modprobe auxtrace_sim
	modprobe auxtrace
	[[ $(<$class/auxtrace0/pmu) == "$pmu" && $(<$class/auxtrace1/pmu) == "$pmu" ]]
	(( $(<$class/auxtrace0/config) == default_config ))
}

@test "two CPUs, busy, with room for all" {
	load_auxtrace buffer_size=256M watermark=1M max_total=1G
	record_trace /dev/auxtrace0 /dev/auxtrace1 bash -c 'work 0 2000 & work 1 2000 & wait'
	for cpu in 0 1; do
		check_trace $cpu
		enough_traced 500000
		all_counted $cpu
		[[ $(field gaps) -eq 0 ]]
		row auxtrace $cpu "room for all"
	done
}

@test "many times around the ring" {
	load_auxtrace buffer_size=1M watermark=64K
	record_trace /dev/auxtrace0 /dev/auxtrace1 bash -c '
		for ((i = 0; i < 16; i++)); do work $((i % 2)) 300; sleep 0.1; done
		until (stat_above 0 bytes 5000000 && stat_above 1 bytes 5000000); do
			work 0 300
			work 1 300
		done'
	for cpu in 0 1; do
		check_trace $cpu
		enough_traced $((4 << 20))
		all_counted $cpu
		decoders_resume
		interrupts_came $cpu
		row auxtrace $cpu "around the ring"
	done
}
