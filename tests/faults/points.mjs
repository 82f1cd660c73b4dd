// Loaded first into a process of the built service: it ends as in a crash at the nth pass of a named point. TEST_FAULT is `POINT
// COUNT`, TEST_CLOCK_MS moves the clock of the process, and SIGUSR2 throws an error that nothing catches. A new point of a statement
// is a line of `kinds`: `KIND before`, `KIND after`, `KIND before commit` and `KIND after commit` are points then.

import diagnostics from 'node:diagnostics_channel'
import { promises } from 'node:fs'
import { ServerResponse } from 'node:http'
import { syncBuiltinESMExports } from 'node:module'
import pg from 'pg'

const [, point = '', count = '1'] = /^(.*) (\d+)$/.exec(process.env.TEST_FAULT ?? '') ?? []
const aheadMs = Number(process.env.TEST_CLOCK_MS ?? 0)

let passed = 0
function pass(name) {
  if (isReachedBy(name)) end()
}
function isReachedBy(name) {
  if (name !== point) return false
  passed += 1
  return passed === Number(count)
}
function end() {
  process.kill(process.pid, 'SIGKILL')
}

process.on('SIGUSR2', () => {
  throw new RangeError('thrown by a test')
})
if (aheadMs !== 0) {
  const RealDate = Date
  globalThis.Date = class extends RealDate {
    constructor(...given) {
      super(...(given.length === 0 ? [RealDate.now() + aheadMs] : given))
    }
    static now() {
      return RealDate.now() + aheadMs
    }
  }
}
if (point !== '') watch()

function watch() {
  pg.Client.prototype.query = watched(pg.Client.prototype.query)
  const { end: endResponse } = ServerResponse.prototype
  ServerResponse.prototype.end = function (...given) {
    if (this.req?.method !== 'GET' && this.statusCode === 200) {
      pass(this.req?.url?.includes('/erase') ? 'erasure before answer' : 'request before answer')
    }
    return endResponse.apply(this, given)
  }
  diagnostics.subscribe('http.server.request.start', () => pass('request arrived'))
  diagnostics.subscribe('undici:client:sendHeaders', () => pass('delivery sent'))
  diagnostics.subscribe('undici:request:headers', () => pass('delivery answered'))
  watchFiles()
}

/** The purpose of a statement; the statements of a transaction show the purpose of its commit. */
const kinds = [
  ['erasure', 'insert into erasures'],
  ['erasure key', 'delete from data_keys'],
  ['due change', 'insert into history'],
  ['request', 'insert into idempotency_keys'],
  ['delivery result', 'insert into delivery_attempts'],
  ['delivery claim', 'with ask as materialized'],
  ['request read', 'join users u on u.partner_id = row.partner_id and u.userid = row.userid'],
  ['rotation rewrap', 'update partners p set wrapped_key'],
  ['migration', 'create table installation'],
  ['migration', 'create table webhook_endpoints'],
  ['migration', 'insert into migrations'],
  ['copy', '::bigint::numeric), 0) as hash'],
  ['feed run', 'insert into feed_runs'],
  ['feed run taken', 'update feed_runs set status'],
]
function isSchedules(values) {
  return (values ?? []).some(
    value => (Buffer.isBuffer(value) && value.includes('schedule')) || `${value}`.includes('schedule'),
  )
}
function kindOf(text, values) {
  const kind = kinds.find(([, part]) => text.includes(part))?.[0]
  return kind === 'due change' && !isSchedules(values) ? undefined : kind
}

function watched(query) {
  return function (config, ...rest) {
    const text = typeof config === 'string' ? config : (config?.text ?? '')
    if (typeof config?.submit === 'function') return query.call(this, config, ...rest)
    const told = rest.at(-1)
    if (typeof told === 'function') {
      // The pool's own query method, outside of transactions.
      const kind = kindOf(text, config?.values ?? rest[0])
      if (kind) pass(`${kind} before`)
      const passing = (...answer) => {
        if (kind && !answer[0]) pass(`${kind} after`)
        return told(...answer)
      }
      return query.call(this, config, ...rest.slice(0, -1), passing)
    }
    // After the point nothing more is sent, because the statements of a batch and its commit leave together.
    if (this.faultEnds) return new Promise(() => {})
    const isCommit = text === 'commit'
    if (text === 'begin') this.faultKinds = new Set()
    const kind = kindOf(text, config?.values ?? rest[0])
    if (kind) this.faultKinds?.add(kind)
    const names = isCommit ? [...(this.faultKinds ?? [])] : []
    if (kind) pass(`${kind} before`)
    if (names.some(name => isReachedBy(`${name} before commit`))) {
      void this.faultLast.then(end, end)
      return new Promise(() => {})
    }
    const done = query.call(this, config, ...rest)
    this.faultLast = done
    this.faultEnds =
      (kind && isReachedBy(`${kind} after`)) || names.some(name => isReachedBy(`${name} after commit`))
    if (this.faultEnds) void done.then(end, end)
    return done
  }
}

/** The file of a feed's run: half of it written, all of it, and under its name. */
function watchFiles() {
  const { open, rename } = promises
  promises.open = async (path, ...more) => {
    const file = await open(path, ...more)
    const { appendFile } = file
    file.appendFile = async bytes => {
      if (!isReachedBy('feed file half written')) return appendFile.call(file, bytes)
      await appendFile.call(file, bytes.subarray(0, bytes.length / 2))
      end()
    }
    return file
  }
  promises.rename = async (...paths) => {
    pass('feed file written')
    await rename(...paths)
    pass('feed file named')
  }
  syncBuiltinESMExports()
}
