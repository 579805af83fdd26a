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

# as_user COMMAND...
as_user() {
	setpriv --reuid 65534 --regid 65534 --clear-groups --inh-caps=-all --bounding-set=-all "$@"
}

# traced_by_user: CPU 1, while a program runs there. (A user may not look into the tests'
# own directories.)
traced_by_user() {
	local own
	own=$(mktemp -d /tmp/user.XXXXXX)
	chown 65534 "$own"
	install "$(command -v "$busy_program")" "$own"
	PATH=$own:$PATH as_user record -o "$own" /dev/auxtrace1 bash -c 'work 1 1000'
	check_trace 1 "$own/1.trace"
	enough_traced 50000
}

# perf lets nobody have them who has not CAP_PERFMON. auxtrace's counters are the kernel's:
# the administrator, who alone sets what is traced, and lets others read, decides.
@test "physical addresses: for whom an administrator wants them" {
	without=arm_spe_0/ts_enable=1,jitter=1,load_filter=1/
	with=${without%/},pa_enable=1/
	traced $with exclude_kernel=1
	[[ $(field physical) -eq $(field records) ]]
	config=$(<$class/auxtrace1/config)

	# Whom nobody let neither sets nor reads, whatever the node's mode is.
	chmod 666 /dev/auxtrace1
	refused "Permission denied" "auxtrace1: open refused: needs CAP_PERFMON" \
		as_user head -c 1 /dev/auxtrace1
	run ! as_user bash -c "echo 0 >$class/auxtrace1/config"
	[[ $output == *"Permission denied"* && $(<$class/auxtrace1/config) == "$config" ]]

	# Whom the administrator lets read gets what the administrator has set, and no more.
	echo 1 >/sys/module/auxtrace/parameters/group_access
	traced_by_user
	[[ $(field physical) -eq $(field records) ]]
	set_all $without
	traced_by_user
	[[ $(field physical) -eq 0 ]]
	config=$(<$class/auxtrace1/config)
	run ! as_user bash -c "echo $(config_of $devices/arm_spe_0 pa_enable=1) >$class/auxtrace1/config"
	[[ $output == *"Permission denied"* && $(<$class/auxtrace1/config) == "$config" ]]
}
