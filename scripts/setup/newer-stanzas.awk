# deb822 sources: prints the stanzas that hold the archive's main component of suite
# `own`, with the suite `newer` in its place and nothing but main.
BEGIN { RS = ""; FS = "\n" }
{
  wanted = 0; uri = 0; main = 0; disabled = 0; out = ""
  for (i = 1; i <= NF; i++) {
    key = tolower($i)
    sub(/:.*/, "", key)
    if (key == "suites") {
      count = split($i, word, /[ \t]+/)
      for (j = 2; j <= count; j++) if (word[j] == own || word[j] == "stable" || word[j] == "oldstable") wanted = 1
      out = out "Suites: " newer "\n"
    } else if (key == "components") {
      main = ($i ~ /[ \t]main([ \t]|$)/)
      out = out "Components: main\n"
    } else {
      if (key == "uris") uri = ($i ~ /\/debian(\/|[ \t]|$)/)
      if (key == "enabled") disabled = ($i ~ /no/)
      if ($i !~ /^#/) out = out $i "\n"
    }
  }
  if (wanted && uri && main && !disabled) print out
}
