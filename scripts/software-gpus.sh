#!/bin/bash
# Brings Vulkan drivers that run on the CPU (Mesa's lavapipe) into a cache folder, for testing without a GPU.
# Installs nothing, needs no root, changes nothing outside the cache folder.
#
#   scripts/software-gpus.sh [lavapipe-25] [lavapipe-26]      both, when none is named
#
#   lavapipe-25   Mesa 25: shader-f16, subgroups of 8
#   lavapipe-26   Mesa 26 or newer: the same, and subgroup matrices (8x8x8)
# LP_NATIVE_VECTOR_WIDTH=128 in the environment makes it subgroups of 4 and no matrices, as on a CPU without AVX.
#
# Prints "name version folder" for each; when one cannot be had, one line with the reason on stderr, and exits with 1.
# The folders are in ${WEBGEMM_CACHE:-${XDG_CACHE_HOME:-~/.cache}/webgemm}. To use one, copy dawn.node into it and
# require() that copy: Dawn takes the libvulkan.so.1 beside it, which is the driver itself. Other programs can be given
# the folder's icd.json (VK_DRIVER_FILES).
#
# Needs Debian 12 or newer (or an Ubuntu that has such a Mesa): apt-get, dpkg-deb; gcc, binutils; network the first time.
# Each folder holds all that its driver needs, except the C and C++ libraries.
set -u -o pipefail
shopt -s inherit_errexit
export LC_ALL=C
here=$(dirname "$(realpath "$0")")
cache=$(realpath -m "${WEBGEMM_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/webgemm}")
work=$cache/.software-gpus # everything under construction; a folder is moved out of it when it is whole

