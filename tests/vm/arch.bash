# Owns apt's view of another architecture's packages: from the sources that this
# machine's apt has, with lists of its own in the cache. Sourced, after common.bash.
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
