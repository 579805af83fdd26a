# Settings of ARM SPE: what is set is what is sampled.

load ../lib

setup() { load_auxtrace buffer_size=64M max_total=1G; }

teardown() { unload_modules; }

# traced WORD...: a program on CPU 1, with these attributes
traced() {
	set_all "$@"
	record_trace /dev/auxtrace1 bash -c 'work 1 2000'
	check_trace 1
	[[ $(field gaps) -eq 0 && $(field records) -gt ${least:-1000} ]]
	row auxtrace 1 "$*"
}

@test "kernel alone, user space alone" {
	traced exclude_kernel=1
	[[ $(field kernel) -eq 0 && $(field user) -gt 1000 ]]
	setting 1 exclude_kernel 0
	setting 1 exclude_user 1
	record_trace /dev/auxtrace1 bash -c 'for ((i = 0; i < 20; i++)); do work 1 1; done'
	check_trace 1
	[[ $(field user) -eq 0 && $(field kernel) -gt 100 ]]
}

@test "time stamps, or none" {
	traced arm_spe_0/ts_enable=1,jitter=1/
	[[ $(field timed) -eq $(field records) ]]
	traced arm_spe_0/jitter=1/
	[[ $(field timed) -eq 0 ]]
}

@test "filters: loads, stores, branches" {
	traced arm_spe_0/ts_enable=1,jitter=1,load_filter=1/ exclude_kernel=1
	(($(field records) - $(field loads) <= $(field atomics)))
	traced arm_spe_0/ts_enable=1,jitter=1,store_filter=1/
	(($(field records) - $(field stores) <= $(field atomics)))
	traced arm_spe_0/ts_enable=1,jitter=1,branch_filter=1/
	[[ $(field branches) -eq $(field records) ]]
}

# min_latency is in config2, as cycles.
@test "filter: latency" {
	traced arm_spe_0/ts_enable=1,jitter=1/ exclude_kernel=1
	((shortest = $(field latency)))
	# Few take so long.
	least=10 traced config2=$((shortest + 2))
	((shortest + 2 <= $(field latency)))
}

@test "intervals: four times as long, a quarter of the records" {
	traced period=1024 exclude_kernel=1
	often=$(field records)
	setting 1 period 4096
	record_trace /dev/auxtrace1 bash -c 'work 1 2000'
	check_trace 1
	seldom=$(field records)
	echo "$often records, $seldom"
	((often > seldom * 3 && often < seldom * 6))
	row auxtrace 1 "period=4096"
}

@test "physical addresses: for whom an administrator wants them" {
	traced arm_spe_0/ts_enable=1,jitter=1,load_filter=1,pa_enable=1/ exclude_kernel=1
	[[ $(field physical) -eq $(field records) ]]
	# Others can neither ask for them nor, if nobody let them, read them.
	run ! setpriv --reuid 65534 --clear-groups --inh-caps=-all --bounding-set=-all \
		bash -c "echo 0 >$class/auxtrace1/config"
	run ! setpriv --reuid 65534 --clear-groups --inh-caps=-all --bounding-set=-all \
		head -c 1 /dev/auxtrace1
}
