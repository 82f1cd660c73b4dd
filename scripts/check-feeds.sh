#!/usr/bin/env bash
# Has programs of others read feed files of ours, of 1, 2, 999 and 100,000 people, and reads what they write. They are installed
# at exact versions into a scratch directory; one that cannot be downloaded is reported and skipped. Needs a build, and Python;
# staedi needs Java 17 and Maven, and LibreOffice must be installed. The file of 100,000 people takes pyx12 some minutes.
#   scripts/check-feeds.sh [DIRECTORY]
set -uo pipefail
cd "$(dirname "$0")/.." || exit
keep=${1:+yes}
scratch=${1:-$(mktemp -d "${TMPDIR:-/tmp}/enrolment-feeds-XXXXXX")}
mkdir -p "$scratch/files"
trap '[ -n "$keep" ] || rm -rf "$scratch"' EXIT
failed=0
counts=(1 2 999 100000)
files=("${counts[@]/#/$scratch/files/}")
files=("${files[@]/%/.x12}")

step() {
  local name=$1 before=$SECONDS
  shift
  if "$@" >"$scratch/step.out" 2>&1; then
    echo "ok      $name ($((SECONDS - before)) s)"
    grep -E 'read|names' "$scratch/step.out" | sed 's/^/          /'
  else
    echo "FAILED  $name ($((SECONDS - before)) s)"
    tail -n 20 "$scratch/step.out"
    failed=1
  fi
}

python_tools() {
  [ -x "$scratch/venv/bin/x12valid" ] && return 0
  python3 -m venv "$scratch/venv" &&
    "$scratch/venv/bin/pip" install -q pyx12==4.0.0 x12sdk==2.2.0 duckdb==2.0.1 pandas==3.1.1
}
node_tools() {
  [ -d "$scratch/node_modules/node-x12" ] && return 0
  echo '{"private":true}' >"$scratch/package.json"
  npm install --prefix "$scratch" --no-audit --no-fund --loglevel=error node-x12@1.7.1
}
java_tools() {
  [ -f "$scratch/staedi-1.26.0.jar" ] && return 0
  mvn -q dependency:copy -Dartifact=io.xlate:staedi:1.26.0 -DoutputDirectory="$scratch"
}
# The verdict is what x12valid says: it ends with 1 in either case.
is_ok() { [[ $("$scratch/venv/bin/x12valid" "$scratch/files/$1.x12" 2>&1) == *': OK'* ]]; }
accepts() {
  for count in "${counts[@]}"; do
    is_ok "$count" || return 1
    echo "pyx12 reads $count people of our 834"
  done
}
refuses() { ! is_ok bad; }
# Every column is imported as text, and all of it is written again for pandas to compare.
import_by_libreoffice() {
  local text='1/2/2/2/3/2/4/2/5/2/6/2/7/2/8/2/9/2' csv='Text - txt - csv (StarCalc)'
  for count in "${counts[@]}"; do
    soffice --headless "-env:UserInstallation=file://$scratch/libreoffice" --infilter="$csv:44,34,76,1,$text" \
      --convert-to "csv:$csv:44,34,76,1,,0,true,true,false" --outdir "$scratch/files/libreoffice" "$scratch/files/$count.csv" || return 1
  done
}

step 'files of ours are written' node scripts/feeds/write-files.mjs "$scratch/files"
if command -v soffice >/dev/null; then
  step 'LibreOffice imports our CSV' import_by_libreoffice
else echo 'NO LibreOffice: it has read nothing here.'; fi
if python_tools >"$scratch/step.out" 2>&1; then
  step 'pyx12 4.0.0 accepts our 834' accepts
  step 'pyx12 4.0.0 refuses a wrong insurance line' refuses
  step 'pandas, DuckDB and x12sdk 2.2.0 read our files' "$scratch/venv/bin/python" scripts/feeds/read_files.py "$scratch/files"
  step 'we read the 999 of pyx12 and an 834 of x12sdk' node scripts/feeds/write-files.mjs "$scratch/files" --read
else echo 'NO PyPI: pyx12, x12sdk, DuckDB and pandas have read nothing here.'; fi
if node_tools >"$scratch/step.out" 2>&1; then
  step 'node-x12 1.7.1 reads our 834' node scripts/feeds/read-x12.cjs "$scratch/node_modules" "${files[@]}"
else echo 'NO npm REGISTRY: node-x12 has read nothing here.'; fi
if java_tools >"$scratch/step.out" 2>&1; then
  step 'staedi 1.26.0 finds the structure of our 834 right' java -cp "$scratch/staedi-1.26.0.jar" scripts/feeds/ReadX12.java "${files[@]}"
else echo 'NO Java, Maven or Maven Central: staedi has read nothing here.'; fi
exit "$failed"
