# From the Debian packages, as a new user goes: install, see what is missing, load, record,
# stop, remove. The packages are those of tests/packages. What they depend on is there, since
# there is no network.

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

@test "a reader that is open: named; then unload, remove, and nothing is left" {
	exec {fd}</dev/auxtrace0
	run -0 auxtrace doctor
	[[ $output == *"note     readers    in use: bash"*"($BASHPID) /dev/auxtrace0"* ]]
	exec {fd}<&-
	auxtrace unload
	rmmod auxtrace_sim
	local files file names=(auxtrace auxtrace-dkms libauxtrace0)
	mapfile -t files < <(dpkg -L "${names[@]}")
	for file in "${!files[@]}"; do
		[[ ! -d ${files[file]} ]] || unset "files[$file]"
	done
	((${#files[@]} > 40))
	run -0 dpkg --purge "${names[@]}"
	echo "$output"
	for file in "${files[@]}"; do
		[[ ! -e $file ]] || {
			echo "left: $file"
			return 1
		}
	done
	run -0 find /usr/src /var/lib/dkms "/lib/modules/$release" \
		-name '*auxtrace*' -not -name 'auxtrace_sim*'
	[[ -z $output ]]
}
