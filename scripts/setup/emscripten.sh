# The WebAssembly compiler. Sourced by scripts/setup.sh.
#
# In this order: an emcc on PATH that is new enough; the distribution's package
# when it is new enough (Debian 13 and later); on Debian 12 the packages of
# Debian 13, unpacked into the cache folder without being installed. They run
# there with the LLVM 19 of Debian 12 itself, except for Binaryen, which needs
# Debian 13's C library: its tools are started through that library's loader.

NEWER_SUITE=trixie
UNPACKED_PACKAGES=(emscripten binaryen node-acorn libc6 libstdc++6 libgcc-s1)

install_emscripten() {
  good_emcc_on_path && return
  if have_apt; then
    install_emscripten_package && return
    if [ -d /usr/lib/llvm-19 ]; then unpack_emscripten; return; fi
  fi
  fail "install Emscripten $EMSCRIPTEN_MINIMUM or newer and put emcc on PATH"
}

# Debian 13 and later, Ubuntu 25 and later.
install_emscripten_package() {
  local candidate
  candidate=$(apt-cache policy emscripten | sed -n 's/^ *Candidate: //p')
  version_at_least "${candidate%%[+~-]*}" "$EMSCRIPTEN_MINIMUM" || return 1
  [ "$(id -u)" = 0 ] || fail "as root, run: apt-get install --no-install-recommends emscripten"
  say "installing emscripten $candidate"
  apt_quietly install -y --no-install-recommends emscripten || fail "apt-get could not install emscripten"
  good_emcc_on_path
}

unpack_emscripten() {
  say "unpacking Emscripten $EMSCRIPTEN_MINIMUM into $EMSCRIPTEN_FOLDER (once)"
  local work="$EMSCRIPTEN_FOLDER.partial"
  rm -rf "$work" "$EMSCRIPTEN_FOLDER"
  mkdir -p "$work/apt/lists/partial" "$work/apt/archives/partial" "$work/debs"
  newer_sources "$work/apt/newer" || fail "found no Debian source in /etc/apt to derive $NEWER_SUITE from"
  download_newer "$work" || fail "could not download ${UNPACKED_PACKAGES[*]} of Debian $NEWER_SUITE"
  for deb in "$work"/debs/*.deb; do unpack_deb "$deb" "$work"; done
  rm -rf "$work/apt" "$work/debs"
  mv "$work" "$EMSCRIPTEN_FOLDER"
  wrap_binaryen "$EMSCRIPTEN_FOLDER"
  configure_emscripten "$EMSCRIPTEN_FOLDER"
  PATH="$EMSCRIPTEN_FOLDER/usr/share/emscripten:$PATH"
  good_emcc_on_path || fail "the unpacked emcc does not run: $(emcc --version 2>&1 | tail -n 1)"
  touch "$EMSCRIPTEN_FOLDER/ready"
}

# Writes $1.list and $1.sources: the machine's own Debian sources with the suite's name replaced.
# Third-party, security and update sources are left out: they have no such suite, or none that is needed.
newer_sources() {
  local suite
  suite=$(. /etc/os-release && printf %s "$VERSION_CODENAME")
  local own_lists=(/etc/apt/sources.list /etc/apt/sources.list.d/*.list)
  local own_stanzas=(/etc/apt/sources.list.d/*.sources)
  cat "${own_lists[@]}" 2>/dev/null |
    awk -v own="$suite" -v newer="$NEWER_SUITE" -f scripts/setup/newer-list.awk >"$1.list"
  for file in "${own_stanzas[@]}"; do [ -e "$file" ] && cat "$file" && echo; done |
    awk -v own="$suite" -v newer="$NEWER_SUITE" -f scripts/setup/newer-stanzas.awk >"$1.sources"
  [ -s "$1.list" ] || [ -s "$1.sources" ]
}

# A private apt: own lists, own cache, own sources, the machine's keys and proxy settings.
download_newer() {
  local state="$1/apt"
  mkdir -p "$state/parts"
  mv "$state"/newer.* "$state/parts/"
  find "$state/parts" -empty -type f -delete
  local private=(-qq -o "Dir::State=$state" -o "Dir::State::Lists=$state/lists"
    -o Dir::State::status=/var/lib/dpkg/status -o "Dir::Cache=$state" -o "Dir::Cache::Archives=$state/archives"
    -o Dir::Etc::SourceList=/dev/null -o "Dir::Etc::SourceParts=$state/parts"
    -o Acquire::Languages=none -o APT::Sandbox::User=)
  apt-get "${private[@]}" update >&2 || true  # one bad source of several is no reason to stop
  (cd "$1/debs" && apt-get "${private[@]}" download "${UNPACKED_PACKAGES[@]}" >&2)
}

# unpack_deb FILE FOLDER: without what a C++ library never links (it more than halves the 1.6 GB).
unpack_deb() {
  dpkg-deb --fsys-tarfile "$1" |
    tar -x -C "$2" --exclude='./usr/share/doc' --exclude='./usr/share/emscripten/docs' \
      --exclude='libGL*-emu*' --exclude='libGL*-full_es3*' --exclude='libGL*-ofb*' --exclude='libGL*-webgl2*' \
      --exclude='*-mt*.a' --exclude='*-ww*.a' --exclude='*/wasm64-emscripten/*'
}

# Each Binaryen tool becomes a script that starts it with the C library it was built for.
wrap_binaryen() {
  local loader libraries
  loader=$(find "$1/usr/lib" -name 'ld-linux*.so.*' | head -n 1)
  libraries=$(dirname "$(find "$1/usr/lib" -name libbinaryen.so | head -n 1)")
  mkdir -p "$1/binaryen/bin"
  for tool in "$1"/usr/bin/wasm*; do
    local wrapper="$1/binaryen/bin/${tool##*/}"
    printf '#!/bin/sh\nexec "%s" --library-path "%s" "%s" "$@"\n' "$loader" "$libraries" "$tool" >"$wrapper"
    chmod +x "$wrapper"
  done
}

configure_emscripten() {
  local home="$1/usr/share/emscripten"
  cat >"$home/.emscripten" <<CONFIG
LLVM_ROOT = '/usr/lib/llvm-19/bin'
BINARYEN_ROOT = '$1/binaryen'
NODE_JS = 'node'
CACHE = '$home/cache'
FROZEN_CACHE = True
CONFIG
  # Emscripten's optimizer imports acorn, which Debian packages on its own.
  mkdir -p "$home/node_modules"
  ln -sfn "$1/usr/share/nodejs/acorn" "$home/node_modules/acorn"
}
