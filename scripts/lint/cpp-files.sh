# Sourced. clang_format OPTION…: runs clang-format over every C++ file that is the project's own.
clang_format() {
  local program
  program=$(command -v clang-format-19 || command -v clang-format) || fail "install clang-format 19"
  git ls-files --cached --others --exclude-standard -z -- '*.cpp' '*.h' | xargs -0 "$program" "$@"
}
