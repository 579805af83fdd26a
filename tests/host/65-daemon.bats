# The daemon auxtraced, on named pipes that streams of the simulated PMU are played into.

bats_require_minimum_version 1.5.0

setup_file() {
	top=$(readlink -f "$BATS_TEST_DIRNAME/../..")
	"$top/tests/build" --tools
	# With sanitizers, unless a test says otherwise.
	auxtraced=$top/build/userspace-asan/auxtraced/auxtraced
	recording=$top/build/userspace-asan/auxtraced/recording
	man=$top/userspace/auxtraced
	export top auxtraced recording man
	# Leaks fail the daemon's exit.
	export ASAN_OPTIONS=exitcode=99 UBSAN_OPTIONS=halt_on_error=1
}

setup() {
	cd "$BATS_TEST_TMPDIR"
	mkdir files
	mkfifo in0 in1
	daemon=''
	unset NOTIFY_SOCKET WATCHDOG_USEC WATCHDOG_PID STATE_DIRECTORY RUNTIME_DIRECTORY
	configure
}

teardown() {
	local pid
	for pid in $daemon $(jobs -p); do
		kill -KILL "$pid" 2>/dev/null || true
	done
	[[ ! -f log ]] || cat log
}

# configure [LINE]...: two CPUs, and these.
configure() {
	printf '%s\n' "directory = $PWD/files" "metrics = $PWD/socket" \
		"source.0 = $PWD/in0" "source.1 = $PWD/in1" "$@" >conf
}

# wait_until COMMAND...: until it succeeds.
wait_until() {
	local end=$((SECONDS + 120))
	until "$@"; do
		((SECONDS < end)) || {
			echo "waited in vain for: $*"
			return 1
		}
		sleep 0.1
	done
}

start() {
	"$auxtraced" --config conf 2>log &
	daemon=$!
	for n in 0 1; do
		wait_until grep -q "CPU $n: recording" log
		# Nothing that is played ends the stream.
		exec {hold[n]}>"in$n"
	done
}

hold=()

# let_go CPU...: their streams may end.
let_go() {
	local n
	for n; do exec {hold[n]}>&-; done
}

play() { "$recording" play --cpu "$1" "${@:2}" >"in$1"; }

