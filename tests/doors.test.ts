// @databases stock

import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'

// A test enters by the door that its reader would use: an operation of a partner by the client, a command as a process, a
// page in a browser. Whatever enters by another door is listed here with its reason. Beside each rule in `service/src` are
// tests of that rule alone; they call it, and are not listed.

const root = fileURLToPath(new URL('..', import.meta.url))

// What sends requests itself, because no client could, or because it is no operation of a partner. A folder stands for
// all its files.
const besideTheClient: Readonly<Record<string, string>> = {
  'tests/command/': 'pages, health and metrics of a process that a command has started',
  'tests/console/': 'the console, which browsers ask',
  'tests/docs/': 'the documents, which people and tools read',
  'tests/page/': 'the page, which browsers ask',
  'tests/api/raw.ts': 'the raw sender itself',
  'tests/api/listener.ts': 'fetches to hand to the client',
  'tests/api/forms.test.ts': 'bytes, media types, sizes, headers twice, methods and paths',
  'tests/api/key-headers.test.ts': 'Version and Idempotency-Key missing or malformed',
  'tests/api/bulk.test.ts': 'lines that the client does not send, and how long it takes to send them',
  'tests/api/audit.test.ts': 'a token that was revoked, and none',
  'tests/api/authentication.test.ts': 'no token, another scheme, a token that was never issued',
  'tests/api/metrics.test.ts': 'health, pages, paths that are no operation, and the listener of the operator',
  'tests/api/limits.test.ts': 'requests beyond what the operator allows, and pages for people',
  'tests/api/failed-authentications.test.ts': 'tokens that a client would renew',
  'tests/api/server-manners.test.ts': 'headers twice, connections that break, health, pages for people',
  'tests/api/read-ahead.test.ts': 'tokens that a client would renew',
  'tests/api/token.test.ts': 'forms of OAuth that other libraries send, and a token held by hand',
  'tests/api/declared-errors.test.ts': 'broken JSON, a header twice and no token, for each operation',
  'tests/api/no-personal-data.test.ts': 'broken JSON, and personal data in a path',
  'tests/api/problems.test.ts': 'methods and paths that are no operation, health, pages of the docs',
  'tests/api/openapi.test.ts': 'the description, which tools read',
  'tests/api/files.test.ts': 'documents and icons',
  'tests/api/benefits.test.ts': 'icons',
  'tests/api/listing-by-catalogue.test.ts': 'icons',
  'tests/conformance.ts': 'compares what the client sends and gets with the description',
  'tests/crash/full-disk.test.ts': 'readiness, which is no operation of a partner',
  'tests/crash/stopped.test.ts': 'the listener of the operator, which is no part of the API',
  'tests/database/one-node.test.ts': 'readiness, which is no operation of a partner',
  'tests/life/clock.test.ts': 'an operation that a live service does not have',
  'tests/life/statements.test.ts': 'a month as CSV, which the client does not ask for',
  'tests/prism-proxies.mjs': 'the description, which tools read',
  'tests/rig.ts': 'a token to hold by hand',
  'tests/trust/balancer.ts': 'readiness, which is no operation of a partner, and sends for the client',
  'tests/trust/client-isolation.test.ts': 'credentials and tokens that do not belong together',
  'tests/trust/cost.test.ts': 'the largest and strangest bodies, and all documents and pages',
  'tests/trust/everything.test.ts': 'sends for the client, to its services in turn',
  'tests/trust/first-requests.test.ts': 'documents and pages right after a start, and the metrics',
  'tests/trust/isolation.test.ts': 'a token and a key of different partners',
  'tests/trust/workers.test.ts': 'sends for the client, one connection each, and reads the metrics',
  'tests/webhooks/documented-receivers.test.ts': 'the partner is the one who is asked',
  'tests/webhooks/metrics.test.ts': 'the listener of the operator, which is no part of the API',
}

// What any test may import of the service: to start it, to prepare it as its operator would, to see what is stored.
const tools: Readonly<Record<string, string>> = {
  'audit/entries.ts': 'an entry that must be there, or many of them',
  'calendar/calendar.ts': 'days of a time zone',
  'catalogue/bring-files.ts': 'a catalogue, read as by `catalogue publish`',
  'catalogue/parse.ts': 'a catalogue, read as by `catalogue check`',
  'catalogue/published.ts': 'a catalogue, published as by `catalogue publish`',
  'operators/operator.ts': 'the roles of operators, to try each',
  'operators/store.ts': 'an operator, made or disabled as by `operator`',
  'console/requests/store.ts': 'the policy for a second person, and requests to one',
  'db/database.ts': 'connections of the test, to see what is stored or to hold a lock',
  'db/sql.ts': 'what is stored, seen or prepared by a statement',
  'http/request-limits.ts': 'the limits that hold unless the operator sets others',
  'installation.ts': 'the mark of a database, to start a service on it',
  'partners/administer.ts': 'a partner, made or changed as by `partner` and `key`',
  'partners/keys.ts': 'the keys of a partner, to open what is sealed',
  'partners/partner.ts': 'the clock of a partner',
  'partners/store.ts': 'a partner and its credentials, as they are stored',
  'quiet.ts': 'a copy that is quiet, as after `restore`',
  'service.ts': 'a service, started in the process of the test',
  'vault/base62.ts': 'ids in the form in which they are shown',
  'vault/keyring.ts': 'the keys of an installation, to start a service or to open what is sealed',
  'vault/secret.ts': 'secrets of the right form that were never issued',
  'vault/uuid.ts': 'ids of the right form',
  'webhooks/endpoint/endpoints.ts': 'an endpoint, changed as by its operations',
  'webhooks/log/replay.ts': 'past events, sent again as by the operation',
}

