# Bad input and missing prerequisites: the documented errno, one line in the log,
# and nothing left behind.

load lib

setup() { modprobe auxtrace_sim; }

teardown() {
	unload_modules
	while umount /sys/kernel/btf/vmlinux 2>/dev/null; do :; done
	echo 1 >/sys/devices/system/cpu/cpu1/online
}

nothing_left() {
	[[ ! -e /dev/auxtrace0 && ! -d $class && ! -d /sys/module/auxtrace ]]
	# The simulated PMU is held by nobody.
	[[ $(<"/sys/module/auxtrace_sim/refcnt") -eq 0 ]]
}

@test "load: parameters out of range" {
	local -a bad=(
		buffer_size=0 buffer_size=4096 buffer_size=12345678 buffer_size=4G
		buffer_size=-1 buffer_size=big buffer_size=4Mx buffer_size=0x10000000000004000
		buffer_size=18014398509482000K max_total=17592186044420M watermark=17179869184G
		watermark=-5 watermark=3G
		flush_ms=-1 flush_ms=3600001 flush_ms=soon
		format=cooked config=red config1=0x config2=99999999999999999999
		period=0x8000000000000000 period=-1
		exclude_user=maybe exclude_kernel=2
		max_total=0 max_total=much
	)
	for parameter in "${bad[@]}"; do
		refused "Invalid argument" "${parameter%%=*}=.*refused: " modprobe auxtrace "$parameter"
		nothing_left
	done
}

@test "load: a watermark longer than the buffer" {
	refused "Invalid argument" "a watermark is at most the buffer" \
		modprobe auxtrace buffer_size=64K watermark=128K
	nothing_left
}

@test "load: config3 is taken where perf has it, and refused where it has not" {
	if modprobe auxtrace config3=1 2>/dev/null; then
		[[ $(<$class/auxtrace0/config3) == 0x1 ]]
	else
		refused "Invalid argument" "config3=1 refused: .*this kernel's perf has no config3" \
			modprobe auxtrace config3=1
		nothing_left
	fi
}

@test "load: consumer is not for setting" {
	refused "Operation not permitted" "consumer=native refused" modprobe auxtrace consumer=native
	nothing_left
}

@test "load: settings that the PMU refuses" {
	refused "Invalid argument" "auxtrace_sim refuses the event settings" \
		modprobe auxtrace config="$(sim_config 100 7)"
	nothing_left
}

@test "load: no such PMU" {
	refused "No such device" "no PMU 'intel_pt' .*there are: auxtrace_sim" \
		modprobe auxtrace pmu=intel_pt
	nothing_left
	refused "No such device" "no PMU 'software'" modprobe auxtrace pmu=software
	nothing_left
}

@test "load: no PMU with an AUX buffer at all" {
	rmmod auxtrace_sim
	refused "No such device" "no PMU 'auto' .*nor any other.*Usual causes" modprobe auxtrace
	modprobe auxtrace_sim
	nothing_left
}

@test "load: pmu=NAME finds a PMU by any name, and holds its driver" {
	rmmod auxtrace_sim
	modprobe auxtrace_sim name=other_pmu
	modprobe auxtrace pmu=other_pmu
	[[ $(<$class/auxtrace0/pmu) == other_pmu ]]
	run ! rmmod auxtrace_sim
	[[ $output == *"in use"* ]]
}

# A BTF in which a name is not what it was, in the place of the kernel's.
with_btf() {
	sed "s/\\x00$1\\x00/\\x00$2\\x00/" /sys/kernel/btf/vmlinux >/run/btf
	run ! cmp -s /run/btf /sys/kernel/btf/vmlinux
	mount --bind /run/btf /sys/kernel/btf/vmlinux
}

compat_only() {
	modprobe auxtrace
	local consumer
	consumer=$(</sys/module/auxtrace/parameters/consumer)
	rmmod auxtrace
	[[ $consumer == compat ]] || skip "the provider is $consumer"
}

@test "compat: a missing member is named" {
	compat_only
	local member
	for member in aux_pgoff aux_mmap_count aux_refcount user_page aux_pages aux_nr_pages event_lock; do
		with_btf "$member" "${member/?/z}"
		refused "Operation not supported" "struct perf_(buffer|event).* $member" modprobe auxtrace
		nothing_left
		umount /sys/kernel/btf/vmlinux
	done
}

