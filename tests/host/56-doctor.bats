# auxtrace doctor, on copies of systems: one on which all is well, and what is said when
# one thing or another is not.

bats_require_minimum_version 1.5.0

setup_file() {
	top=$(readlink -f "$BATS_TEST_DIRNAME/../..")
	auxtrace=$top/build/userspace-asan/auxtrace/auxtrace
	"$top/tests/build" --tools
	built=${AUXTRACE_BUILD:-$("$top/tests/build")}
	export top auxtrace built
	release=$(modinfo -F vermagic "$built/module/auxtrace.ko" | cut -d' ' -f1)
	root=$BATS_FILE_TMPDIR/system
	export release root
	make_system
}

# put FILE [LINE...]
put() {
	mkdir -p "$(dirname "$root$1")"
	printf '%s\n' "${@:2}" >"$root$1"
}

put_intel() {
	local model=$1 flags=$2
	put /proc/cpuinfo $'processor\t: 0' $'vendor_id\t: GenuineIntel' $'cpu family\t: 6' \
		$'model\t\t: '"$model" $'model name\t: Some Xeon' $'flags\t\t: fpu '"$flags"' sse' ''
}

# Who runs the tool: UID, groups, capabilities (of which only two matter).
put_user() {
	put /proc/self/status $'Name:\tauxtrace' $'Uid:\t'"$1	$1	$1	$1" \
		$'Gid:\t'"$1	$1	$1	$1" $'Groups:\t'"$2 " $'CapEff:\t'"$3"
}

# An Intel machine with the module loaded, seen by root.
make_system() {
	local modules=/lib/modules/$release cpu
	put /proc/sys/kernel/osrelease "$release"
	put_intel 85 intel_pt
	put /proc/cmdline quiet
	put_user 0 0 000001ffffffffff
	put "/boot/config-$release" CONFIG_PERF_EVENTS=y CONFIG_MODULES=y CONFIG_KPROBES=y \
		CONFIG_DEBUG_INFO_BTF=y
	put /sys/kernel/btf/vmlinux x
	put /sys/kernel/security/lockdown "[none] integrity confidentiality"
	put /sys/module/module/parameters/sig_enforce N
	put /sys/devices/system/cpu/present 0-1
	put /sys/devices/system/cpu/online 0-1
	put /sys/bus/event_source/devices/intel_pt/type 8
	put /sys/bus/event_source/devices/software/type 1
	put /etc/group root:x:0: auxtrace:x:990:
	put "$modules/updates/dkms/x"
	cp "$built/module/auxtrace.ko" "$root$modules/updates/dkms/"
	depmod -b "$root" "$release" 2>/dev/null
	put /sys/module/auxtrace/parameters/consumer compat
	put /sys/module/auxtrace/parameters/group_access N
	put /sys/module/auxtrace/parameters/max_total 1073741824
	for cpu in 0 1; do
		put /sys/class/auxtrace/auxtrace$cpu/state closed
		put /sys/class/auxtrace/auxtrace$cpu/buffer_size 4194304
		put /dev/auxtrace$cpu
		chmod 600 "$root/dev/auxtrace$cpu"
	done
}

# Each test has the well system, and changes it.
setup() {
	cp -a "$root" "$BATS_TEST_TMPDIR/root"
	root=$BATS_TEST_TMPDIR/root
}

doctor() { "$auxtrace" doctor --root "$root" "$@"; }

# says VERDICT CHECK PATTERN [ADVICE]: that line is there, and that advice below it; the
# exit code is that of the worst line.
says() {
	local line expected=0
	run --separate-stderr doctor
	[[ -z $stderr ]]
	! grep -q '^problem ' <<<"$output" || expected=1
	[[ $status -eq $expected ]]
	line=$(grep -A 1 -E "^$1 +$2 " <<<"$output") || {
		echo "no line '$1 $2' in:"
		echo "$output"
		return 1
	}
	echo "$line"
	head -n 1 <<<"$line" | grep -qE "^$1 +$2 +$3"
	if [[ ${4-} ]]; then
		tail -n +2 <<<"$line" | grep -qE "^ +> .*$4"
	else
		run ! grep -qE '^ +> ' <<<"$line"
	fi
}

