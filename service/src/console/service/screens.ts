import type { Instant } from '../../calendar/calendar.ts'
import { listPublications } from '../../catalogue/published.ts'
import { newestMigration } from '../../db/migrate.ts'
import { html, type Slot } from '../../http/html.ts'
import { credentialsByPepper, partnersByRootKey, type UseOfKeys } from '../../partners/key-use.ts'
import type { KeySet } from '../../vault/keyring.ts'
import { serviceVersion } from '../../version.ts'
import type { ServingProcess } from '../console-context.ts'
import { record } from '../screen/record.ts'
import { type Answer, ConsoleRefusal, onGet, type Screen, type Visit } from '../screen/screen.ts'
import { counted, facts, part, table, tag, when } from '../views/parts.ts'
import { type Figures, readFigures } from './figures.ts'
import { databaseFacts, installedSince, lastDone, livingProcesses, unscrubbed } from './store.ts'

/** The state of the service itself: processes, delays, load, database, keys and backups. No personal data. */
export const serviceScreens: readonly Screen[] = [onGet('/service', 'viewer', show)]

async function show(visit: Visit): Promise<Answer> {
  if (visit.operator.partners !== undefined) {
    await record(visit, { action: 'look at service', result: 'refused' })
    throw new ConsoleRefusal(
      403,
      'Not for some partners',
      'These figures are of all partners together, and you work for some of them.',
    )
  }
  const { database, real, serving } = visit.context
  const [served, processes, erasures, installation, done, versions, schema, found, roots, peppers] =
    await Promise.all([
      serving(),
      livingProcesses(database),
      unscrubbed(database),
      installedSince(database),
      lastDone(database, ['backup', 'keyring rotate']),
      listPublications(database),
      newestMigration(database),
      databaseFacts(database),
      partnersByRootKey(database),
      credentialsByPepper(database, real()),
      record(visit, { action: 'look at service', result: 'shown' }),
    ])
  const figures = readFigures(served.metrics)
  const now = real()
  const [newest] = versions
  return {
    title: 'The service',
    body: html`${installation?.quiet_since != null && html`<section class="notice bad"><h2>Quiet since ${when(installation.quiet_since, 'UTC')}</h2><p>This copy looks, and changes nothing: no deliveries, no due changes, no writes. <code>enrolment resume</code> ends that.</p></section>`}
${visit.context.mayNotWrite() && installation?.quiet_since == null && html`<section class="notice bad"><h2>Writes are refused</h2><p>The disk is nearly full.</p></section>`}
<div class="columns"><div>
${part('Lags', lagsOf(figures, { erasures, now }))}
${part('Processes', processesOf(processes))}
${part('The process that serves partners', servingProcess(figures, served))}
${part('The console', ownProcess(visit))}
</div><div>
${part('Database', databasePart(visit, found))}
${part('Keys', keysPart(visit, { roots, peppers, rotatedAt: done.get('keyring rotate'), since: installation?.created_at }))}
${part(
  'Version and backup',
  facts([
    ['Service', serviceVersion],
    ['Node.js', process.version],
    ['Schema', schema],
    ['Kind', installation?.sandbox ? 'sandbox' : 'live'],
    [
      'Catalogue',
      newest
        ? html`<a href="/catalogue/versions/${newest.version}">version ${newest.version}</a>, ${when(newest.publishedAt, 'UTC')}`
        : 'none',
    ],
    [
      'Last backup',
      done.has('backup')
        ? html`${when(done.get('backup') ?? 0, 'UTC')} (<code>enrolment backup</code>)`
        : 'not known here: of a database of your own ask what backs it up',
    ],
  ]),
)}
</div></div>`,
  }
}

/**
 * A greater age shows that the work has stopped, because due changes are applied, and deliveries sent, within seconds.
 */
const LATE_SECONDS = 120
/** The keys of erased users leave the files within a day. */
const SCRUB_SECONDS = 86_400

function lagsOf(
  figures: Figures,
  { erasures, now }: { erasures: { users: number; since: Instant | null }; now: Instant },
): Slot {
  const due = figures('due_changes_lag_seconds')
  const oldest = (state: string) => figures('webhook_oldest_due_seconds', ['state', state])
  const scrub = erasures.since === null ? 0 : (now - erasures.since) / 1000
  return facts([
    ['Due changes', lag(due, LATE_SECONDS)],
    ['Webhooks to healthy endpoints', lag(oldest('ok'), LATE_SECONDS)],
    [
      'Webhooks to failing endpoints',
      html`${lag(oldest('failing'), Number.POSITIVE_INFINITY)} <a href="/webhooks">by endpoint</a>`,
    ],
    ['Webhooks that wait', figures('webhook_waiting')],
    ['Webhooks given up', figures('webhook_dead')],
    ['Keys of erased users', html`${erasures.users} still in files ${lag(scrub, SCRUB_SECONDS)}`],
  ])
}