// What calls a part of the service from inside.
const fromInside: Readonly<Record<string, string>> = {
  'tests/api/audit.test.ts': 'signs blocks of the trail, and checks them after a change in the database',
  'tests/api/first-users.test.ts': 'sees the plan of a statement',
  'tests/api/limits.test.ts': 'reads settings without starting a process for each',
  'tests/api/listing-by-catalogue.test.ts': 'publishes two versions at once',
  'tests/api/metrics.test.ts': 'starts the listener of the operator at an address that is taken',
  'tests/api/problems.test.ts': 'compares a page with the words of the page',
  'tests/command/impact-rules.test.ts': 'counts the impact of many catalogues without publishing one',
  'tests/command/keyring-broken-off.test.ts': 'leaves a keyring as a process that was killed would',
  'tests/command/keyring-by-hand.test.ts': 'changes a keyring as an operator with an editor would',
  'tests/command/retention.test.ts': 'cleans up without waiting for the schedule',
  'tests/command/serve.test.ts': 'compares what was applied with the migrations that there are',
  'tests/console/choices.test.ts': 'opens what is sealed, to see that it was kept',
  'tests/console/due.test.ts': 'reads due changes in pages of one to three users',
  'tests/console/feeds.test.ts': 'notes what a comparison found without an insurer’s list',
  'tests/console/find-apart.test.ts': 'compares the statements that a search sends',
  'tests/console/isolation.test.ts': 'asks each route of the console, which only the mounted app lists',
  'tests/console/long-lists.test.ts': 'sees the plan of a query',
  'tests/console/operator-browser.ts': 'makes the link that an operator signs in with',
  'tests/console/policy.test.ts': 'asks a rule for each action',
  'tests/console/requests.test.ts': 'cleans up without waiting for the schedule',
  'tests/console/user.test.ts': 'compares the screens with the list of all screens',
  'tests/console/walks.ts': 'walks through the list of all screens',
  'tests/crash/neighbours.test.ts': 'submits commands that break on purpose',
  'tests/crash/races.test.ts': 'lets two executors race as those of two processes do',
  'tests/database/binary-array.test.ts': 'compares a format of ours with the one of the driver',
  'tests/database/made-up.ts': 'copies the migrations, to add others',
  'tests/database/migrate.test.ts': 'migrates databases that no command leaves behind',
  'tests/database/one-node.test.ts': 'reads as operators do at the console and by commands',
  'tests/database/rows-of.test.ts': 'calls a function that only other rooms call',
  'tests/database/schema-of-others.test.ts': 'applies the migrations beside tables of others',
  'tests/database/secret-plans.test.ts': 'sees the plan of a query',
  'tests/database/signed-blocks.test.ts': 'signs what no service has written, by a clock of its own',
  'tests/database/small-batches.test.ts': 'sees the plan of a query',
  'tests/database/cells.test.ts': 'makes cells, and changes them all',
  'tests/docs/alerts.test.ts': 'compares the alerts with the names of all metrics',
  'tests/egress/hostile-endpoints.test.ts': 'one request to a partner, without the deliveries around it',
  'tests/egress/outgoing.test.ts': 'one request to a partner, without the deliveries around it',
  'tests/egress/stage.ts': 'one request to a partner, without the deliveries around it',
  'tests/feeds/demo-round.ts': 'runs a feed and answers it without a process for each',
  'tests/feeds/rounds.test.ts': 'cleans up without waiting for the schedule',
  'tests/feeds/schedule.test.ts': 'runs what is due without waiting for the schedule',
  'tests/feeds/stage.ts': 'runs feeds and takes answers without a process for each',
  'tests/global-setup.ts': 'migrates the template of all databases',
  'tests/life/corrections.ts': 'corrects as an operator does, in the process of the test',
  'tests/life/erase.test.ts': 'cleans up without waiting for the schedule',
  'tests/life/model-seeds.ts': 'compares the transitions that were seen with those that there are',
  'tests/life/month-end.test.ts': 'makes a client for a service of its own',
  'tests/life/months-add-up.ts': 'counts months from scratch',
  'tests/life/schedule.test.ts': 'repeats listed erasures as a start does',
  'tests/life/statements.test.ts': 'makes months final on a database that fails in the middle',
  'tests/life/states.test.ts': 'compares the transitions that were seen with those that there are',
  'tests/page/accessible.test.ts': 'measures and counts the views that could be shown',
  'tests/page/fixtures/beneficiaries.ts': 'made-up views, to look at each',
  'tests/page/fixtures/parts.ts': 'made-up views, to look at each',
  'tests/page/hosted.test.ts': 'draws views without a visitor',
  'tests/page/isolation.test.ts': 'asks each route of the page, which only the mounted app lists',
  'tests/page/link-tokens.test.ts': 'makes a link while its user changes',
  'tests/page/released.test.ts': 'mounts the browser files of a release',
  'tests/page/show.ts': 'draws made-up views',
  'tests/page/visitor.ts': 'agrees to the notice in its present version',
  'tests/releases/formats.test.ts': 'reads what is sealed, hashed and signed without a database around it',
  'tests/releases/feeds-of-the-year.ts': 'runs feeds and answers them without a process for each',
  'tests/releases/real-time.ts': 'cleans up and signs without waiting for the schedule',
  'tests/rig.ts': 'starts the service and the console in the process of the test',
  'tests/small-catalogue.ts': 'words of the problems of a catalogue',
  'tests/trust/cost.test.ts': 'walks through the list of all screens',
  'tests/trust/envelopes.test.ts': 'changes each byte of what is sealed',
  'tests/trust/erased-everywhere.test.ts': 'cleans up without waiting for the schedule',
  'tests/webhooks/child.mjs': 'a dispatcher in a process of its own, without a service',
  'tests/webhooks/event-log.test.ts': 'reads the log by positions that no cursor has yet',
  'tests/webhooks/fence.test.ts': 'writes results as a process that has lost its lease would',
  'tests/webhooks/gateways.test.ts': 'sends a test event to one endpoint of a bare database',
  'tests/webhooks/housekeeping.test.ts': 'cleans up without waiting for the schedule',
  'tests/webhooks/keyed-clean-up.test.ts': 'cleans up in the middle of a request',
  'tests/webhooks/keyed-lost-commit.test.ts': 'loses the answer to a commit in the middle of a request',
  'tests/webhooks/looks.test.ts': 'counts how often an index is read',
  'tests/webhooks/metrics.test.ts': 'metrics of a dispatcher without a service',
  'tests/webhooks/restored-log.test.ts': 'reads the logs of a database and of its copy',
  'tests/webhooks/rig.ts': 'starts a dispatcher, without a service, on a clock that tests move',
  'tests/webhooks/rotation.test.ts': 'reads the attempts of a dispatcher without a service',
  'tests/webhooks/scale.test.ts': 'stores thousands of endpoints at once',
  'tests/webhooks/semantics.test.ts': 'gives a dispatcher a resolver that fails',
}