silent_about() {
	run doctor
	run ! grep -E "^[a-z]+ +$1 " <<<"$output"
}

unload_module() { rm -r "$root/sys/module/auxtrace" "$root/sys/class/auxtrace" "$root"/dev/auxtrace*; }

@test "all is well: no problem, exit code 0" {
	run -0 --separate-stderr doctor
	echo "$output"
	[[ -z $stderr && ${lines[-1]} == "problems: 0, notes: 0" ]]
	for check in kernel config cpu pmu lockdown signature module cpus devices access; do
		grep -qE "^ok +$check " <<<"$output"
	done
	run ! grep -vE '^ok |^problems: |^$' <<<"$output"
}

@test "--json says the same" {
	put_intel 85 "intel_pt hypervisor"
	put /sys/kernel/security/lockdown "none integrity [confidentiality]"
	run -1 doctor --json
	python3 - "$output" <<-'END'
		import json, sys
		report = json.loads(sys.argv[1])
		checks = {c["check"]: c for c in report["checks"]}
		assert checks["lockdown"]["verdict"] == "problem", checks
		assert "lockdown=confidentiality" in checks["lockdown"]["advice"]
		assert checks["kernel"] == {"check": "kernel", "verdict": "ok",
			"text": checks["kernel"]["text"], "advice": None}
		assert report["problems"] == 1 and report["notes"] == 1, report
	END
}

@test "kernel: too old" {
	put /proc/sys/kernel/osrelease 5.10.0-30-amd64
	says problem kernel "Linux 5.10.0-30-amd64 is too old" "6.1 or newer"
	put /proc/sys/kernel/osrelease 6.0.0
	says problem kernel "Linux 6.0.0 is too old" "6.1 or newer"
	put /proc/sys/kernel/osrelease 6.10.0
	says ok kernel "Linux 6.10.0"
}

@test "config: what is missing is named; also from /proc/config.gz; none" {
	put "/boot/config-$release" CONFIG_PERF_EVENTS=y CONFIG_MODULES=y "# CONFIG_KPROBES is not set"
	says problem config "the kernel was built without CONFIG_KPROBES CONFIG_DEBUG_INFO_BTF" "use a kernel"
	# The native provider needs neither.
	put /sys/module/auxtrace/parameters/consumer native
	says ok config "/boot/config"
	put /sys/module/auxtrace/parameters/consumer compat
	gzip -c "$root/boot/config-$release" >"$root/proc/config.gz"
	rm "$root/boot/config-$release"
	says problem config "the kernel was built without CONFIG_KPROBES" "use a kernel"
	rm "$root/proc/config.gz"
	says note config "the kernel's configuration is not to be found"
}

@test "btf: missing, while the module is not loaded" {
	rm "$root/sys/kernel/btf/vmlinux"
	silent_about btf
	unload_module
	says note btf "no /sys/kernel/btf/vmlinux" "CONFIG_DEBUG_INFO_BTF"
}

@test "cpu: Intel without PT, in a VM; AMD; neither" {
	put_intel 44 ""
	says note cpu "Some Xeon, which has no Intel PT"
	put_intel 85 hypervisor
	says note cpu "Some Xeon, which shows no Intel PT to this VM"
	put /proc/cpuinfo $'vendor_id\t: AuthenticAMD' $'model name\t: Some EPYC' $'flags\t\t: fpu'
	says note cpu "Some EPYC, which has no hardware trace"
	put /proc/cpuinfo $'isa\t: rv64'
	says note cpu "unknown CPU: neither"
}

