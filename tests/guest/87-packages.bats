# From the Debian packages, as a new user goes: install, see what is missing, load, record,
# let the service record, stop, remove. The packages are those of tests/packages. What they
# depend on is there, since there is no network.

load lib

setup_file() {
	release=$(uname -r)
	packages=$(readlink -f "$AUXTRACE_BUILD/../packages")
	cp "/lib/modules/$release/updates/auxtrace.ko" /run/auxtrace.ko
	rm "/lib/modules/$release/updates/auxtrace.ko"
	depmod -a
	# Indexing the manual pages of the whole machine takes long here.
	rm -f /var/lib/man-db/auto-update
	# apt asks nobody; and to read what it knows of Debian takes long here.
	export DEBIAN_FRONTEND=noninteractive
	rm -rf /var/lib/apt/lists
	# No udev runs in this guest so far.
	/lib/systemd/systemd-udevd >/dev/null 2>&1 &
	export release packages udevd=$!
}

teardown_file() {
	kill "$udevd"
	[[ ! -f /run/systemd-pid ]] || kill -KILL "$(</run/systemd-pid)"
	cp /run/auxtrace.ko "/lib/modules/$release/updates/auxtrace.ko"
	depmod -a
}

teardown() { kill_readers; }

@test "install: the group is there, and doctor says what is missing" {
	run -0 apt-get install -y "$packages"/{auxtrace,auxtrace-dkms,libauxtrace0}_*.deb
	echo "$output"
	hash -r
	[[ $(command -v auxtrace) == /usr/bin/auxtrace ]]
	getent group auxtrace
	# There are no headers in this guest, so DKMS could not build.
	run -1 auxtrace doctor
	echo "$output"
	[[ $output == *"problem  module "*"install them (linux-headers-$release), then run dkms install auxtrace/"*" -k $release"* ]]
	[[ $output == *"problem  pmu "* ]]
	run -1 auxtrace load
	[[ $output == *"install them (linux-headers-$release)"* ]]
}

@test "what doctor advises: dkms install, then load" {
	local version advice
	version=$(dpkg-query -W -f '${Version}' auxtrace-dkms)
	# What DKMS builds elsewhere (host/30) takes too long here: this is its result.
	install -D -t "/var/lib/dkms/auxtrace/$version/$release/x86_64/module" /run/auxtrace.ko
	advice=$(auxtrace doctor | grep -oE 'dkms install auxtrace/.*')
	$advice
	modprobe auxtrace_sim
	run -1 auxtrace doctor
	echo "$output"
	[[ $output == *"ok       pmu        auxtrace_sim"* ]]
	[[ $output == *"problem  module     built, but not loaded"*"> auxtrace load"* ]]
	run -0 auxtrace load group_access=1
	run -0 auxtrace doctor
	echo "$output"
	[[ $output == *"ok       module     loaded, 2 devices"* && $output == *"problems: 0"* ]]
	[[ $(modinfo -n auxtrace) == */updates/dkms/auxtrace.ko* ]]
}

# as_user GROUPS COMMAND...
as_user() {
	setpriv --reuid 12345 --regid 12345 "$1" --inh-caps=-all --bounding-set=-all "${@:2}"
}

node_is_ours() { [[ $(stat -c '%G %a' /dev/auxtrace0 /dev/auxtrace1 | uniq) == "auxtrace 640" ]]; }

@test "record all CPUs while a command runs, and dump" {
	cd /tmp
	run -0 auxtrace record -- sleep 1
	run -0 auxtrace dump auxtrace.rec
	[[ $(wc -l <<<"$output") -ge 2 ]]
	for cpu in 0 1; do
		auxtrace dump --raw -C $cpu auxtrace.rec | auxcheck
	done
}

@test "the udev rule: members of the group record, others are told how to" {
	wait_until node_is_ours
	local member
	member=--groups=$(getent group auxtrace | cut -d: -f3)
	cd /tmp
	run -0 as_user "$member" auxtrace record -C 0 -s 1M -o member.rec
	echo "$output"
	as_user "$member" auxtrace dump --raw member.rec | auxcheck
	run -0 as_user "$member" auxtrace doctor
	[[ $output == *"ok       access     your group may open /dev/auxtrace0"* ]]
	run ! as_user --clear-groups auxtrace record -s 1M -o other.rec
	run -1 as_user --clear-groups auxtrace doctor
	echo "$output"
	[[ $output == *"problem  access     you may not open /dev/auxtrace0 (mode 0640, group auxtrace)"*"usermod -aG auxtrace"* ]]
}

@test "an ordinary user neither loads nor unloads, and is told" {
	run -1 as_user --clear-groups auxtrace unload
	echo "$output"
	[[ $output == "auxtrace: cannot unload: only root may unload modules: use sudo" ]]
	auxtrace unload
	run -1 as_user --clear-groups auxtrace load
	echo "$output"
	[[ $output == "auxtrace: cannot load: only root may load modules: use sudo"* ]]
	auxtrace load
}

