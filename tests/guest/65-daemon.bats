# The daemon auxtraced, with the module and the simulated PMU.

load lib

setup() {
	load_modules config="$(sim_config $((4 << 20)) $((16 << 10)))" buffer_size=1M watermark=64K
	cd "$BATS_TEST_TMPDIR"
	mkdir files
	daemon=''
	configure
}

teardown() {
	[[ -z $daemon ]] || kill -KILL "$daemon" 2>/dev/null || true
	echo 1 >/sys/devices/system/cpu/cpu1/online
	cat log
	! mountpoint -q "$BATS_TEST_TMPDIR/files" || umount -l "$BATS_TEST_TMPDIR/files"
	unload_modules
}

configure() { printf '%s\n' "directory = $PWD/files" "metrics = $PWD/socket" "$@" >conf; }

# start [COMMAND...]: by it.
start() {
	"$@" auxtraced --config conf 2>>log &
	daemon=$!
}

records() { wait_until grep -q "CPU $1: recording" log; }

terminate() {
	kill -TERM "$daemon"
	wait "$daemon"
	daemon=''
	state_is 0 closed
	state_is 1 closed
}

metric() {
	curl -sS --unix-socket socket http://localhost/metrics |
		awk -v name="auxtraced_$1" '$1 == name { print $2 }'
}

# reached NAME N: the metric is N or more.
reached() { [[ $(metric "$1") -ge $2 ]]; }

verify() {
	mapfile -t list < <(find files -name '*.auxtrace*' | sort)
	run recording verify "$@" "${list[@]}"
	echo "$output"
	((status == 0))
}

# The files have what the module gave since it was loaded, and tell of the gaps. (Of several in
# one place once.) With N, not of N opens by others, who read nothing.
all_is_there() {
	verify
	local stats
	for stats in bytes windows; do
		echo "$stats: $(stat_of 0 $stats) and $(stat_of 1 $stats)"
		[[ $(field $stats) -eq $(($(stat_of 0 $stats) + $(stat_of 1 $stats))) ]]
	done
	local gaps=$(($(stat_of 0 gaps) + $(stat_of 1 gaps)))
	(($(field gaps) <= gaps && (gaps == 0 || $(field gaps) > 0 || ${1-0} > 0)))
	[[ $(field holes) -eq 0 && $(field lost_windows) -eq 0 ]]
	# To the end of each stream: those that were opened.
	[[ $(field lasts) -eq $(($(stat_of 0 opens) + $(stat_of 1 opens) - ${1-0})) ]]
}

@test "two CPUs, rotation, SIGTERM: every byte is in the files" {
	configure "file_size = 512K"
	# A window is not larger than the buffer: none has to have a larger file.
	for n in 0 1; do setting $n buffer_size 256K; done
	start
	wait_until reached 'rotations_total{cpu="0"}' 8
	wait_until reached 'rotations_total{cpu="1"}' 8
	terminate
	[[ $(find files -size +512k | wc -l) -eq 0 ]]
	all_is_there
	(( $(field files) >= 18 ))
}

@test "compressed, at a rate that makes gaps" {
	setting 1 config "$fast"
	configure "file_size = 1M" "compression = 1"
	start
	wait_until reached 'bytes_total{cpu="1"}' 20000000
	terminate
	all_is_there
	(( $(field gaps) > 0 ))
}

@test "the disk is full: it goes on reading, and resumes when there is room" {
	mount -t tmpfs -o size=6M none files
	configure "file_size = 1M"
	# The second disk is not full before the last look at it.
	for n in 0 1; do setting $n config "$(sim_config $((1 << 20)) $((16 << 10)))"; done
	start
	wait_until reached 'lost_windows_total{cpu="0",reason="disk_full"}' 10
	wait_until reached 'lost_windows_total{cpu="1",reason="disk_full"}' 10
	# It reads: the buffers are not full, nothing but the writing stopped.
	before=$(stat_of 0 bytes)
	wait_until eval "(( \$(stat_of 0 bytes) > $before + 1000000 ))"
	mount -o remount,size=200M files
	for n in 0 1; do
		wait_until grep -q "CPU $n: writes its trace again" log
		more=$(($(metric "file_bytes_total{cpu=\"$n\"}") + 1000000))
		wait_until reached "file_bytes_total{cpu=\"$n\"}" "$more"
	done
	terminate
	grep -q "CPU 0: cannot write its trace: No space left on device" log
	verify
	# What is not there is told where it is missing, all of it.
	[[ $(field holes) -eq 0 && $(field lost_windows) -ge 20 ]]
	for what in bytes windows; do
		[[ $(($(field $what) + $(field lost_$what))) -eq \
			$(($(stat_of 0 $what) + $(stat_of 1 $what))) ]]
	done
}