@test "vm: with a PMU, without, and of which kind" {
	put_intel 85 "intel_pt hypervisor"
	put /sys/class/dmi/id/product_name "Standard PC"
	says ok vm "a virtual machine \(Standard PC\), which has a trace PMU"
	rm -r "$root/sys/bus/event_source/devices/intel_pt"
	says note vm "a virtual machine \(Standard PC\), and few" "pt_mode=1"
}

@test "pmu: none: what to do depends on the CPU" {
	rm -r "$root/sys/bus/event_source/devices/intel_pt"
	says problem pmu "there is no trace PMU" "see why the kernel's driver refused"
	put_intel 44 ""
	says problem pmu "there is no trace PMU" "use a machine that has"
	put /proc/cpuinfo $'CPU implementer\t: 0x41'
	says problem pmu "there is no trace PMU" "modprobe arm_spe_pmu"
	put /sys/bus/event_source/devices/arm_spe_0/type 9
	put /sys/bus/event_source/devices/arm_spe_1/type 10
	says ok pmu "arm_spe_0, arm_spe_1$"
}

@test "pmu: one that the module has found" {
	put /sys/class/auxtrace/auxtrace0/pmu intel_pt
	put /sys/class/auxtrace/auxtrace1/pmu hisi_ptt
	put /sys/class/auxtrace/auxtrace2/pmu hisi_pt
	says ok pmu "intel_pt, hisi_ptt, hisi_pt$"
}

@test "kpti: on arm64 alone" {
	local meltdown=/sys/devices/system/cpu/vulnerabilities/meltdown
	put $meltdown "Mitigation: PTI"
	silent_about kpti
	put /proc/cpuinfo $'CPU implementer\t: 0x41'
	put "/boot/config-$release" CONFIG_PERF_EVENTS=y CONFIG_MODULES=y CONFIG_KPROBES=y \
		CONFIG_DEBUG_INFO_BTF=y
	says problem config "the kernel was built without CONFIG_ARM_SPE_PMU" "use a kernel"
	rm -r "$root/sys/bus/event_source/devices/intel_pt"
	says problem kpti "kernel page table isolation is on" "kpti=off"
	put /sys/bus/event_source/devices/arm_spe_0/type 9
	says note kpti "kernel page table isolation is on" "kpti=off"
	put $meltdown "Not affected"
	says ok kpti "not in use \(Not affected\)"
	put $meltdown "Mitigation: PTI"
	put /proc/cmdline "quiet kpti=off"
	says ok kpti "off"
}

@test "vmx: CPUs that trace nothing while KVM uses them; pt_mode" {
	put /sys/module/kvm_intel/parameters/pt_mode 0
	silent_about vmx
	put /sys/module/kvm_intel/parameters/pt_mode 1
	says note vmx "kvm_intel has pt_mode=1"
	put_intel 79 intel_pt
	says note vmx "this CPU \(Broadwell\)" "end virtual machines"
}

@test "lockdown" {
	put /sys/kernel/security/lockdown "none integrity [confidentiality]"
	says problem lockdown confidentiality "lockdown=confidentiality"
	put /sys/kernel/security/lockdown "none [integrity] confidentiality"
	says ok lockdown integrity
	rm "$root/sys/kernel/security/lockdown"
	says ok lockdown "this kernel has none"
}

@test "signature: must there be one, is there one" {
	local efi=/sys/firmware/efi/efivars/SecureBoot-8be4df61-93ca-11d2-aa0d-00e098032b8c
	says ok signature unsigned
	put $efi
	printf '\6\0\0\0\1' >"$root$efi"
	says note signature "the file is unsigned, though the module is loaded"
	unload_module
	says note signature "unsigned, and with Secure Boot" "mokutil"
	printf '\6\0\0\0\0' >"$root$efi"
	says ok signature unsigned
	put /sys/module/module/parameters/sig_enforce Y
	says problem signature "unsigned, and this kernel takes signed" "mokutil"
	put /sys/module/module/parameters/sig_enforce N
	put /sys/kernel/security/lockdown "none [integrity] confidentiality"
	says problem signature "unsigned, and this kernel takes signed" "mokutil"
	sign_module
	says ok signature "signed by auxtrace test"
}

