# The daemon for a long time: two CPUs at the highest rate that the guest sustains, files that
# end each few seconds, a CPU that comes and goes. tests/soak runs it: in the directory
# AUXTRACE_SOAK_FILES "recording follow" runs outside the guest, which verifies each file as soon
# as it has ended. AUXTRACE_SOAK is "SECONDS ROTATIONS HOTPLUGS".

load ../guest/lib

setup() {
	read -r seconds rotations hotplugs <<<"$AUXTRACE_SOAK"
	files=$AUXTRACE_SOAK_FILES
	cd "$BATS_TEST_TMPDIR"
	# Buffers for what a machine that is busy with others takes from the guest.
	load_modules buffer_size=16M watermark=1M
	# The cap is for a follower that does not follow: what is dropped then is missed by it.
	printf '%s\n' "directory = $files" "metrics = $PWD/socket" "file_age = 5s" \
		"total_size = 2G" >conf
	daemon=''
}

teardown() {
	[[ -z $daemon ]] || kill -KILL "$daemon" 2>/dev/null || true
	echo 1 >/sys/devices/system/cpu/cpu1/online
	cat log
	unload_modules
}

# sum NAME [REASON]: of both CPUs, from the module; of all, from the daemon.
module_sum() { echo $(($(stat_of 0 "$1") + $(stat_of 1 "$1"))); }
daemon_sum() {
	curl -sS --unix-socket socket http://localhost/metrics |
		awk -v name="auxtraced_$1{" 'index($1, name) == 1 { n += $2 } END { print n }'
}

resident() { awk '$1 == "VmRSS:" { print $2 }' "/proc/$daemon/status"; }

start() {
	local n
	for n in 0 1; do setting $n config "$(sim_config "$1" $((64 << 10)))"; done
	auxtraced --config conf 2>>log &
	daemon=$!
	for n in 0 1; do wait_until state_is $n running; done
}

terminate() {
	kill -TERM "$daemon"
	wait "$daemon"
	daemon=''
}

# pass SECONDS: while the files are all right.
pass() {
	local end=$((SECONDS + $1))
	while ((SECONDS < end)); do
		[[ ! -s $files/sums ]] || {
			cat "$files/sums"
			return 1
		}
		sleep 1
	done
}

# Sets rate, in bytes per second: of those that double, the highest at which no buffer gets full
# and more comes than at the one before. (The simulated PMU rests, too.)
find_rate() {
	local mib bytes best=0 full begun
	for ((mib = 4; mib <= 512; mib *= 2)); do
		start $((mib << 20))
		pass 2
		bytes=$(module_sum bytes) full=$(module_sum gaps_full) begun=${EPOCHREALTIME/./}
		pass 5
		bytes=$((($(module_sum bytes) - bytes) * 1000000 / (${EPOCHREALTIME/./} - begun)))
		full=$(($(module_sum gaps_full) - full))
		terminate
		echo "# $mib MiB/s from each CPU: $((bytes >> 10)) KiB/s, $full full buffers" >&3
		((full == 0 && bytes * 10 > best * 11)) || break
		rate=$((mib << 20)) best=$bytes
	done
}

@test "two CPUs at the highest rate, rotations, hotplug: every file verifies" {
	rate=0
	find_rate
	((rate > 0))
	start "$rate"
	begun=$SECONDS bytes=$(module_sum bytes) full=$(module_sum gaps_full) went=0
	pass 5
	memory=$(resident)
	while ((SECONDS - begun < seconds || went < hotplugs ||
		$(daemon_sum rotations_total) < 2 * rotations)); do
		pass $((seconds / (hotplugs + 1) - 5))
		if ((went < hotplugs)); then
			echo 0 >/sys/devices/system/cpu/cpu1/online
			wait_until state_is 1 offline
			pass 1
			echo 1 >/sys/devices/system/cpu/cpu1/online
			wait_until state_is 1 running
			went=$((went + 1))
		fi
		echo "# after $((SECONDS - begun)) s: $(($(module_sum bytes) - bytes)) bytes," \
			"$(daemon_sum rotations_total) rotations, $went hotplugs," \
			"$(($(module_sum gaps_full) - full)) full buffers, $(resident) KiB resident" >&3
	done
	rotated=$(daemon_sum rotations_total)
	[[ $(daemon_sum lost_windows_total) -eq 0 && $(daemon_sum dropped_files_total) -eq 0 ]]
	# It does not grow.
	(($(resident) < memory + 8192))
	terminate
	took=$((SECONDS - begun)) bytes=$(($(module_sum bytes) - bytes))
	touch "$files/end"
	wait_until test -s "$files/sums"
	output=$(<"$files/sums")
	echo "# $took s, $bytes bytes, $((bytes / took >> 10)) KiB/s, $rotated rotations," \
		"$went hotplugs, $(($(module_sum gaps_full) - full)) full buffers" >&3
	echo "# verified: $output" >&3
	[[ $(field bytes) -eq $(module_sum bytes) && $(field windows) -eq $(module_sum windows) ]]
	[[ $(field hotplugs) -eq $hotplugs && $(field holes) -eq 0 && $(field lost_windows) -eq 0 ]]
	[[ $(field cut) -eq 0 && $(field lasts) -eq $(module_sum opens) ]]
}
