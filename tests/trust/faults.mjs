// Loaded first into a process of the built service: the process ends as in a crash at the nth pass of a named point.
// TEST_FAULT is `POINT COUNT`; TEST_CLOCK_MS moves the clock of the process.

import diagnostics from 'node:diagnostics_channel'
import { ServerResponse } from 'node:http'
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

/** The purpose of a statement; the statements of a transaction show the purpose of its commit. */
const kinds = [
  ['erasure', 'insert into erasures'],
  ['erasure key', 'delete from data_keys'],
  ['due change', 'insert into history'],
  ['request', 'insert into idempotency_keys'],
  ['delivery lease', 'update dispatchers'],
  ['delivery take', 'insert into endpoint_leases'],
  ['delivery result', 'insert into delivery_attempts'],
  ['delivery read', 'join events e on e.partner_id = due.partner_id'],
  ['request read', 'join users u on u.partner_id = wanted.partner_id'],
  ['rotation rewrap', 'update partners p set wrapped_key'],
  ['migration', 'create table installation'],
  ['migration', 'create table webhook_endpoints'],
  ['migration', 'insert into migrations'],
  ['copy', '::bigint::numeric), 0) as hash'],
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

const { Client } = pg
const { query } = Client.prototype
Client.prototype.query = function (config, ...rest) {
  const text = typeof config === 'string' ? config : (config?.text ?? '')
  if (Array.isArray(config?.statements)) return query.call(this, cutShort(config), ...rest)
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
  // The statement may also set the transaction's time-out for locks.
  const isBegin = /^begin\b/.test(text)
  const isCommit = text === 'commit'
  if (isBegin) this.faultKinds = new Set()
  const kind = kindOf(text, config?.values ?? rest[0])
  if (kind) this.faultKinds?.add(kind)
  const names = isCommit ? [...(this.faultKinds ?? [])] : []
  // All statements of a transaction are sent at once: everything before its commit is done when the statement before it
  // is done.
  if (isCommit)
    void this.faultLast?.then(
      () => {
        for (const name of names) pass(`${name} before commit`)
      },
      () => undefined,
    )
  else if (kind) pass(`${kind} before`)
  const done = query.call(this, config, ...rest)
  this.faultLast = done
  void done.then(
    () => {
      if (isCommit) {
        for (const name of names) pass(`${name} after commit`)
      } else if (kind) pass(`${kind} after`)
    },
    () => undefined,
  )
  return done
}

/**
 * A batch is sent as one flight with a single answer, its commit last (service/src/db/flight.ts). Where the point lies in it,
 * only what comes before the point is sent, and the process ends when that is done.
 */
function cutShort(flight) {
  const { statements } = flight
  const length = lengthUpToPoint(statements)
  if (length === undefined) return flight
  if (length === 0) end()
  return new flight.constructor(statements.slice(0, length), end)
}

/** How many statements of a flight come before the point; undefined where it is not reached in this flight. */
function lengthUpToPoint(statements) {
  const kindsInIt = new Set()
  for (const [place, { text, values }] of statements.entries()) {
    const kind = kindOf(text, values)
    if (!kind) continue
    kindsInIt.add(kind)
    if (isReachedBy(`${kind} before`)) return place
    if (isReachedBy(`${kind} after`)) return place + 1
  }
  for (const kind of kindsInIt) {
    if (isReachedBy(`${kind} before commit`)) return statements.length - 1
    if (isReachedBy(`${kind} after commit`)) return statements.length
  }
  return undefined
}

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