# By the kernel's own program, as DKMS does it.
sign_module() {
	openssl req -new -x509 -newkey rsa:2048 -nodes -days 1 -subj "/CN=auxtrace test" \
		-keyout "$BATS_TEST_TMPDIR/key" -outform DER -out "$BATS_TEST_TMPDIR/cert" 2>/dev/null
	"$(find "$(readlink -f "$("$top/tests/vm/kernel" headers)/../../..")" -name sign-file -type f | head -n 1)" \
		sha256 "$BATS_TEST_TMPDIR/key" "$BATS_TEST_TMPDIR/cert" \
		"$root/lib/modules/$release/updates/dkms/auxtrace.ko"
}

@test "module: not loaded, denied, damaged, another kernel's, not there" {
	local file=$root/lib/modules/$release/updates/dkms/auxtrace.ko
	unload_module
	says problem module "built, but not loaded" "auxtrace load"
	put /usr/lib/modprobe.d/x.conf "blacklist auxtrace"
	says problem module "/usr/lib/modprobe.d/x.conf has 'blacklist auxtrace'" "remove that line"
	rm -r "$root/usr/lib/modprobe.d"
	sed -i "s/vermagic=./vermagic=9/" "$file"
	says problem module "built for kernel 9" "dkms install --force"
	echo >"$file"
	says problem module "the file is damaged" "dkms install --force"
	rm "$file"
	depmod -b "$root" "$release" 2>/dev/null
	says problem module "not there for this kernel" "install auxtrace-dkms"
	rm -r "$root/lib"
	says problem module "there is no module tree /lib/modules/$release" "reboot into one"
}

@test "cpus: some are offline" {
	put /sys/devices/system/cpu/online 0
	says note cpus "0 are online, of 0-1"
}

@test "devices: in error, over max_total" {
	put /sys/module/auxtrace/parameters/max_total 6291456
	says note devices "the buffers of all devices together \(8M\) are over max_total \(6M\)" "record fewer"
	put /sys/class/auxtrace/auxtrace1/state error
	says problem devices "in error, the PMU refuses to run: auxtrace1" "dmesg"
}

@test "access: by capability, by owner, by group, not at all" {
	local parameter=/sys/module/auxtrace/parameters/group_access
	put_user 1000 "4 1000" 0000000000000000
	says problem access "you lack CAP_PERFMON, and group_access is off" "group_access"
	put $parameter Y
	says problem access "you may not open /dev/auxtrace0 \(mode 0600, group root\)" "udev rule"
	chmod 640 "$root/dev/auxtrace0"
	chgrp 990 "$root/dev/auxtrace0"
	says problem access "you may not open /dev/auxtrace0 \(mode 0640, group auxtrace\)" "usermod -aG auxtrace"
	put_user 1000 "4 990 1000" 0000000000000000
	says ok access "your group may open /dev/auxtrace0"
	put_user 990 "" 0000000000000000
	says ok access "your group may open /dev/auxtrace0"
	put $parameter N
	says problem access "you lack CAP_PERFMON" "group_access"
	put_user 990 "" 0000004000000000
	says ok access "your group may open /dev/auxtrace0"
	chown 1000 "$root/dev/auxtrace0"
	put_user 1000 "" 0000000000200000
	says ok access "you own /dev/auxtrace0"
	put_user 1001 "" 0000004000000000
	chmod 644 "$root/dev/auxtrace0"
	says note access "everybody may open /dev/auxtrace0"
	rm "$root/dev/auxtrace0"
	says problem access "/dev/auxtrace0 is not there" "udev"
	unload_module
	put_user 1000 "" 0000000000000000
	says note access "to load the module, and by default to record, takes root"
}

