# Settings of Intel PT: what is set is what is traced.

load ../lib

setup_file() { leave_alone 1; }

setup() { load_auxtrace buffer_size=64M max_total=1G; }

teardown() { unload_modules; }

# traced WORD...: a short program on CPU 1, with these attributes
traced() {
	set_all "$@"
	record_trace /dev/auxtrace1 branches 1 50
	check_trace 1
	[[ $(field gaps) -eq 0 && $(field tip) -gt 1000 ]]
	row auxtrace 1 "$*"
}

@test "kernel alone, user space alone" {
	traced exclude_user=1
	[[ $(field ip_user) -eq 0 && $(field ip_kernel) -gt 100 ]]
	traced exclude_user=0 exclude_kernel=1
	[[ $(field ip_user) -gt 1000 && $(field ip_kernel) -eq 0 && $(field pip) -eq 0 ]]
}

# Of CYC the emulation takes the setting, and writes none.
@test "time stamps: TSC, MTC, CYC, none" {
	traced intel_pt/tsc=1,mtc=1,mtc_period=3/
	[[ $(field tsc) -gt 0 && $(field mtc) -gt 0 ]]
	traced intel_pt/tsc=1/
	[[ $(field tsc) -gt 0 && $(field mtc) -eq 0 ]]
	traced intel_pt/tsc=1,cyc=1/
	[[ $(field tsc) -gt 0 ]]
	traced config=0
	[[ $(field tsc) -eq 0 && $(field mtc) -eq 0 ]]
}

@test "the period of PSBs" {
	traced intel_pt/tsc=1,psb_period=0/
	many=$(($(field bytes) / $(field psb)))
	traced intel_pt/tsc=1,psb_period=4/
	few=$(($(field bytes) / $(field psb)))
	echo "$many bytes a PSB, $few"
	((many < 4096 && few > 16384))
}

@test "no branches, no compressed returns; what the hardware does not have is refused" {
	set_all intel_pt/pt=1,branch=0,tsc=1/
	record_trace /dev/auxtrace1 branches 1 50
	check_trace 1
	[[ $(field tip) -eq 0 && $(field tnt) -eq 0 && $(field tsc) -gt 0 ]]
	traced intel_pt/tsc=1,noretcomp=1/
	# PTWRITE is not among what CPUID says.
	run ! setting 1 config "$((1 << 12))"
	[[ $(<$class/auxtrace1/config) != "$((1 << 12))" ]]
}
