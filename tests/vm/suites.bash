# Owns apt's view of Debian suites that this machine's apt does not know, such as
# a newer release and its backports: the mirrors are this machine's, the lists
# are kept in the cache. Sourced, after common.bash.
# shellcheck shell=bash

# mirror_of SUITE: where this machine's apt finds Debian, or its security updates.
mirror_of() {
	local label=Debian mirror
	[[ $1 != *-security ]] || label=Debian-Security
	# shellcheck disable=SC2016 # the fields are apt's
	mirror=$(apt-get indextargets --format '$(REPO_URI)' \
		'Created-By: Packages' 'Origin: Debian' "Label: $label" | sort -u | head -n 1)
	[[ -n $mirror ]] || die "apt knows no mirror for $1: run apt-get update"
	printf '%s\n' "$mirror"
}

# sources_of SUITE...: lines of a sources.list.
sources_of() {
	local suite mirror
	for suite; do
		mirror=$(mirror_of "$suite") || exit
		printf 'deb [signed-by=%s] %s %s main\n' \
			/usr/share/keyrings/debian-archive-keyring.gpg "$mirror" "$suite"
	done
}

# all_of SUITE: the suites that a machine with this release has.
all_of() {
	case $1 in
	*-backports | sid | unstable | experimental) printf '%s\n' "$1" ;;
	*) printf '%s\n' "$1" "$1-updates" "$1-security" ;;
	esac
}

write_apt_configuration() {
	local dir=$1
	shift
	mkdir -p "$dir"/{state/lists/partial,cache/archives/partial}
	sources_of "$@" >"$dir/sources.list"
	cat >"$dir/apt.conf" <<-END
		Dir::Etc::sourcelist "$dir/sources.list";
		Dir::Etc::sourceparts "-";
		Dir::State "$dir/state";
		Dir::State::status "/dev/null";
		Dir::Cache "$dir/cache";
		APT::Sandbox::User "root";
	END
}

# use_suites SUITE...: from here on apt is a machine's that has these
# alone. Their lists are brought up to date when this machine's own are newer, if there
# is a network.
use_suites() {
	local dir lists_lock
	unset APT_CONFIG
	dir=$(cache_dir)/apt/$(IFS=+; printf '%s' "$*")
	mkdir -p "$dir"
	exec {lists_lock}>"$dir/.lock"
	flock "$lists_lock"
	if [[ ! $dir/updated -nt /var/lib/apt/lists ]]; then
		write_apt_configuration "$dir" "$@"
		say "running apt-get update for $*"
		if APT_CONFIG=$dir/apt.conf apt-get update -qq >&2; then
			touch "$dir/updated"
		fi
	fi
	exec {lists_lock}>&-
	export APT_CONFIG=$dir/apt.conf
}