function lag(seconds: number, late: number): Slot {
  const text =
    seconds < 1 ? 'no lag' : seconds < 120 ? `${Math.round(seconds)} s` : `${Math.round(seconds / 60)} min`
  return tag(text, seconds > late ? 'bad' : 'good')
}

function processesOf(processes: Awaited<ReturnType<typeof livingProcesses>>): Slot {
  return html`${table({
    caption: 'Processes that say that they live',
    columns: ['Process', 'Sends to'],
    rows: processes.map(one => [html`<code>${one.dispatcher_id}</code>`, counted(one.endpoints, 'endpoint')]),
    empty: 'No process delivers webhooks.',
  })}<p class="hint">As the database knows them. A quiet copy is none of them.</p>`
}

/** The process to which this console belongs; of several on one database, the others are not seen. */
function servingProcess(figures: Figures, { memoryBytes, uptimeSeconds }: ServingProcess): Slot {
  return html`${facts([
    ['Runs for', minutes(uptimeSeconds)],
    ['Requests in flight', figures('http_requests_in_flight')],
    ['Requests answered', figures('http_requests_total')],
    [
      'Requests shed',
      html`${figures('http_requests_shed_total')}${figures('http_requests_shed_total') > 0 && html` ${tag('since its start', 'wait')}`}`,
    ],
    ['Event loop delay', `${Math.round(figures('http_event_loop_delay_seconds') * 1000)} ms`],
    ['Memory', mebibytes(memoryBytes)],
    ['Users remembered', figures('memory_users')],
    ['Database connections', `${figures('database_pool_busy')} busy of ${figures('database_pool_size')}`],
    ['Waiting for one', figures('database_pool_waiting')],
  ])}<p class="hint">The one to which this console belongs. All processes together: <code>/metrics</code> of each.</p>`
}

/** The process of the console, where that is another one. */
function ownProcess({ context }: Visit): Slot {
  const { busy, most } = context.database.use()
  return html`${facts([
    ['Runs for', minutes(process.uptime())],
    ['Memory', mebibytes(process.memoryUsage.rss())],
    ['Database connections', `${busy} busy of ${most}`],
  ])}<p class="hint">A process of its own, which began when somebody opened the console.</p>`
}

function minutes(seconds: number): string {
  return `${Math.round(seconds / 60)} min`
}

function mebibytes(bytes: number): string {
  return `${Math.round(bytes / 2 ** 20)} MiB`
}

function databasePart({ context }: Visit, found: Awaited<ReturnType<typeof databaseFacts>>): Slot {
  if (!found) return html`<p>It does not say.</p>`
  const open = found.oldest_transaction
  return facts([
    [
      'PostgreSQL',
      `${found.version}${context.database.layout.isSpread ? ', spread by Citus; size, connections and log are those of the coordinator' : ''}`,
    ],
    ['Size', `${(found.bytes / 2 ** 30).toFixed(2)} GiB`],
    ['Connections', `${found.connections} of ${found.most_connections}`],
    ['Oldest open transaction', open === null ? 'none' : when(open, 'UTC')],
    ['Runs since', when(found.started_at, 'UTC')],
    ['Log archived', found.archived_at === null ? 'never, or not here' : when(found.archived_at, 'UTC')],
    found.is_replica && ['Role', tag('replica: it takes no writes', 'bad')],
  ])
}

function keysPart(
  { context: { keyring } }: Visit,
  {
    roots,
    peppers,
    rotatedAt,
    since,
  }: { roots: UseOfKeys; peppers: UseOfKeys; rotatedAt: Instant | undefined; since: Instant | undefined },
): Slot {
  const rows = (kind: string, keys: KeySet, use: UseOfKeys, what: string): Slot[][] =>
    [...keys.byId.keys()].map(id => [
      html`${kind} <code>${id}</code>`,
      id === keys.current.id ? tag('in use', 'good') : tag('older', 'plain'),
      counted(use.get(id) ?? 0, what),
    ])
  const day = rotatedAt ?? since
  return html`${table({
    caption: 'Root keys and peppers, by their ids',
    columns: ['Key', 'State', 'Protects'],
    rows: [
      ...rows('Root key', keyring.rootKeys, roots, 'partner'),
      ...rows('Pepper', keyring.peppers, peppers, 'credential'),
    ],
    empty: 'None.',
  })}
<p class="hint">${day === undefined ? '' : rotatedAt === undefined ? html`Not rotated by a command that is on record; the installation dates from ${when(day, 'UTC')}.` : html`Rotated last ${when(day, 'UTC')}.`} Retire an older one once it protects nothing: <code>enrolment keyring show</code>.</p>`
}
