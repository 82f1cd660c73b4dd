#!/usr/bin/env bash
# Makes the release of the commit that is checked out twice, in two clones under two umasks, and compares the bytes of all files:
#   scripts/release-twice.sh DIR
# Nightly, because both take as long as two builds from nothing.
set -euo pipefail
dir=${1:?'scripts/release-twice.sh DIR: the folder to make is missing.'}
root=$(cd "$(dirname "$0")/.." && pwd)
mkdir "$dir"
dir=$(cd "$dir" && pwd)
for mask in 022 077; do
  (
    umask "$mask"
    git clone -q "$root" "$dir/clone-$mask"
    cd "$dir/clone-$mask"
    node scripts/release.mjs "$dir/release-$mask"
  )
done
diff "$dir/release-022/SHA256SUMS" "$dir/release-077/SHA256SUMS"
echo 'Both releases have the same bytes.'