metrics() { curl -sS --unix-socket socket http://localhost/metrics; }

# metric NAME[{LABELS}]: its value.
metric() { metrics | awk -v name="auxtraced_$1" '$1 == name { print $2 }'; }

metric_is() { [[ $(metric "$1") == "$2" ]]; }

# all_ended CPU: each file that was begun.
all_ended() { metric_is "files_total{cpu=\"$1\"}" "$(metric "rotations_total{cpu=\"$1\"}")"; }

# took CPU WINDOWS: all of them were taken.
took() { wait_until metric_is "windows_total{cpu=\"$1\"}" "$2"; }

terminate() {
	kill -TERM "$daemon"
	local status=0
	wait "$daemon" || status=$?
	daemon=''
	[[ $status -eq 0 ]]
}

files() { find files -name "${1-*}.auxtrace*" | sort; }

# verify [OPTION]...: all files.
verify() {
	mapfile -t list < <(files)
	"$recording" verify --bare "$@" "${list[@]}"
}

# field NAME: a number from verify's summary in $output.
field() { grep -oE "(^| )$1=[^ ]+" <<<"$output" | tail -n 1 | cut -d= -f2; }

@test "help, version, and what is no option" {
	run -0 --separate-stderr "$auxtraced" --help
	[[ $output == "Usage: auxtraced "* && -z $stderr ]]
	run -0 "$auxtraced" --version
	[[ $output == "auxtraced $(<"$top/VERSION")" ]]
	run -2 "$auxtraced" --frob
	[[ $output == *"see auxtraced --help" ]]
	run -2 "$auxtraced" frob
	[[ ${#lines[@]} -eq 1 && $output == *"'frob'"*"see auxtraced --help" ]]
	run -78 "$auxtraced" --check --config "$PWD/none"
	[[ $output == "auxtraced: $PWD/none: No such file or directory" ]]
}

@test "options and keys: the same in help, manual, example, and the daemon" {
	diff <("$auxtraced" --help | sed -nE 's/^  (-.|   )[ ,]*(--[a-z]+).*/\1\n\2/p' | grep -- - | sort) \
		<(sed -n '/^# OPTIONS/,/^# [^O]/p' "$man/auxtraced.8.scd" |
			grep '^\*-' | grep -oE '\*--?[A-Za-z]+\*' | tr -d '*' | sort)
	echo "frob = 1" >conf
	run -78 "$auxtraced" --check --config conf
	tr , '\n' <<<"${output#*there are }" | tr -d ' ' | sort >keys
	[[ $(wc -l <keys) -ge 9 ]]
	diff keys <(sed -nE 's/^\*([a-z_]+)\* = .*/\1/p' "$man/auxtraced.conf.5.scd" | sort)
	diff keys <(sed -nE 's/^#([a-z_]+) = .*/\1/p' "$man/auxtraced.conf" | sort)
	# The defaults: the same in both, and right.
	diff <(sed -nE 's/^\*([a-z_]+)\* = _(.*)_$/\1 = \2/p' "$man/auxtraced.conf.5.scd") \
		<(sed -nE 's/^#([a-z_]+ = .*)/\1/p' "$man/auxtraced.conf")
	sed 's/^#\([a-z_]* = \)/\1/' "$man/auxtraced.conf" >conf
	run -0 "$auxtraced" --check --config conf
	run -0 "$auxtraced" --check --config "$man/auxtraced.conf"
	[[ -z $output ]]
}

@test "each metric is in the manual, and has a help and a type" {
	start
	play 0 --windows 1
	took 0 1
	metrics | grep -v '^#' | sed -E 's/^auxtraced_([a-z_]+).*/\1/' | sort -u >names
	[[ $(wc -l <names) -ge 20 ]]
	while read -r name; do
		grep -qE "^\|  (.*, )?$name(,|$)" "$man/auxtraced.8.scd"
		[[ $(metrics | grep -cE "^# (HELP|TYPE) auxtraced_$name ") -eq 2 ]]
	done <names
	terminate
}

# wrong LINES PATTERN: the last of them is refused, by its number and key.
wrong() {
	printf '\n%s\n' "$1" >conf
	run -78 "$auxtraced" --check --config conf
	echo "$output"
	# shellcheck disable=SC2053 # a pattern
	[[ ${#lines[@]} -eq 1 && $output == "auxtraced: conf:$(wc -l <conf)"$2 ]]
}

@test "exit status: another for an error in the configuration, which systemd knows" {
	configure "frob = 1"
	run -78 "$auxtraced" --check --config conf
	run -78 "$auxtraced" --config conf
	[[ ${#lines[@]} -eq 1 ]]
	run -78 "$auxtraced" --config "$PWD/none"
	[[ ${#lines[@]} -eq 1 ]]
	# This may get better.
	configure
	rmdir files
	run -1 "$auxtraced" --config conf
	local unit=$top/build/userspace/auxtraced/auxtraced.service
	grep -qx RestartPreventExitStatus=78 "$unit"
	# What goes on failing is given up: so many starts take less than that.
	value() { sed -n "s/^$1=\([0-9]*\)$2\$/\1/p" "$unit"; }
	(($(value StartLimitBurst "") * ($(value RestartSec "") + 1) < $(value StartLimitIntervalSec min) * 60))
}

@test "errors in the configuration name file, line, key, and what is right" {
	wrong "cpus = some" ": cpus: not 'some': it takes all, or a list*"
	wrong "cpus = 3-1" ": cpus: not*"
	wrong "directory = here" ": directory: not 'here': it takes an absolute path"
	wrong "compression = 20" ": compression: not '20': it takes none*1 to 19"
	wrong "compression = 0" ": compression: *"
	wrong "mode = 999" ": mode: not '999': *0640"
	wrong "mode = 0440" ": mode: *"
	wrong "mode = 1640" ": mode: *"
	wrong "file_size = 10" ": file_size: not '10': *64K or more*"
	wrong "file_size = 1KiB" ": file_size: *"
	wrong "file_age = 1w" ": file_age: not '1w': *"
	wrong "file_age = 10ms" ": file_age: *"
	wrong "total_size = -1" ": total_size: *"
	wrong "sync = always" ": sync: not 'always': it takes never, rotation, or *"
	wrong "metrics = 0.0.0.0:9815" ": metrics: not '0.0.0.0:9815': *own*"
	wrong "metrics = 127.0.0.1" ": metrics: *"
	wrong "metrics = 127.0.0.1:99999" ": metrics: *"
	wrong "metrics = [::2]:1" ": metrics: *"
	wrong "metrics =" ": metrics: *"
	wrong "source.x = /a" ": source.x: *"
	wrong "source.1 = a" ": source.1: *absolute*"
	wrong "frob = 1" ": frob: there is no such key; there are *"
	wrong "frob" ": neither a comment nor KEY = VALUE"
	wrong $'[frob]\ncpus = all' ": frob: there are no sections*"
	wrong "directory = /$(printf %0300d 0)" ": the line is too long*"
	wrong $'mode = 0640\nmode = 0640' ": mode: is set twice"
	# One line, whatever is in it; and the next has its number.
	printf '%s\n' "$(printf 'a = b %.0s' {1..1000})" "mode = y" >conf
	run -78 "$auxtraced" --check --config conf
	[[ ${#lines[@]} -eq 2 && ${lines[1]} == "auxtraced: conf:2: mode: not 'y'"* ]]
	# Blanks before a key are no matter.
	printf '%s\n' "compression = 1" "  mode = 0600" $'\tsync = never' >conf
	run -0 "$auxtraced" --check --config conf
	printf '%s\n' "cpus = x" "mode = y" >conf
	run -78 "$auxtraced" --check --config conf
	[[ ${#lines[@]} -eq 2 && ${lines[1]} == "auxtraced: conf:2: mode:"* ]]
}

@test "it does not begin without its directory or its socket, or with another's" {
	configure "mode = 0600"
	sed -i 's,/files,/nowhere,' conf
	run -1 "$auxtraced" --config conf
	[[ $output == "auxtraced: conf: directory: $PWD/nowhere: No such file or directory" ]]
	configure
	start
	sed 's,^metrics.*,metrics = none,' conf >other
	run -1 "$auxtraced" --config other
	[[ $output == *": directory: $PWD/files: another auxtraced uses it" ]]
	mkdir others
	sed "s,/files,/others," conf >other
	run -1 "$auxtraced" --config other
	[[ $output == *": metrics: cannot listen at $PWD/socket: Address already in use" ]]
	# It is the first one's still.
	metric_is info{version=\"$(<"$top/VERSION")\"} 1
	terminate
	[[ ! -e socket ]]
}

@test "two CPUs: every byte is there; metrics by a socket" {
	start
	play 0 --windows 200 --gap-every 7 --size 8192 &
	play 1 --windows 4 --size 3000000
	took 0 200
	took 1 4
	run -0 metrics
	for line in 'recording{cpu="1"} 1' 'bytes_total{cpu="0"} 1638400' \
		'bytes_total{cpu="1"} 12000000' 'gaps_total{cpu="0"} 28' \
		'gap_causes_total{cpu="0",cause="full"} 28' \
		'gap_causes_total{cpu="0",cause="hotplug"} 0' \
		'gap_seconds_total{cpu="0"} 14.000000000' 'files_total{cpu="0"} 1' \
		'lost_windows_total{cpu="0",reason="disk_full"} 0'; do
		grep -qxF "auxtraced_$line" <<<"$output"
	done
	[[ $(stat -c %a socket) == 660 ]]
	run -0 curl -sS -o /dev/null -w '%{http_code}' --unix-socket socket http://localhost/frob
	[[ $output == 404 ]]
	run -0 curl -sS -o /dev/null -w '%{http_code}' -d x --unix-socket socket http://localhost/
	[[ $output == 405 ]]
	terminate
	run -0 verify
	[[ $(field files) -eq 2 && $(field windows) -eq 204 && $(field bytes) -eq 13638400 ]]
	[[ $(field holes) -eq 0 && $(stat -c %a "$(files 'cpu0*')") == 640 ]]
}

# begun_as MODE: the last file has it.
begun_as() {
	mapfile -t list < <(files)
	[[ $(stat -c %a "${list[-1]}") == "$1" ]]
}

@test "mode: files have exactly that, whatever the umask" {
	local mode windows=0
	umask 0077
	configure "mode = 0660"
	start
	for mode in 0660 0644 0600; do
		configure "mode = $mode"
		kill -HUP "$daemon"
		wait_until metric_is 'reloads_total{result="done"}' $((++windows))
		play 0 --windows 1
		took 0 $windows
		wait_until begun_as "${mode#0}"
	done
	[[ $(stat -c %a socket) == 660 ]]
	terminate
	umask 0
	configure
	start
	play 1 --windows 1
	took 1 1
	wait_until begun_as 640
	terminate
}

@test "metrics at a loopback address" {
	sed -i "s/^metrics.*/metrics = [::1]:$((20000 + RANDOM % 10000))/" conf
	[[ -e /proc/net/if_inet6 ]] || sed -i 's/\[::1\]/127.0.0.1/' conf
	start
	run -0 curl -sS --http1.0 "http://$(sed -n 's/^metrics = //p' conf)/metrics"
	[[ $output == *'auxtraced_recording{cpu="0"} 1'* ]]
	terminate
}

@test "metrics: after as many connections at once as there may be" {
	start
	cat >crowd.py <<-'END'
		import socket, sys
		crowd = [socket.socket(socket.AF_UNIX) for _ in range(16)]
		for s in crowd:
		    s.connect("socket")
		sys.stdin.read()
	END
	mkfifo go
	python3 crowd.py <go &
	crowd=$!
	exec {go}>go
	# With the one that listens.
	wait_until eval '(( $(find "/proc/$daemon/fd" -lname "socket:*" | wc -l) == 17 ))'
	# All of them end at once.
	kill -STOP "$daemon"
	exec {go}>&-
	wait "$crowd"
	kill -CONT "$daemon"
	run -0 curl -sS --max-time 100 --unix-socket socket http://localhost/metrics
	[[ $output == *'auxtraced_recording{cpu="1"} 1'* ]]
	terminate
}

@test "rotation by size: no file is larger, each stands alone, none is missing" {
	configure "file_size = 100K"
	start
	play 0 --windows 300 --size 5000
	play 1 --windows 2 --size 200000
	took 0 300
	took 1 2
	terminate
	mapfile -t list < <(files)
	(( ${#list[@]} >= 17 ))
	for file in "${list[@]}"; do
		# Larger ones have one window.
		run -0 "$recording" verify --bare "$file"
		(( $(stat -c %s "$file") <= 100 * 1024 || $(field windows) == 1 ))
	done
	run -0 verify
	[[ $(field windows) -eq 302 && $(field holes) -eq 0 ]]
	# So does the long test of the daemon (guest-soak/) look at files; it finds one that is
	# missing, and one that is wrong.
	mkdir missing wrong
	cp files/* missing
	rm "missing/$(basename "${list[3]}")"
	cp files/* wrong
	printf x | dd of="wrong/$(basename "${list[3]}")" seek=70000 bs=1 conv=notrunc status=none
	touch {files,missing,wrong}/end
	run -1 "$recording" follow --bare missing
	run -1 "$recording" follow --bare wrong
	run -0 "$recording" follow --bare files
	[[ $(field windows) -eq 302 && $(ls files) == end ]]
}

@test "rotation by age, of a stream that goes on, and of one that waits" {
	configure "file_age = 1s"
	start
	play 0 --windows 30 --size 64 --pause-us 100000
	took 0 30
	wait_until all_ended 0
	# Nothing came since: there is no file without a window.
	[[ $(files | wc -l) -eq $(metric 'files_total{cpu="0"}') && $(files | wc -l) -ge 2 ]]
	terminate
	run -0 verify
	[[ $(field windows) -eq 30 && $(field holes) -eq 0 ]]
}

@test "the cap: the oldest go, by design, those of an earlier run first" {
	configure "total_size = 1M"
	start
	play 0 --windows 10 --size 10000
	took 0 10
	terminate
	old=$(files)
	start
	most=0
	play 1 --windows 500 --size 10000 &
	for _ in {1..20}; do
		size=$(metric store_bytes)
		((size <= most)) || most=$size
	done
	took 1 500
	((most <= 1024 * 1024))
	[[ ! -e $old ]]
	[[ $(metric 'dropped_files_total{cpu="0"}') -eq 1 ]]
	[[ $(metric 'dropped_bytes_total{cpu="1"}') -gt 3000000 ]]
	[[ $(metric 'lost_bytes_total{cpu="1",reason="error"}') -eq 0 ]]
	[[ $(metric store_bytes) -eq $(cat files/* | wc -c) ]]
	terminate
	# What is left follows without a hole, up to the end.
	run -0 verify
	[[ $(field holes) -eq 0 && $(field windows) -gt 50 && $(field files) -ge 2 ]]
	[[ $(cat files/* | wc -c) -le $((1024 * 1024)) ]]
}

@test "the cap: only of its own files, and whatever the clock said" {
	configure "total_size = 1M"
	# What is called nearly as they are.
	for name in cpu0-1 cpu0-20260131 cpu0-20260131T235959.12Z cpu-20260131T235959.123Z; do
		head -c 600000 /dev/zero >"files/$name.auxtrace"
	done
	mkdir files/cpu0-20260131T235959.123Z.auxtrace
	start
	[[ $(metric store_files) -eq 0 ]]
	terminate
	# One of a clock that was ahead is no newer than what is made from now on.
	mv files/cpu0-1.auxtrace files/cpu0-20991231T235959.123Z.auxtrace
	start
	[[ $(metric store_files) -eq 1 ]]
	play 1 --windows 500 --size 10000
	took 1 500
	terminate
	[[ $(find files -type f -size 600000c | wc -l) -eq 3 ]]
	[[ ! -e files/cpu0-20991231T235959.123Z.auxtrace ]]
	mapfile -t list < <(files 'cpu1*')
	run -0 "$recording" verify --bare "${list[@]}"
	[[ $(field holes) -eq 0 && $(field windows) -gt 50 ]]
}

@test "names: in the order of the files, however quickly they follow each other" {
	# A clock of whole ms that goes on between any two looks at it, or is set back by a second.
	cat >clock.c <<-'END'
		#define _GNU_SOURCE 1
		#include <dlfcn.h>
		#include <stdatomic.h>
		#include <time.h>

		int clock_gettime(clockid_t clock, struct timespec *t)
		{
			int (*next)(clockid_t, struct timespec *) = dlsym(RTLD_NEXT, "clock_gettime");
			static atomic_uint looks;
			unsigned int ms;

			if (clock != CLOCK_REALTIME)
				return next(clock, t);
			ms = 5000 + atomic_fetch_add(&looks, 1) / 2;
			if (ms > 5020)
				ms -= 1000;
			t->tv_sec = 1790000000 + ms / 1000;
			t->tv_nsec = ms % 1000 * 1000000;
			return 0;
		}
	END
	gcc -shared -fPIC -o clock.so clock.c
	auxtraced=$top/build/userspace/auxtraced/auxtraced
	configure "file_size = 64K"
	LD_PRELOAD=$PWD/clock.so start
	play 0 --windows 100 --size 65536
	took 0 100
	terminate
	[[ $(files | wc -l) -eq 100 ]]
	run -0 verify
	[[ $(field windows) -eq 100 && $(field holes) -eq 0 ]]
}

@test "the cap: of a directory that was removed, and made again" {
	configure "total_size = 1M"
	start
	play 1 --windows 50 --size 10000
	took 1 50
	mv files gone
	mkdir files
	play 1 --windows 500 --size 10000
	took 1 550
	terminate
	[[ $(cat files/* | wc -c) -gt 500000 && $(cat files/* | wc -c) -le $((1024 * 1024)) ]]
	run -0 verify
	[[ $(field holes) -eq 0 ]]
}

@test "compressed: by zstd too, and with little trace within a second" {
	configure "compression = 3" "file_size = 1M"
	start
	play 0 --windows 1500 --size 4096
	took 0 1500
	play 1 --windows 3 --size 64
	took 1 3
	# No more comes, and yet all is in the file soon.
	all_there() {
		run verify --may-be-cut
		[[ $status -eq 0 && $(field windows) -eq 1503 ]]
	}
	wait_until all_there
	[[ $(field cut) -eq 0 ]]
	terminate
	run -0 verify
	[[ $(field windows) -eq 1503 && $(field holes) -eq 0 ]]
	mapfile -t list < <(files)
	run -0 zstd -q -t "${list[@]}"
	(( $(cat "${list[@]}" | wc -c) < 1500 * 4096 / 2 && ${#list[@]} > 1 ))
}

@test "SIGHUP: another directory, compression, fewer and more CPUs" {
	start
	play 0 --windows 5
	play 1 --windows 5
	took 0 5
	took 1 5
	mkdir new
	mkfifo in2
	sed -e "s,/files,/new," -e "s,^source.1.*,source.2 = $PWD/in2," conf >conf2
	echo "compression = 1" >>conf2
	mv conf2 conf
	kill -HUP "$daemon"
	wait_until grep -q "CPU 2: recording" log
	wait_until grep -q "read again" log
	[[ $(metric 'recording{cpu="1"}') -eq 0 && $(metric 'recording{cpu="2"}') -eq 1 ]]
	"$recording" play --cpu 2 --windows 7 >in2
	took 2 7
	play 0 --windows 6
	took 0 11
	terminate
	run -0 verify
	[[ $(field windows) -eq 10 ]]
	run -0 "$recording" verify --bare new/cpu0*.zst new/cpu2*.zst
	[[ $(field windows) -eq 13 ]]
}

@test "SIGHUP with an error: the old configuration stays, and that is said" {
	start
	cp conf good
	for line in "file_size = none" "directory = $PWD/nowhere" "metrics = $PWD/nowhere/socket"; do
		grep -v "^${line%% *} " good >conf
		echo "$line" >>conf
		: >log
		kill -HUP "$daemon"
		wait_until grep -q "stays as it was" log
		grep -q "conf.*: ${line%% *}: " log
		metric_is reload_successful 0
	done
	metric_is 'reloads_total{result="refused"}' 3
	play 0 --windows 5
	took 0 5
	cp good conf
	kill -HUP "$daemon"
	wait_until metric_is reload_successful 1
	# The same stream, and the same file.
	play 0 --windows 5
	took 0 10
	terminate
	[[ $(files 'cpu0*' | wc -l) -eq 1 ]]
}

@test "SIGHUP: the same directory by another path, and another by the same" {
	local path reloads=0
	ln -s files link
	sed -i "s,/files,/link," conf
	start
	for path in link/../files ./files files/; do
		sed -i "s,^directory.*,directory = $PWD/$path," conf
		kill -HUP "$daemon"
		wait_until metric_is 'reloads_total{result="done"}' $((++reloads))
	done
	rm link
	play 0 --windows 5
	took 0 5
	# Still the same one, and no other's.
	sed -i "s,/files/$,/files," conf
	sed '/^metrics/d' conf >other
	run -1 "$auxtraced" --config other
	[[ $output == *": directory: $PWD/files: another auxtraced uses it" ]]
	kill -HUP "$daemon"
	wait_until metric_is 'reloads_total{result="done"}' $((++reloads))
	play 1 --windows 5
	took 1 5
	[[ $(files | wc -l) -eq 2 ]]
	mv files gone
	kill -HUP "$daemon"
	wait_until grep -q "directory: $PWD/files: No such file or directory" log
	mkdir files
	kill -HUP "$daemon"
	wait_until metric_is 'reloads_total{result="done"}' $((++reloads))
	play 1 --windows 5
	took 1 10
	terminate
	[[ $(files | wc -l) -eq 1 && $(find gone -type f | wc -l) -eq 2 ]]
}

@test "SIGTERM loses nothing: what is in files half, and what was not read yet" {
	for compression in none 1; do
		rm -rf files
		mkdir files
		configure "compression = $compression" "file_size = 64K"
		start
		play 0 --windows 400 --size 4096
		play 1 --windows 40 --size 300000
		took 0 400
		took 1 40
		terminate
		let_go 0 1
		run -0 verify
		[[ $(field windows) -eq 440 && $(field holes) -eq 0 ]]
		start
		kill -STOP "$daemon"
		# As much as a pipe holds.
		play 0 --windows 6 --size 4096
		kill -TERM "$daemon"
		kill -CONT "$daemon"
		terminate
		let_go 0 1
		run -0 verify
		[[ $(field windows) -eq 446 ]]
	done
}

@test "SIGKILL: files can be read up to the last whole window" {
	configure "file_size = 1M"
	start
	play 0 --windows 500 --size 4000
	took 0 500
	# A part of the last is in the file already.
	play 1 --windows 3 --size 3000000 --cut 1000000
	part() { (( $(cat files/cpu1* | wc -c) > 7000000 )); }
	wait_until part
	kill -KILL "$daemon"
	run wait "$daemon"
	run -0 verify --may-be-cut
	[[ $(field windows) -eq 502 && $(field cut) -eq 1 && $(field holes) -eq 0 ]]
	# The next one begins anew beside it, where the socket was left too.
	let_go 0 1
	start
	play 0 --windows 1
	took 0 1
	terminate
}

@test "a stream that breaks off and comes again" {
	start
	play 0 --windows 10 --size 4000000 --cut 16
	let_go 0
	wait_until grep -q "CPU 0: its stream ended" log
	play 0 --windows 10
	took 0 20
	terminate
	run -0 verify
	# That window is not in the file, but counted.
	[[ $(field windows) -eq 19 && $(field lost_windows) -eq 1 ]]
}

@test "no room in a file: what is lost is counted, and told in the next" {
	configure "file_age = 1s" "file_size = 0"
	# (SIGXFSZ is ignored: it is EFBIG then.) 8 of these windows fit in such a file, and no
	# record of what is lost then.
	ulimit -f 100
	start
	for _ in 1 2 3; do
		lost=$(metric 'lost_windows_total{cpu="0",reason="disk_full"}')
		play 0 --windows 50 --size 12728
		more_lost() { (( $(metric 'lost_windows_total{cpu="0",reason="disk_full"}') > lost )); }
		wait_until more_lost
		wait_until all_ended 0
	done
	play 0 --windows 1
	took 0 151
	lost=$(metric 'lost_windows_total{cpu="0",reason="disk_full"}')
	bytes=$(metric 'lost_bytes_total{cpu="0",reason="disk_full"}')
	terminate
	grep -q "CPU 0: cannot write its trace: File too large" log
	run -0 verify
	[[ $(field windows) -eq $((151 - lost)) && $(field lost_windows) -eq $lost ]]
	[[ $bytes -eq $((lost * 12728)) && $(field lost_bytes) -eq $bytes ]]
}

@test "it tells systemd: ready, status, watchdog, reloading, stopping" {
	socat -u UNIX-RECV:notify SYSTEM:'cat >>told' &
	wait_until test -S notify
	export NOTIFY_SOCKET=$PWD/notify WATCHDOG_USEC=200000
	start
	wait_until grep -q READY=1 told
	grep -q "STATUS=Recording 2 of 2 CPUs; 0 files, 0; 0 lost" told
	wait_until eval '(( $(grep -o WATCHDOG=1 told | wc -l) >= 5 ))'
	: >told
	kill -HUP "$daemon"
	wait_until grep -q READY=1 told
	grep -q RELOADING=1 told
	grep -qE MONOTONIC_USEC=[0-9]+ told
	echo "x = y" >>conf
	kill -HUP "$daemon"
	wait_until grep -q "the new configuration is wrong, the old one is in force" told
	terminate
	wait_until grep -q STOPPING=1 told
}

@test "it is ready without devices, and waits for them" {
	rm in1
	"$auxtraced" --config conf 2>log &
	daemon=$!
	wait_until grep -q "CPU 1: not recorded yet: $PWD/in1: No such file or directory" log
	metric_is 'recording{cpu="1"}' 0
	mkfifo in1
	wait_until grep -q "CPU 1: recording" log
	[[ $(grep -c "CPU 1: not" log) -eq 1 ]]
	terminate
}

@test "it uses no time when there is nothing to do" {
	start
	play 0 --windows 3
	took 0 3
	switches() { awk '/ctxt_switches/ { sum += $2 } END { print sum }' /proc/$daemon/task/*/status; }
	before=$(switches)
	sleep 3
	# A loop that spins would do thousands.
	(( $(switches) - before < 100 ))
	terminate
}

@test "a disk that is slow for one CPU does not keep the others waiting" {
	cat >slow.c <<-'END'
		#define _GNU_SOURCE 1
		#include <dlfcn.h>
		#include <stdio.h>
		#include <string.h>
		#include <unistd.h>

		ssize_t write(int fd, const void *data, size_t size)
		{
			ssize_t (*next)(int, const void *, size_t) = dlsym(RTLD_NEXT, "write");
			char link[64], path[4096] = "";

			snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
			while (readlink(link, path, sizeof(path) - 1) > 0 &&
			       strstr(path, "/cpu0-") && access("go", F_OK))
				usleep(10000);
			return next(fd, data, size);
		}
	END
	gcc -shared -fPIC -o slow.so slow.c
	auxtraced=$top/build/userspace/auxtraced/auxtraced
	LD_PRELOAD=$PWD/slow.so start
	play 0 --windows 100 --size 65536 &
	play 1 --windows 100 --size 65536
	took 1 100
	[[ $(metric 'windows_total{cpu="0"}') -lt 100 ]]
	touch go
	took 0 100
	terminate
	run -0 verify
	[[ $(field windows) -eq 200 ]]
}

@test "sync: never, on rotation, in intervals" {
	for sync in never rotation 1s; do
		configure "sync = $sync" "file_size = 64K"
		rm -f files/* trace
		auxtraced=$top/build/userspace/auxtraced/auxtraced
		strace -f -qq -e trace=fdatasync,fsync -o trace "$auxtraced" --config conf 2>log &
		tracer=$!
		wait_until grep -q "CPU 0: recording" log
		exec {hold[0]}>in0
		daemon=$(pgrep -P "$tracer")
		play 0 --windows 20 --size 8192
		took 0 20
		case $sync in
		never) [[ ! -s trace ]] ;;
		# Files that ended; and their names.
		rotation) [[ $(grep -c 'fdatasync(' trace) -eq 2 && $(grep -c 'fsync(' trace) -eq 2 ]] ;;
		# The last one, though it has not ended.
		1s) wait_until eval '[[ $(grep -c "fdatasync(" trace) -eq 3 ]]' ;;
		esac
		kill -TERM "$daemon"
		wait "$tracer"
		daemon=''
	done
}

@test "sync: an interval that never ends" {
	configure "sync = 18446744073s"
	auxtraced=$top/build/userspace/auxtraced/auxtraced
	strace -f -qq -e trace=fdatasync -o trace "$auxtraced" --config conf 2>log &
	tracer=$!
	wait_until grep -q "CPU 0: recording" log
	exec {hold[0]}>in0
	daemon=$(pgrep -P "$tracer")
	# Several ticks of the clock.
	play 0 --windows 30 --size 64 --pause-us 100000
	took 0 30
	[[ ! -s trace ]]
	kill -TERM "$daemon"
	wait "$tracer"
	daemon=''
	[[ $(grep -c fdatasync trace) -eq 1 ]]
}

# A disk that fails when there is a file fail-CALL, for one call; each sync is in synced: the file, and
# its size then.
make_failing_disk() {
	cat >failing.c <<-'END'
		#define _GNU_SOURCE 1
		#include <dlfcn.h>
		#include <errno.h>
		#include <stdio.h>
		#include <stdlib.h>
		#include <string.h>
		#include <sys/stat.h>
		#include <unistd.h>

		static int fails(const char *call, int fd)
		{
			char link[64], path[4096] = "", file[64];
			struct stat st;
			FILE *log;

			snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
			if (readlink(link, path, sizeof(path) - 1) < 0 || !strstr(path, "/files") ||
			    fstat(fd, &st))
				return 0;
			if (!strcmp(call, "fdatasync")) {
				log = fopen("synced", "a");
				fprintf(log, "%s %jd\n", strrchr(path, '/') + 1, (intmax_t)st.st_size);
				fclose(log);
			}
			snprintf(file, sizeof(file), "fail-%s", call);
			if ((strcmp(call, "fsync") && !S_ISREG(st.st_mode)) || unlink(file))
				return 0;
			errno = ENOSPC;
			return 1;
		}

		#define WRAP(call)                                                    \
			int call(int fd)                                              \
			{                                                             \
				int (*next)(int) = dlsym(RTLD_NEXT, #call);           \
				int failed = fails(#call, fd), error = errno;         \
				int ret = next(fd);                                   \
                                                                              \
				if (!failed)                                          \
					return ret;                                   \
				errno = error;                                        \
				return -1;                                            \
			}
		WRAP(fdatasync)
		WRAP(fsync)
		WRAP(close)
	END
	gcc -shared -fPIC -include stdint.h -o failing.so failing.c
	auxtraced=$top/build/userspace/auxtraced/auxtraced
}

# synced_up_to SIZE: of the last file that was.
synced_up_to() { [[ $(tail -n 1 synced) == *" $1" ]]; }

@test "a disk that fails at a sync: counted, another file is begun, and what follows is no cure" {
	local row sync call good list
	make_failing_disk
	for row in "1s fdatasync" "1s fsync" "rotation fdatasync" "rotation fsync" "never close"; do
		read -r sync call <<<"$row"
		echo "$row"
		rm -f files/*
		: >synced
		configure "sync = $sync"
		LD_PRELOAD=$PWD/failing.so start
		play 0 --windows 5
		took 0 5
		good=0
		if [[ $sync == 1s ]]; then
			good=$(stat -c %s "$(files)")
			wait_until synced_up_to "$good"
		fi
		touch "fail-$call"
		play 0 --windows 10
		took 0 15
		if [[ $sync != 1s ]]; then
			configure "sync = $sync" "mode = 0600"
			kill -HUP "$daemon"
		fi
		wait_until metric_is 'sync_errors_total{cpu="0"}' 1
		mapfile -t list < <(files)
		metric_is 'sync_failed_bytes_total{cpu="0"}' $(($(stat -c %s "${list[0]}") - good))
		metric_is 'lost_bytes_total{cpu="0",reason="error"}' 0
		grep "CPU 0: cannot put its trace on the disk: No space left on device; .* of ${list[0]#*/} may" log
		wait_until all_ended 0
		play 0 --windows 5
		took 0 20
		terminate
		let_go 0 1
		# What is synced now is another file.
		[[ $(files | wc -l) -ge 2 ]]
		[[ $sync == never || $(grep -c "its new trace is put on the disk again; .* before may" log) -eq 1 ]]
		run ! grep -q "writes its trace again" log
	done
}

@test "sync: all of a file is on the disk when it ends, also what it tells of losses" {
	make_failing_disk
	configure "file_age = 1s" "file_size = 0" "compression = none"
	# 8 of these windows fit, and then the record of what is lost.
	ulimit -f 100
	LD_PRELOAD=$PWD/failing.so start
	play 0 --windows 20 --size 12000
	took 0 20
	wait_until all_ended 0
	terminate
	run -0 verify
	[[ $(field lost_windows) -eq 12 && $(field windows) -eq 8 ]]
	synced_up_to "$(stat -c %s "$(files)")"
}

@test "the unit: hardened, and the rest of what systemd gets" {
	unit=$top/build/userspace/auxtraced/auxtraced.service
	run -0 systemd-analyze security --offline=true "$unit"
	exposure=$(sed -nE 's/.*exposure level.*: ([0-9]+)\.[0-9]+ .*/\1/p' <<<"$output")
	echo "$output"
	[[ -n $exposure && $exposure -lt 3 ]]
	# Its own programs and pages are not installed here.
	sed -E 's|^(Exec[A-Za-z]+=).*/auxtraced|\1/bin/true|; /^Documentation/d' "$unit" >auxtraced.service
	run -0 systemd-analyze verify "$PWD/auxtraced.service"
	[[ -z $output ]]
	mkdir -p root/etc
	run -0 systemd-sysusers --root="$PWD/root" "$man/auxtraced.sysusers"
	grep -q '^auxtraced:x:' root/etc/passwd
	gid=$(sed -nE 's/^auxtrace:x:([0-9]+):.*/\1/p' root/etc/group)
	grep -qE "^auxtraced:x:[0-9]+:$gid:" root/etc/passwd
}