# systemd as the first process of a namespace, with what it needs to begin, and no more.
start_systemd() {
	local unit
	# (The last may keep packages from starting services.)
	rm -f /etc/fstab /usr/sbin/policy-rc.d
	for unit in /{lib,etc}/systemd/system/{sysinit,basic,local-fs,sockets,timers}.target.wants/*; do
		case ${unit##*/} in
		'*' | systemd-journald*) ;;
		*) ln -sf /dev/null "/etc/systemd/system/${unit##*/}" ;;
		esac
	done
	mkdir /sys/fs/cgroup/systemd
	(
		echo 0 >/sys/fs/cgroup/systemd/cgroup.procs
		export container=auxtrace
		exec unshare --fork --kill-child --pid --mount-proc --cgroup bash -c '
			umount -l /sys/fs/cgroup
			mount -t cgroup2 cgroup2 /sys/fs/cgroup
			exec /lib/systemd/systemd --unit=basic.target'
	) </dev/null >/run/systemd.log 2>&1 3>&- &
	echo $! >/run/systemd-pid
	wait_until systemd_runs
}

# inside COMMAND...: in that namespace; systemd talks to nobody else.
inside() { nsenter --target "$(pgrep -P "$(</run/systemd-pid)")" --pid --mount -- "$@"; }

systemd_runs() { [[ $(inside systemctl is-system-running 2>&1) =~ ^(running|degraded)$ ]]; }

metric_is() {
	[[ $(curl -sS --unix-socket /run/auxtraced/metrics.sock http://localhost/metrics |
		grep -F "auxtraced_$1 ") == *" $2" ]]
}

# serves CPU: the service writes its trace.
serves() { [[ -n $(find /var/lib/auxtrace -name "cpu$1-*" -size +1) ]]; }

@test "the service: started, reloaded, upgraded and stopped by systemd, as its user" {
	local pid config=/etc/auxtrace/auxtraced.conf
	start_systemd
	# It is started when it says that it is ready; the module may come later.
	auxtrace unload
	run -0 inside systemctl enable --now auxtraced
	echo "$output"
	[[ $(inside systemctl show -P StatusText auxtraced) == "Recording "* ]]
	auxtrace load
	wait_until serves 0
	wait_until serves 1
	pid=$(pgrep -x auxtraced)
	[[ $(ps -o user:20=,group:20= "$pid" | xargs) == "auxtraced auxtrace" ]]
	# CAP_PERFMON is the 38th.
	[[ $(awk '$1 ~ /^Cap(Eff|Bnd)/ { print $2 }' "/proc/$pid/status" | xargs) == \
		"0000004000000000 0000004000000000" ]]
	[[ $(stat -c '%U:%G %a' /var/lib/auxtrace) == "auxtraced:auxtrace 750" ]]
	[[ $(stat -c '%U:%G %a' /var/lib/auxtrace/cpu*.auxtrace | uniq) == "auxtraced:auxtrace 640" ]]
	echo "file_size = 4M" >>"$config"
	inside systemctl reload auxtraced
	wait_until metric_is 'reloads_total{result="done"}' 1
	echo "frob = 1" >>"$config"
	run ! inside systemctl reload auxtraced
	inside systemctl is-active auxtraced
	sed -i '/frob/d' "$config"
	# An upgrade starts it anew.
	run -0 inside dpkg -i "$packages"/auxtrace_*.deb
	echo "$output"
	[[ $(inside systemctl is-active auxtraced) == active && $(pgrep -x auxtraced) != "$pid" ]]
	inside systemctl stop auxtraced
	[[ $(inside systemctl show -P Result auxtraced) == success ]]
	state_is 0 closed
	state_is 1 closed
	run -0 recording verify /var/lib/auxtrace/cpu*.auxtrace
	echo "$output"
	[[ $(field holes) -eq 0 && $(field lost_windows) -eq 0 && $(field lasts) -eq 4 ]]
	# With an error in the configuration it is not tried again.
	echo "frob = 1" >>"$config"
	run ! inside systemctl start auxtraced
	[[ $(inside systemctl show -p ActiveState -p ExecMainStatus -p NRestarts auxtraced | sort | xargs) == \
		"ActiveState=failed ExecMainStatus=78 NRestarts=0" ]]
	sed -i '/frob/d' "$config"
}

@test "a reader that is open: named; then unload, remove, and nothing is left" {
	exec {fd}</dev/auxtrace0
	run -0 auxtrace doctor
	[[ $output == *"note     readers    in use: bash"*"($BASHPID) /dev/auxtrace0"* ]]
	exec {fd}<&-
	auxtrace unload
	rmmod auxtrace_sim
	# (The service waits for the module.)
	rm -f /var/lib/auxtrace/*.auxtrace
	inside systemctl start auxtraced
	local files file names=(auxtrace auxtrace-dkms libauxtrace0)
	mapfile -t files < <(dpkg -L "${names[@]}")
	for file in "${!files[@]}"; do
		[[ ! -d ${files[file]} ]] || unset "files[$file]"
	done
	((${#files[@]} > 40))
	run -0 inside apt-get purge -y "${names[@]}"
	echo "$output"
	run ! pgrep -x auxtraced
	for file in "${files[@]}"; do
		[[ ! -e $file ]] || {
			echo "left: $file"
			return 1
		}
	done
	# (A kernel's own release can have the word in it.)
	run -0 find /usr/src /var/lib /etc "/lib/modules/$release" -mindepth 1 \
		-name '*auxtrace*' -not -name 'auxtrace_sim*'
	echo "$output"
	[[ -z $output ]]
}
