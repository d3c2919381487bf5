# One-line sources ("deb [options] URI suite component…"): prints the archive's own
# lines (main component of suite `own`) with the suite `newer` in its place.
$1 == "deb" {
  line = $0
  sub(/^deb[ \t]+/, "", line)
  options = ""
  if (match(line, /^\[[^]]*\][ \t]*/)) {
    options = substr(line, 1, RLENGTH)
    line = substr(line, RLENGTH + 1)
  }
  count = split(line, field, /[ \t]+/)
  if (field[1] !~ /\/debian(\/|$)/ || (field[2] != own && field[2] != "stable" && field[2] != "oldstable")) next
  for (i = 3; i <= count; i++) {
    if (field[i] == "main") print "deb " options field[1] " " newer " main"
  }
}
