# Sourced by the other scripts: where the tools are.
#
# ID2VEC_CACHE   folder for what is downloaded once and shared by all checkouts
# PATH           starts with the unpacked Emscripten where the machine's own emcc will not do

ID2VEC_CACHE="${ID2VEC_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/id2vec}"
EMSCRIPTEN_MINIMUM=3.1.69
EMSCRIPTEN_FOLDER="$ID2VEC_CACHE/emscripten-$EMSCRIPTEN_MINIMUM"
NODE24_VERSION=24.22.3
NODE24_FOLDER="$ID2VEC_CACHE/node-$NODE24_VERSION"
NODE24_PROGRAM="$NODE24_FOLDER/node"
export ID2VEC_CACHE

say() { printf 'id2vec: %s\n' "$*" >&2; }
fail() { say "$*"; exit 1; }

# version_at_least 3.1.74 3.1.69
version_at_least() { [ "$(printf '%s\n%s\n' "$2" "$1" | sort -V | head -n 1)" = "$2" ]; }

# True when the emcc on PATH is new enough. Version 3.1.6 (Debian 12's) lacks relaxed SIMD and --emit-tsd.
good_emcc_on_path() {
  local version
  version=$(emcc -dumpversion 2>/dev/null) || return 1
  version_at_least "${version%%[-+]*}" "$EMSCRIPTEN_MINIMUM"
}

# The unpacked toolchain is used when it is there; otherwise whatever is on PATH.
if [ -e "$EMSCRIPTEN_FOLDER/ready" ]; then
  PATH="$EMSCRIPTEN_FOLDER/usr/share/emscripten:$PATH"
  export PATH
fi
