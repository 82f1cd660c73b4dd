#!/usr/bin/env bash
# Checks the description and the packages with independent tools: two linters, a generated client, Prism between a
# client and the service, the Postman collection, Schemathesis, publint and arethetypeswrong. They are installed at
# exact versions into a scratch directory; a tool that cannot be downloaded is reported and skipped.
#   scripts/check-interface.sh [DIRECTORY]
#   scripts/check-interface.sh --install DIRECTORY   only installs those that npm has, for a later run
set -uo pipefail
cd "$(dirname "$0")/.." || exit
only_install=
if [ "${1:-}" = --install ]; then only_install=yes && shift; fi
keep=${1:+yes}
scratch=${1:-$(mktemp -d "${TMPDIR:-/tmp}/enrolment-interface-XXXXXX")}
mkdir -p "$scratch"
failed=0
service=
proxy=

clean_up() {
  for pid in $proxy $service; do kill "$pid" 2>/dev/null; wait "$pid" 2>/dev/null; done
  if [ -z "$keep" ]; then rm -rf "$scratch"; fi
}
trap clean_up EXIT

step() {
  local name=$1 before=$SECONDS
  shift
  if "$@" >"$scratch/step.out" 2>&1; then
    echo "ok      $name ($((SECONDS - before)) s)"
  else
    echo "FAILED  $name ($((SECONDS - before)) s)"
    tail -n 140 "$scratch/step.out"
    failed=1
  fi
}

install_tools() {
  [ -x "$scratch/node_modules/.bin/redocly" ] && return 0
  echo '{"private":true}' >"$scratch/package.json"
  npm install --prefix "$scratch" --no-audit --no-fund --loglevel=error \
    @redocly/cli@2.77.0 @stoplight/spectral-cli@6.16.3 @stoplight/prism-cli@5.16.0 newman@6.2.2 \
    openapi-typescript@7.13.0 openapi-fetch@0.17.0 publint@0.3.25 @arethetypeswrong/cli@0.18.5 typescript@5.9.3 >&2
}

install_schemathesis() {
  [ -x "$scratch/venv/bin/schemathesis" ] && return 0
  python3 -m venv "$scratch/venv" && "$scratch/venv/bin/pip" install -q schemathesis==4.32.5
}

# wait_for FILE TEXT: waits until a line of the file begins with the text.
wait_for() {
  for _ in $(seq 300); do
    grep -q "$2" "$1" && return 0
    sleep 0.2
  done
  return 1
}

if ! install_tools; then
  echo 'NO npm REGISTRY: the description and the packages are not checked by other tools here.'
  exit 0
fi
if [ -n "$only_install" ]; then exit 0; fi
tool() { "$scratch/node_modules/.bin/$1" "${@:2}"; }

node service/bin/enrolment.js dev --port 0 --data "$scratch/data" >"$scratch/service.out" 2>"$scratch/service.err" &
service=$!
wait_for "$scratch/service.out" '^listening on ' || {
  echo 'the service did not start'
  tail -n 20 "$scratch/service.err"
  exit 1
}
base=$(sed -n 's/^listening on //p' "$scratch/service.out")
wait_for "$scratch/service.out" 'client secret'
read_demo() { node -p "require('$scratch/data/demo.json').$1"; }
export BASE_URL=$base CLIENT_ID CLIENT_SECRET API_KEY
CLIENT_ID=$(read_demo clientid) CLIENT_SECRET=$(read_demo clientsecret) API_KEY=$(read_demo apikey)
# On the last day of a month a swap is refused.
node service/bin/enrolment.js clock advance "$(read_demo partnerid)" \
  "$(date -u -d "$(date -u +%Y-%m-01) +1 month +9 days" +%Y-%m-%dT12:00:00Z)" --data "$scratch/data" >/dev/null
curl -fsS "$base/openapi.json" >"$scratch/openapi.json"
curl -fsS "$base/openapi.json?version=1.0.1" >"$scratch/openapi-1.0.1.json"
curl -fsS "$base/openapi.json?webhooks=no" >"$scratch/openapi-without-webhooks.json"
curl -fsS "$base/postman.json" >"$scratch/postman.json"

for file in openapi.json openapi-1.0.1.json openapi-without-webhooks.json; do
  step "Redocly recommended-strict, $file" env REDOCLY_TELEMETRY=off \
    "$scratch/node_modules/.bin/redocly" lint --extends recommended-strict "$scratch/$file"
  echo 'extends: ["spectral:oas"]' >"$scratch/.spectral.yaml"
  step "Spectral, $file" tool spectral lint --ruleset "$scratch/.spectral.yaml" --fail-severity hint "$scratch/$file"
