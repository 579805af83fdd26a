# Owns what another architecture takes: apt's view of its packages, from the sources
# that this machine's apt has, with lists of its own in the cache; and the compiler for
# a kernel that is not this machine's. Sourced, after common.bash.
# shellcheck shell=bash

host_arch() { dpkg --print-architecture; }

# use_arch ARCH: from here on apt's packages are those of ARCH, as Debian calls it,
# none of them installed. Sets apt_lists to a file that is newer than any answer that
# apt gave before its lists changed.
use_arch() {
	local dir
	apt_lists=/var/lib/apt/lists
	[[ $1 != "$(host_arch)" ]] || return 0
	dir=$(cache_dir)/apt/$1
	mkdir -p "$dir"/{state/lists/partial,cache/archives/partial}
	cat >"$dir/apt.conf" <<-END
		Dir::State "$dir/state";
		Dir::State::status "/dev/null";
		Dir::Cache "$dir/cache";
		APT::Sandbox::User "root";
		APT::Architecture "$1";
		APT::Architectures { "$1"; "$(host_arch)"; };
	END
	export APT_CONFIG=$dir/apt.conf
	if [[ ! $dir/updated -nt $apt_lists ]]; then
		say "running apt-get update for $1"
		exec {apt_lock}>"$dir/.lock"
		flock "$apt_lock"
		if apt-get update -qq >&2; then touch "$dir/updated"; fi
		exec {apt_lock}>&-
	fi
	# shellcheck disable=SC2034 # for those who source this
	apt_lists=$dir/updated
}

# choose_compiler ARCH: sets cross, the prefix of the compiler's name, and make_arch,
# what the kernel's build system is told.
choose_compiler() {
	cross='' make_arch=()
	[[ $1 != "$(host_arch)" ]] || return 0
	case $1 in
	amd64) cross=x86_64-linux-gnu- make_arch=(ARCH=x86) ;;
	arm64) cross=aarch64-linux-gnu- make_arch=(ARCH=arm64) ;;
	*) die "no modules for $1 are built here" ;;
	esac
	# shellcheck disable=SC2034 # for those who source this
	make_arch+=("CROSS_COMPILE=$cross")
}

# choose_compiler_root KERNEL: sets in_root, what runs the compiler (and the DKMS) that
# the headers of KERNEL (as in tests/vm/kernel) want.
choose_compiler_root() {
	local suite=${1%%:*} release
	in_root=()
	[[ $1 == *:* ]] || return 0
	release=${suite%-backports}
	# shellcheck disable=SC1091,SC2034 # the machine's; for those who source this
	[[ $release == "$(. /etc/os-release && printf '%s' "${VERSION_CODENAME-}")" ]] ||
		in_root=("$(dirname "${BASH_SOURCE[0]}")/debian" "$release")
}
