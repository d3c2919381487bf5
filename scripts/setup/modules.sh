# The npm modules, installed when the lock file differs from the one they were installed from.
# Sourced by scripts/setup.sh.

install_modules() {
  [ -e package-lock.json ] || return 0
  local stamp=node_modules/.lock-stamp
  cmp -s package-lock.json "$stamp" && return 0
  say "installing the npm modules"
  npm ci --no-audit --no-fund --loglevel=error >&2 </dev/null || fail "npm ci failed"
  cp package-lock.json "$stamp"
}