@test "the CPU goes and comes back, while it is recorded and before" {
	echo 0 >/sys/devices/system/cpu/cpu1/online
	start
	wait_until grep -q "CPU 1: not recorded yet: the CPU is offline" log
	records 0
	echo 1 >/sys/devices/system/cpu/cpu1/online
	records 1
	for n in 1 2 3; do
		before=$(metric 'windows_total{cpu="1"}')
		wait_until reached 'windows_total{cpu="1"}' $((before + 1))
		echo 0 >/sys/devices/system/cpu/cpu1/online
		wait_until state_is 1 offline
		echo 1 >/sys/devices/system/cpu/cpu1/online
		wait_until reached 'gap_causes_total{cpu="1",cause="hotplug"}' $n
	done
	# And it can be stopped while a CPU is away.
	echo 0 >/sys/devices/system/cpu/cpu1/online
	wait_until state_is 1 offline
	kill -TERM "$daemon"
	wait "$daemon"
	daemon=''
	echo 1 >/sys/devices/system/cpu/cpu1/online
	all_is_there
	# (The last window may tell of the CPU that is away.)
	[[ $(field hotplugs) -ge 3 && $(field hotplugs) -le 4 && $(grep -c "CPU 1: not recorded" log) -eq 1 ]]
}

@test "devices that are in use are taken when they are free, without a word in the kernel's log" {
	sleep infinity </dev/auxtrace1 &
	holder=$!
	wait_until eval '! state_is 1 closed'
	mark_log
	start
	wait_until grep -q "CPU 1: not recorded yet: in use" log
	records 0
	kill "$holder"
	records 1
	run ! logged auxtrace
	terminate
	# (What the other did not read is nowhere.)
	all_is_there 1
}

@test "without the module it waits for it" {
	unload_modules
	start
	wait_until grep -q "there are no devices: load the module" log
	load_modules config="$slow"
	records 0
	records 1
	wait_until reached 'windows_total{cpu="0"}' 2
	terminate
	all_is_there
}

@test "as an ordinary user: refused; with CAP_PERFMON, or with group_access, it records" {
	local built plain
	chmod 755 "$BATS_RUN_TMPDIR" "$BATS_TEST_TMPDIR"
	chown nobody files .
	chgrp nogroup /dev/auxtrace[01]
	chmod 640 /dev/auxtrace[01]
	# Where it was built nobody may be able to reach it.
	built=$(readlink -f "$(type -P auxtraced)")
	mkdir -p /run/tree/{auxtraced,lib}
	cp "$built" /run/tree/auxtraced
	cp -P "${built%/*}"/../lib/libauxtrace.so.?{,.?.?} /run/tree/lib
	PATH=/run/tree/auxtraced:$PATH
	plain=(setpriv --reuid=nobody --regid=nogroup --clear-groups)
	start "${plain[@]}" --bounding-set=-all
	for n in 0 1; do
		wait_until grep -q "CPU $n: not recorded yet: permission denied" log
	done
	terminate
	start "${plain[@]}" --inh-caps=+perfmon --ambient-caps=+perfmon --bounding-set=-all,+perfmon
	records 0
	records 1
	terminate
	: >log
	echo 1 >/sys/module/auxtrace/parameters/group_access
	start "${plain[@]}" --bounding-set=-all
	records 0
	records 1
	terminate
	all_is_there
	[[ $(stat_of 0 opens) -eq 2 && $(stat -c %U files/* | uniq) == nobody ]]
}