@test "compat: a missing function is named" {
	compat_only
	local function
	for function in rb_alloc rb_alloc_aux rb_free_aux ring_buffer_get ring_buffer_put; do
		with_btf "$function" "${function/?/z}"
		refused "Operation not supported" "no function $function\\(\\)" modprobe auxtrace
		nothing_left
		umount /sys/kernel/btf/vmlinux
	done
}

# displaced_btf MEMBER BYTES: a BTF in which the member is so far from where it was. The
# name stands once in the strings, as no other struct has a member of that name.
displaced_btf() {
	perl -e '
		my ($member, $bytes) = @ARGV;
		local $/;
		my $btf = <STDIN>;
		my ($magic, $version, $flags, $header, $types, $types_len, $strings) =
			unpack "SCCLLLL", $btf;
		my $name = index($btf, "\0$member\0", $header + $strings) + 1;
		die "no $member" unless $name;
		my $key = pack "L", $name - $header - $strings;
		my $at = $header + $types - 4;
		do { $at = index $btf, $key, $at + 4 } while ($at % 4);
		die "no member $member" if $at < 0 || $at >= $header + $types + $types_len;
		substr $btf, $at + 8, 4, pack "L", 8 * $bytes + unpack "L", substr $btf, $at + 8, 4;
		print $btf;
	' "$1" "$2" </sys/kernel/btf/vmlinux >/run/btf
	run ! cmp -s /run/btf /sys/kernel/btf/vmlinux
	mount --bind /run/btf /sys/kernel/btf/vmlinux
}

@test "compat: a member at a wrong offset is named" {
	compat_only
	local member bytes
	for member in aux_pgoff aux_mmap_count aux_refcount aux_pages; do
		for bytes in -8 8; do
			displaced_btf $member $bytes
			refused "Operation not supported" "struct perf_buffer: member $member overlaps" \
				modprobe auxtrace
			nothing_left
			umount /sys/kernel/btf/vmlinux
		done
	done
}

@test "compat: a type that is another is named" {
	compat_only
	with_btf refcount_t refcount_x
	refused "Operation not supported" "refcount is a 'refcount_x'.* not a 'refcount_t'" \
		modprobe auxtrace
	nothing_left
}

@test "compat: no struct perf_buffer, no BTF, a BTF cut short, no BTF at all" {
	compat_only
	with_btf perf_buffer perf_buffex
	refused "Operation not supported" "no struct perf_buffer" modprobe auxtrace
	umount /sys/kernel/btf/vmlinux
	local size
	for size in 0 10 24 1000 1000000; do
		head -c "$size" /sys/kernel/btf/vmlinux >/run/btf
		mount --bind /run/btf /sys/kernel/btf/vmlinux
		refused "Operation not supported" "cannot read the kernel's BTF" modprobe auxtrace
		umount /sys/kernel/btf/vmlinux
		nothing_left
	done
	mount -t tmpfs none /sys/kernel/btf
	refused "Operation not supported" "cannot read the kernel's BTF" modprobe auxtrace
	umount /sys/kernel/btf
	nothing_left
}

@test "open: for writing" {
	modprobe auxtrace
	for mode in wo rw neither; do
		mark_log
		run -0 fileops open $mode /dev/auxtrace0
		[[ $output == EACCES ]]
		logged "auxtrace0: open refused: read only"
	done
	state_is 0 closed
}

@test "open: twice" {
	modprobe auxtrace
	exec {fd}</dev/auxtrace0
	refused "busy" "auxtrace0: open refused: already open" cat /dev/auxtrace0
	# Another device is another matter.
	head -c 100 /dev/auxtrace1 >/dev/null
	# A duplicate keeps it open; the last close gives it back.
	exec {again}<&$fd {fd}<&-
	refused "busy" "already open" cat /dev/auxtrace0
	exec {again}<&-
	head -c 100 /dev/auxtrace0 >/dev/null
}

@test "open: CPU offline" {
	modprobe auxtrace
	echo 0 >/sys/devices/system/cpu/cpu1/online
	state_is 1 offline
	refused "No such device" "auxtrace1: CPU 1 is offline" cat /dev/auxtrace1
	state_is 1 offline
	echo 1 >/sys/devices/system/cpu/cpu1/online
	state_is 1 closed
	head -c 100 /dev/auxtrace1 >/dev/null
}

@test "load: with a CPU offline, which is there later" {
	echo 0 >/sys/devices/system/cpu/cpu1/online
	modprobe auxtrace
	refused "No such device" "CPU 1 is offline" cat /dev/auxtrace1
	echo 1 >/sys/devices/system/cpu/cpu1/online
	head -c 100 /dev/auxtrace1 >/dev/null
}