@test "access: a user in thousands of groups" {
	chmod 640 "$root/dev/auxtrace0"
	chgrp 990 "$root/dev/auxtrace0"
	put_user 1000 "$(seq -s ' ' 1000000 1003000)" 0000004000000000
	says problem access "you may not open /dev/auxtrace0" "usermod -aG auxtrace"
	put_user 1000 "$(seq -s ' ' 1000000 1003000) 990 2000000" 0000004000000000
	says ok access "your group may open /dev/auxtrace0"
}

@test "readers and perf events: which processes" {
	local pid
	for pid in 77 123; do
		put /proc/$pid/comm cat$pid
		mkdir "$root/proc/$pid/fd"
		ln -s /dev/null "$root/proc/$pid/fd/0"
	done
	silent_about readers
	silent_about perf
	ln -s /dev/auxtrace0 "$root/proc/123/fd/3"
	ln -s /dev/auxtrace1 "$root/proc/123/fd/4"
	ln -s 'anon_inode:[perf_event]' "$root/proc/77/fd/3"
	ln -s 'anon_inode:[perf_event]' "$root/proc/77/fd/5"
	says note readers "in use: cat123 \(123\) /dev/auxtrace0 /dev/auxtrace1$" "one reader"
	says note perf "perf events are open: cat77 \(77\)$" "one user at a"
}

@test "names and links that are not as they should be do nothing to the terminal" {
	put_intel 85 intel_pt
	sed -i $'s/Some Xeon/Some\033[31m \302\233Xeon/' "$root/proc/cpuinfo"
	put /proc/77/comm $'a\033[2J\nb\177\302\205c\233d'
	mkdir "$root/proc/77/fd"
	ln -s $'/dev/auxtrace0\033[31m' "$root/proc/77/fd/3"
	ln -s /dev/auxtrace0x "$root/proc/77/fd/4"
	ln -s "/dev/auxtrace0 (deleted)" "$root/proc/77/fd/5"
	ln -s /dev/auxtrace "$root/proc/77/fd/6"
	silent_about readers
	says ok cpu 'Some\?\[31m \?Xeon, which has'
	ln -s /dev/auxtrace11 "$root/proc/77/fd/7"
	ln -s 'anon_inode:[perf_event]' "$root/proc/77/fd/8"
	says note readers 'in use: a\?\[2J\?b\?\?c\?d \(77\) /dev/auxtrace11$' "one reader"
	says note perf 'perf events are open: a\?\[2J\?b\?\?c\?d \(77\)$' "one user"
	LC_ALL=C run ! grep -aP '[\x00-\x09\x0b-\x1f\x7f-\x9f]' <<<"$output"
	run doctor --json
	LC_ALL=C run ! grep -aP '[\x00-\x09\x0b-\x1f\x7f-\x9f]' <<<"$output"
}

@test "wrong command lines; no copy of a system" {
	run -2 --separate-stderr "$auxtrace" doctor now
	[[ -z $output && $stderr == *"see auxtrace doctor --help" ]]
	run -1 --separate-stderr "$auxtrace" doctor --root "$BATS_TEST_TMPDIR"
	[[ -z $output && ${#stderr_lines[@]} -eq 1 && $stderr == *"no copy of a system"* ]]
}

@test "this machine: whatever it is, an answer" {
	run --separate-stderr "$auxtrace" doctor
	[[ $status -le 1 && -z $stderr && $output == *"problems: "* ]]
	# No colours but on a terminal, and not there with NO_COLOR.
	run ! grep -q $'\033' <<<"$output"
	run script -qec "$auxtrace doctor" /dev/null
	grep -q $'\033\[3' <<<"$output"
	NO_COLOR=1 run script -qec "$auxtrace doctor" /dev/null
	run ! grep -q $'\033' <<<"$output"
}