done

generated_client() {
  mkdir -p "$scratch/generated" && echo '{"private":true,"type":"module"}' >"$scratch/generated/package.json" &&
    cp scripts/interface/generated-client.ts "$scratch/generated/client.ts" &&
    tool openapi-typescript "$scratch/openapi.json" -o "$scratch/generated/interface.ts" &&
    tool tsc --strict --module nodenext --target es2022 --lib es2023,dom,dom.iterable "$scratch/generated/client.ts" &&
    node "$scratch/generated/client.js" "$1"
}
step 'a generated client does the main job' generated_client "$base"

# The collection leaves the day on which benefits are locked by itself.
node service/bin/enrolment.js clock advance "$(read_demo partnerid)" \
  "$(date -u -d "$(date -u +%Y-%m-01) +2 months -1 day" +%Y-%m-%dT12:00:00Z)" --data "$scratch/data" >/dev/null

for run in 1 2; do step "every call of the Postman collection succeeds, run $run in one sandbox (newman)" tool newman run "$scratch/postman.json" \
  --env-var "client_id=$CLIENT_ID" --env-var "client_secret=$CLIENT_SECRET" --env-var "api_key=$API_KEY" \
  --env-var "base_url=$base" --reporters cli --color off; done

through_prism() {
  local port
  port=$(node -e 'const s=require("net").createServer().listen(0,"127.0.0.1",()=>{console.log(s.address().port);s.close()})')
  "$scratch/node_modules/.bin/prism" proxy --errors -h 127.0.0.1 -p "$port" "$scratch/openapi.json" "$base" >"$scratch/prism.out" 2>&1 &
  proxy=$!
  wait_for "$scratch/prism.out" 'Prism is listening' || return 1
  node scripts/interface/main-path.mjs "http://127.0.0.1:$port" && ! grep -E 'violation|VIOLATION' "$scratch/prism.out"
}
step 'the client through Prism as a validating proxy' through_prism
# Also before the tests of the API and of a member's life: TEST_PRISM=DIRECTORY npx vitest run --project prism

if install_schemathesis >"$scratch/step.out" 2>&1; then
  token=$(curl -fsS -u "$CLIENT_ID:$CLIENT_SECRET" -d grant_type=client_credentials "$base/oauth2/token" | sed -E 's/.*"access_token":"([^"]+)".*/\1/')
  node scripts/interface/for-fuzzer.mjs "$scratch/openapi.json" >"$scratch/openapi-for-fuzzer.json"
  # Schemathesis stores its findings in the directory where it runs.
  step 'Schemathesis, all its checks' env -C "$scratch" "$scratch/venv/bin/schemathesis" \
    --config-file "$PWD/scripts/interface/schemathesis.toml" run "$scratch/openapi-for-fuzzer.json" --url "$base" \
    --header "Authorization: Bearer $token" --header "x-api-key: $API_KEY" --phases examples,coverage,fuzzing \
    --max-examples 3 --seed 1 --request-timeout 20 --exclude-path-regex '^/(oauth2|webhooks|user/bulk)' --no-color
else
  echo 'NO PyPI: Schemathesis is not run here.'
fi

# In a folder that has nothing but the tarball, by the last TypeScript that knows this resolution.
older_project() {
  local place="$scratch/older"
  rm -rf "$place" && mkdir "$place" && echo '{"private":true}' >"$place/package.json" &&
    npm pack --ignore-scripts --loglevel=error --workspace client --pack-destination "$place" &&
    npm install --prefix "$place" --offline --ignore-scripts --no-audit --no-fund "$place"/*.tgz &&
    cp scripts/interface/older-project.ts "$place/app.ts" &&
    echo '{"compilerOptions":{"strict":true,"module":"commonjs","moduleResolution":"node10","target":"es2022",
      "lib":["es2022","dom"],"types":[],"outDir":"out"},"files":["app.ts"]}' >"$place/tsconfig.json" &&
    tool tsc -p "$place" &&
    node "$place/out/app.js"
}
step 'the client from its tarball in a project with node10 resolution' older_project

for package in client embed; do
  step "publint, $package" tool publint run --strict --pack npm "$package"
done
step 'arethetypeswrong, client' tool attw --pack client
exit "$failed"
