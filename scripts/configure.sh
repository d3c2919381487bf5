# Sourced by the build scripts.

# configure PRESET COMPILER COMMAND…: runs CMake where it was not run before, or was run for another compiler.
# (Ninja itself runs CMake again when a CMake file or the set of sources changes.)
configure() {
  local folder="build/$1" compiler="$2" log="build/$1/configure.log"
  [ -e "$folder/build.ninja" ] && [ "$(cat "$folder/compiler" 2>/dev/null)" = "$compiler" ] && return
  rm -rf "$folder"
  mkdir -p "$folder"
  "${@:3}" --preset "$1" >"$log" 2>&1 || { cat "$log" >&2; return 1; }
  printf %s "$compiler" >"$folder/compiler"
}