const files = execFileSync('git', ['-c', 'safe.directory=*', 'ls-files', 'tests'], {
  cwd: root,
  encoding: 'utf8',
})
  .trim()
  .split('\n')
  .filter(
    file => /\.(?:ts|tsx|mjs|cjs)$/.test(file) && !/^tests\/(?:doors|architecture)\.test\.ts$/.test(file),
  )

function read(file: string) {
  return readFileSync(`${root}/${file}`, 'utf8')
}

/** The modules of the service that a file imports, other than their types. */
function importedBy(file: string): readonly string[] {
  const text = read(file)
  const statements = text.matchAll(
    /\b(?:im|ex)port\s+(?!type\b)(\{[^}]*\}|[\w*\s]+?)\s+from\s+'[^']*service\/(?:src|dist)\/([^']+)\.[tj]s'/g,
  )
  const named = [...statements].flatMap(([, names = '', module = '']) =>
    /^\{(?:\s*type\s+\w+(?:\s+as\s+\w+)?\s*,?)*\s*\}$/.test(names) ? [] : [module],
  )
  const later = text.matchAll(/(?<!typeof )\bimport\(\s*'[^']*service\/(?:src|dist)\/([^']+)\.[tj]s'/g)
  return [...named, ...[...later].map(([, module = '']) => module)].map(module => `${module}.ts`)
}

test('tests ask through the client, but for those listed, each of which still sends raw', () => {
  const beside = files.filter(file => /\/raw(-http)?\.ts'|(?<![.\w])fetch\(/.test(read(file)))
  const folders = Object.keys(besideTheClient).filter(name => name.endsWith('/'))
  const found = beside.map(file => folders.find(folder => file.startsWith(folder)) ?? file)
  expect([...new Set(found)].sort()).toEqual(Object.keys(besideTheClient).sort())
})

test('tests do not call the service from inside, but for those listed, each of which still does', () => {
  const inside = files.filter(file => importedBy(file).some(module => !(module in tools)))
  expect(inside.sort()).toEqual(Object.keys(fromInside).sort())
})

test('what every test may import of the service is imported by more than one', () => {
  const imported = files.flatMap(file => [...new Set(importedBy(file))])
  const rare = Object.keys(tools).filter(module => imported.filter(one => one === module).length < 2)
  expect(rare).toEqual([])
})