@test "open: over max_total" {
	modprobe auxtrace max_total=6M
	exec {fd}</dev/auxtrace0
	refused "Cannot allocate memory" "would exceed max_total=6291456 \\(4194304 in use\\)" \
		cat /dev/auxtrace1
	echo 8M >/sys/module/auxtrace/parameters/max_total
	head -c 100 /dev/auxtrace1 >/dev/null
	exec {fd}<&-
	refused "Invalid argument" "max_total=much refused: want bytes" \
		eval 'echo much >/sys/module/auxtrace/parameters/max_total'
}

@test "rmmod: refused while a device is open" {
	modprobe auxtrace
	exec {fd}</dev/auxtrace0
	run ! rmmod auxtrace
	[[ $output == *"in use"* ]]
	exec {fd}<&-
	rmmod auxtrace
}

@test "settings: bad values leave the old one" {
	modprobe auxtrace
	local -a bad=(
		buffer_size=0 buffer_size=4096 buffer_size=12345678 buffer_size=4G buffer_size=
		watermark=-5 watermark=8M flush_ms=-1 flush_ms=soon format=cooked
		config=red config="$(sim_config 100 7)" config1=0x10 config1=1
		period=-1 exclude_user=maybe exclude_kernel=7 exclude_user=10 exclude_user=0x10
	)
	for pair in "${bad[@]}"; do
		name=${pair%%=*} value=${pair#*=}
		old=$(<$class/auxtrace0/$name)
		if [[ $pair == config1=0x10 ]]; then
			# a good one, to see that the others are refused for cause
			setting 0 config1 "$value"
			setting 0 config1 "$old"
			continue
		fi
		refused "Invalid argument" "auxtrace0: .*($name=.*refused|a watermark is at most)" setting 0 "$name" "$value"
		[[ $(<$class/auxtrace0/$name) == "$old" ]]
	done
	for value in 0x1 0 1 n y 0x0 on off; do
		setting 0 exclude_user "$value"
		case $value in
		*1 | y | on) [[ $(<$class/auxtrace0/exclude_user) -eq 1 ]] ;;
		*) [[ $(<$class/auxtrace0/exclude_user) -eq 0 ]] ;;
		esac
	done
	setting 0 watermark 2M
	refused "Invalid argument" "a watermark is at most the buffer" setting 0 buffer_size 1M
	[[ $(<$class/auxtrace0/buffer_size) -eq $((4 << 20)) ]]
}

@test "settings: for intel_pt the watermark is a quarter of the buffer, until somebody sets it" {
	modprobe -r auxtrace_sim
	modprobe auxtrace_sim name=intel_pt
	modprobe auxtrace config=0
	[[ $(<$class/auxtrace0/pmu) == intel_pt && $(<$class/auxtrace0/watermark) -eq $((1 << 20)) ]]
	setting 0 buffer_size 64K
	[[ $(<$class/auxtrace0/watermark) -eq $((16 << 10)) ]]
	[[ $(control info /dev/auxtrace0) == *watermark=16384* ]]
	setting 0 watermark 0
	setting 0 buffer_size 128K
	[[ $(<$class/auxtrace0/watermark) -eq 0 ]]
	[[ $(control info /dev/auxtrace0) == *watermark=65536* ]]
	[[ $(<$class/auxtrace1/watermark) -eq $((1 << 20)) ]]
}

@test "settings: not while the device is open" {
	modprobe auxtrace
	exec {fd}</dev/auxtrace0
	for name in buffer_size watermark flush_ms format config config1 config2 period \
		exclude_user exclude_kernel; do
		value=$(<$class/auxtrace0/$name)
		run ! setting 0 $name "$value"
		[[ $output == *"busy"* ]]
		# another device's can be changed
		setting 1 $name "$value"
	done
	exec {fd}<&-
	setting 0 flush_ms 5
	[[ $(<$class/auxtrace0/flush_ms) -eq 5 ]]
}

@test "settings: what is read only" {
	modprobe auxtrace
	for name in pmu cpu state stats; do
		[[ $(stat -c %a $class/auxtrace0/$name) == 444 ]]
	done
	for name in buffer_size config consumer pmu; do
		[[ $(stat -c %a /sys/module/auxtrace/parameters/$name) == 444 ]]
	done
}
