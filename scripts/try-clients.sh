#!/usr/bin/env bash
# Generates a client from /openapi.json of a sandbox in each of these languages, by the generators that docs/tools.md names,
# and walks with it: token, prefill, the same again, benefits, create with a spouse, what the benefit would cost without her, swap,
# cancel. Between walk and service stands scripts/clients/unreliable.mjs: tokens expire at once, and each write under a key is
# answered 503 the first time. Needs a build.
#   scripts/try-clients.sh python php ruby java go csharp
# A language whose own tools are missing is named and left out; without PyPI none is tried.
set -uo pipefail
cd "$(dirname "$0")/.." || exit
walks=$PWD/scripts/clients
scratch=$(mktemp -d "${TMPDIR:-/tmp}/enrolment-clients-XXXXXX")
service=
between=
clean_up() {
  for child in $service $between; do kill "$child" 2>/dev/null && wait "$child" 2>/dev/null; done
  chmod -R u+w "$scratch" && rm -rf "$scratch"
}
trap clean_up EXIT

python3 -m venv "$scratch/venv" && "$scratch/venv/bin/pip" install -q openapi-generator-cli==7.26.0 openapi-python-client==0.29.1 || {
  echo '!!!! NO PyPI: no client of another generator is tried.'
  exit 0
}
data="$scratch/data"
node service/bin/enrolment.js dev --port 0 --data "$data" >"$scratch/service.out" 2>"$scratch/service.err" &
service=$!
for _ in $(seq 300); do
  if grep -q 'client secret' "$scratch/service.out"; then break; fi
  sleep 0.2
done
read_demo() { node -p "require('$data/demo.json').$1"; }
SERVICE_URL=$(sed -n 's/^listening on //p' "$scratch/service.out")
CLIENT_ID=$(read_demo clientid) CLIENT_SECRET=$(read_demo clientsecret) API_KEY=$(read_demo apikey)
export BASE_URL CLIENT_ID CLIENT_SECRET API_KEY
curl -fsS "$SERVICE_URL/openapi.json" >"$scratch/openapi.json" || {
  tail -n 20 "$scratch/service.err"
  exit 1
}
# On the last day of a month a swap is refused.
node service/bin/enrolment.js clock advance "$(read_demo partnerid)" \
  "$(date -u -d "$(date -u +%Y-%m-01) +1 month +9 days" +%Y-%m-%dT12:00:00Z)" --data "$data" >/dev/null
cd "$scratch" || exit 1

openapi_generator() {
  JAVA_TOOL_OPTIONS=-XX:TieredStopAtLevel=1 venv/bin/openapi-generator-cli generate -g "$1" -i openapi.json -o "$1" --skip-validate-spec \
    --global-property apiTests=false,modelTests=false,apiDocs=false,modelDocs=false
}
python() {
  mkdir python && venv/bin/openapi-python-client generate --path openapi.json --meta none --output-path python/api &&
    venv/bin/python "$walks/walk.py" python
}
php() {
  openapi_generator php && command php -d include_path=/usr/share/php "$walks/walk.php" php
}
ruby() {
  openapi_generator ruby && command ruby "$walks/walk.rb" ruby
}
java() {
  openapi_generator java && (cd java && mvn -q -DskipTests -Dmaven.javadoc.skip -Dmaven.source.skip package) &&
    javac -cp 'java/target/*:java/target/lib/*' -d walk-java "$walks"/*.java &&
    command java -cp 'walk-java:java/target/*:java/target/lib/*' Walk
}
go() {
  mkdir -p walk-go/api && cp "$walks"/*.go walk-go &&
    GOBIN=$scratch/bin command go install github.com/oapi-codegen/oapi-codegen/v2/cmd/oapi-codegen@v2.8.2 &&
    bin/oapi-codegen -generate types,client,skip-prune -package api -o walk-go/api/api.go openapi.json &&
    (cd walk-go && command go mod init walk && command go mod tidy && command go build -o walk . && ./walk)
}
csharp() {
  local nswag=node_modules/nswag/bin/binaries/Win
  npm install --no-audit --no-fund --loglevel=error --prefix . nswag@14.7.1 && mkdir cs && cp "$nswag/Newtonsoft.Json.dll" cs &&
    mono "$nswag/NSwag.exe" openapi2csclient /input:openapi.json /output:cs/Api.cs /namespace:Api /classname:ApiClient \
      /generateOptionalPropertiesAsNullable:true &&
    mcs -langversion:latest -r:System.Net.Http.dll,System.ComponentModel.DataAnnotations.dll,System.Runtime.Serialization.dll \
      -r:cs/Newtonsoft.Json.dll -out:cs/walk.exe cs/Api.cs "$walks"/*.cs && mono cs/walk.exe
}

# Starts it anew for each language, so that what it has seen is of that language.
start_between() {
  if [ -n "$between" ]; then kill "$between"; wait "$between" 2>/dev/null; fi
  rm -f between.out
  node "$walks/unreliable.mjs" "$SERVICE_URL" >between.out &
  between=$!
  until [ -s between.out ]; do sleep 0.1; done
  BASE_URL=$(cat between.out)
}
# Whether the walk renewed its token, and sent again what was refused.
was_patient() {
  curl -fsS "$BASE_URL/seen" | node -e 'const { tokens, repeated } = JSON.parse(require("fs").readFileSync(0)); process.exit(tokens > 1 && repeated > 1 ? 0 : 1)'
}

declare -A needs=([python]=python3 [php]='java php' [ruby]='java ruby' [java]='java mvn' [go]=go [csharp]='mono mcs')
failed=0
for language in "$@"; do
  missing=$(for tool in ${needs[$language]}; do type -P "$tool" >/dev/null || echo "$tool"; done)
  if [ -n "$missing" ]; then
    echo "!!!! $language is not tried: there is no" $missing
    continue
  fi
  start_between
  if "$language" >"$language.out" 2>&1 && [[ $(tail -n 1 "$language.out") == *walked ]] && was_patient; then
    echo "ok      $language"
  else
    echo "FAILED  $language"
    tail -n 30 "$language.out"
    failed=1
  fi
done
exit "$failed"