declare -A wanted=([lavapipe-25]='25[.]' [lavapipe-26]='(2[6-9]|[3-9][0-9])[.]') # versions of Mesa
from_system='^(lib(c|m|dl|pthread|rt|gcc_s|stdc[+][+])[.]so|ld-linux)' # the libraries that are never brought along
[ $# -gt 0 ] || set -- lavapipe-25 lavapipe-26
for name; do
  [ "${wanted[$name]-}" ] || { echo "software-gpus: no driver '$name', only: lavapipe-25 lavapipe-26" >&2; exit 1; }
done

have() { [ -s "$cache/$1/version" ]; }
give_up() { echo "$*" > "$work/reason"; exit 1; }

# Sets up an apt of our own in $work/apt: it leaves the system's lists, archives and locks alone.
prepare_apt() {
  local tool codename mirror keyring signed=
  for tool in apt-get apt-cache apt-config dpkg-deb gcc readelf ldd; do
    command -v $tool > /dev/null || give_up "there is no $tool on this machine"
  done
  mkdir -p "$work"/apt/{empty,state/lists/partial,archives/partial}
  cd "$work/apt"
  # shellcheck source=/dev/null
  . /etc/os-release
  codename=${UBUNTU_CODENAME:-${VERSION_CODENAME:-unknown}}
  # The distribution's own repositories, from the mirror that this machine uses: "URI suite component".
  apt-get indextargets --no-release-info --format '$(REPO_URI) $(RELEASE) $(COMPONENT)' 'Created-By: Packages' |
    grep -E " ($codename|stable|testing|sid|unstable)(-updates|-security|-backports)? (main|universe)\$" | sort -u > repositories ||
    give_up "apt's sources here name neither Debian nor Ubuntu ($ID ${VERSION_ID-})"
  # Newer drivers for Debian. The packages run on other releases than their own: see install.
  if [ "$ID" = debian ]; then
    mirror=$(grep -m1 -Ev ' [a-z]+-security ' repositories | cut -d' ' -f1)
    printf '%s %s-backports main\n' "$mirror" bookworm "$mirror" trixie >> repositories
  fi
  for keyring in "/usr/share/keyrings/$ID-archive-keyring."{pgp,gpg}; do
    [ ! -e "$keyring" ] || signed="[signed-by=$keyring] "
  done
  sed "s|^|deb $signed|" repositories > sources.list
  # The machine's settings for downloads (a proxy, say), but not its hooks, some of which empty the system's archive.
  { apt-config dump | grep '^Acquire::' | grep -v '^Acquire::IndexTargets'
    echo "Acquire::Languages \"none\"; Acquire::Retries \"3\"; APT::Sandbox::User \"root\"; Debug::NoLocking \"1\";
Dir::Etc { main \"/dev/null\"; parts \"$PWD/empty\"; sourcelist \"$PWD/sources.list\"; sourceparts \"$PWD/empty\";
  preferences \"/dev/null\"; preferencesparts \"$PWD/empty\"; };
Dir::State \"$PWD/state\"; Dir::State::status \"/dev/null\"; Dir::Cache \"$PWD\";"
  } > own.conf
  mv own.conf apt.conf
  # What fails here is told by what is missing later: one driver may be had without the other's repository.
  APT_CONFIG=$PWD/apt.conf apt-get -qq update &> update.log || true
}

needed() { readelf -d "$@" | sed -nE 's/.*\(NEEDED\).*\[(.*)\]/\1/p'; }

# Downloads packages and unpacks them into $work/root.
unpack() {
  local package
  (cd "$work/apt/archives" && apt-get -qq download "$@" >&2)
  for package; do dpkg-deb -x "$work/apt/archives/${package%%=*}"_*.deb "$work/root"; done
  rm "$work"/apt/archives/*.deb
}

# Makes weak every need for a C library newer than Debian 12's: what comes from it is looked up all the same, and the
# shim has it, but its absence is no longer an error. (A Vernaux's flags are at byte 4; VER_FLG_WEAK is 2.)
weaken() {
  local what offset section=0
  readelf -V "$1" | sed -nE '/^Version needs/{n; s/.* Offset: (0x[0-9a-f]+).*/section \1/p}
      s/^ *(0x[0-9a-f]+): +Name: GLIBC_2\.(3[7-9]|[4-9][0-9]) .*/need \1/p' |
    while read -r what offset; do
      if [ "$what" = section ]; then section=$offset
      else printf '\2' | dd of="$1" bs=1 seek=$((section + offset + 4)) conv=notrunc status=none; fi
    done
}

# Copies a library, if it was unpacked, into the folder that we are in.
keep() {
  local file
  file=$(find "$work/root" -name "$1" -print -quit)
  [ "$file" ] || return 0
  cp -L "$file" "$1"
  chmod u+w "$1"
  weaken "$1"
}

# Builds the shim; prints what the system's loader then misses. It needs every library of the folder directly, so that
# they are found by its search path and not by their own.
link() {
  gcc -O2 -w -fPIC -shared -I "$work" -o libvulkan.so.1 "$here/software-gpus/shim.c" \
    -Wl,--no-as-needed,-rpath,'$ORIGIN' -L. "${@/#/-l:}" >&2 || give_up "gcc cannot build here (is libc6-dev missing?)"
  ldd -r ./libvulkan.so.1 2>&1 | grep -E 'undefined symbol|not defined in|not found' | grep -v 'weak version' || true
}

# Makes the folder of one driver, $1, and moves it to its place.
install() {
  local version apt_says so libraries missing
  [ -e "$work/apt/apt.conf" ] || prepare_apt
  export APT_CONFIG=$work/apt/apt.conf
  version=$(apt-cache madison mesa-vulkan-drivers | awk -v want="^${wanted[$1]}" '!v && $3 ~ want { v = $3 } END { print v }')
  apt_says=$(head -n1 "$work/apt/update.log" | cut -c1-200)
  [ "$version" ] || give_up "apt offers no Mesa of that version here${apt_says:+ ($apt_says)}"
  rm -rf "$work/root" "${work:?}/$1"
  mkdir "$work/root" "$work/$1"
  cd "$work/$1"
  unpack "mesa-vulkan-drivers=$version"
  keep libvulkan_lvp.so
  # The libraries that the driver works with, as this machine's release has them, so that they suit its C library.
  unpack "$(needed libvulkan_lvp.so | sed -nE 's/^libLLVM[-.](so\.)?([0-9]+).*/libllvm\2/p')" libdrm2 libexpat1 libzstd1 zlib1g
  for so in $(needed libvulkan_lvp.so); do keep "$so"; done
  # The others are for windows, displays and LLVM's tools: an empty library stands for them, and stubs for what they have.
  gcc -shared -nostdlib -o libempty.so -x c /dev/null
  for so in $(needed lib*); do
    [[ $so =~ $from_system ]] || [ -e "$so" ] || ln -s libempty.so "$so"
  done
  libraries=(libvulkan_lvp.so *.so.*)
  : > "$work/stubs.h"
  missing=$(link "${libraries[@]}")
  sed -nE '/version (GLIBC|GCC|CXXABI)/d; s/^(undefined symbol: |symbol )(\w+).*/STUB(\2)/p' <<< "$missing" | sort -u > "$work/stubs.h"
  missing=$(link "${libraries[@]}")
  [ -z "$missing" ] || give_up "Mesa $version does not run with this machine's libraries: $(head -n1 <<< "$missing")"
  echo '{"file_format_version": "1.0.1", "ICD": {"library_path": "'"$cache/$1"'/libvulkan.so.1", "api_version": "1.3.0"}}' > icd.json
  echo "$version" > version
  rm -rf "${cache:?}/$1"
  mv "$work/$1" "$cache/$1"
}

missing=
for name; do have "$name" || missing=1; done
if [ "$missing" ]; then
  { mkdir -p "$cache" && exec 9> "$cache/.software-gpus.lock"; } 2> /dev/null ||
    { echo "software-gpus: cannot write to $cache" >&2; exit 1; }
  flock 9 # one run at a time
  trap 'rm -rf "$work"' EXIT
  rm -rf "$work" && mkdir "$work" || exit 1 # what a killed run has left behind
fi
status=0
for name; do
  if ! have "$name"; then
    [ ! -t 2 ] || echo "software-gpus: fetching $name ..." >&2
    rm -f "$work/reason"
    (set -e; install "$name") 2> "$work/log" # not within a condition: bash ignores set -e there
  fi
  if have "$name"; then
    echo "$name $(cat "$cache/$name/version") $cache/$name"
  else
    [ -s "$work/reason" ] || tail -n1 "$work/log" > "$work/reason"
    echo "software-gpus: no $name: $(cat "$work/reason")" >&2
    status=1
  fi
done
exit $status
