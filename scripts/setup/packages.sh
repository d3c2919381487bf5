# Debian packages. Sourced by scripts/setup.sh; docs/dependencies.md says what each is for.

BUILD_PACKAGES=(cmake ninja-build clang-19 lld-19 llvm-19 python3 libeigen3-dev)
TEST_PACKAGES=(libclang-rt-19-dev libgtest-dev libsimde-dev clang-format-19 clang-tidy-19
  chromium firefox-esr webkit2gtk-driver xvfb fonts-dejavu-core)

check_node() {
  local version
  version=$(node --version 2>/dev/null) || fail "install Node.js 20.19 or newer"
  version_at_least "${version#v}" 20.19.0 || fail "Node.js $version is too old: install 20.19 or newer"
}

have_apt() { command -v apt-get >/dev/null && command -v dpkg-query >/dev/null; }

apt_quietly() {
  DEBIAN_FRONTEND=noninteractive apt-get -qq -o DPkg::Lock::Timeout=600 -o Dpkg::Use-Pty=0 "$@" >&2 </dev/null
}

# Prints those of its arguments that dpkg does not know as installed.
missing_packages() {
  local installed
  installed=" $(dpkg-query -W -f '${db:Status-Status}:${Package} ' "$@" 2>/dev/null || true)"
  for package in "$@"; do
    case "$installed" in
      *" installed:$package "*) ;;
      *) printf '%s ' "$package" ;;
    esac
  done
}

# Without apt the tools themselves are looked for, wherever they come from.
check_commands() {
  local wanted=(cmake ninja) missing=()
  [ "$1" = test ] && wanted+=(clang++)
  for command in "${wanted[@]}"; do
    command -v "$command" >/dev/null || missing+=("$command")
  done
  [ ${#missing[@]} -eq 0 ] || fail "not a Debian system: install ${missing[*]}, then run this again"
}

# install_packages build|test
install_packages() {
  have_apt || { check_commands "$1"; return; }
  local wanted=("${BUILD_PACKAGES[@]}") missing
  [ "$1" = test ] && wanted+=("${TEST_PACKAGES[@]}")
  missing=$(missing_packages "${wanted[@]}")
  [ -n "$missing" ] || return 0
  [ "$(id -u)" = 0 ] || fail "as root, run: apt-get install --no-install-recommends $missing"
  say "installing $missing"
  # The lists may be empty or old: a first try without an update saves time where they are not.
  # shellcheck disable=SC2086
  apt_quietly install -y --no-install-recommends $missing 2>/dev/null && return
  apt_quietly update || say "apt-get update reported a problem; going on with the lists there are"
  # shellcheck disable=SC2086
  apt_quietly install -y --no-install-recommends $missing || fail "apt-get could not install $missing"
}
