import { setTimeout as pause } from 'node:timers/promises'
import { attemptHeaders, type Envelope, signingKey } from '../../webhooks/egress/envelope.ts'
import { type Command, flag, givenSecret, secretOptions, UsageError, valued } from '../command.ts'
import { basicPair, isLoopback } from './delivery.ts'
import type { EventPage, LoggedEvent } from './logged-events.ts'
import { openPartnerApi, type PartnerApi, partnerOptions, ServiceAway } from './partner-api.ts'
import { type Progress, progressFile, readProgress, writeProgress } from './progress.ts'

const POLL_MS = 1000
const retriesMs = [500, 1000, 2000, 5000]

/** `enrolment listen`: shows events as they are raised, and forwards them to a receiver on this machine. */
export const listen: Command = {
  name: 'listen',
  summary:
    'Show your events, and forward them to a receiver on this machine: signed, in order, from where you stopped.',
  options: {
    ...partnerOptions,
    'forward-to': valued(
      'URL',
      'a loopback address, for example http://127.0.0.1:3000/hook; left out: events are only shown',
    ),
    cursor: valued('FILE', 'where it keeps how far it came (default ./.enrolment-listen.json)'),
    'from-start': flag('without a cursor: also what was raised before now'),
    username: valued('NAME', 'user name of the Basic credentials (default enrolment)'),
    ...secretOptions('password', 'password (default: the secret)'),
    once: flag('end when everything that there is was shown or forwarded'),
  },
  run: async input => {
    const given = input.text('forward-to')
    const target = given === undefined ? undefined : loopbackOf(given)
    const api = openPartnerApi(input)
    const file = input.text('cursor') ?? progressFile
    let progress = readProgress(file)
    const keep = (next: Progress) => {
      progress = next
      writeProgress(file, next)
    }
    if (progress.after === undefined && !input.flag('from-start'))
      keep({ ...progress, after: await endOfLog(api) })
    else keep(progress)
    const authorization = basicPair(
      input.text('username') ?? 'enrolment',
      givenSecret(input, 'password') ?? progress.secret,
    )
    process.stderr.write(
      target === undefined
        ? `Waiting for what is raised at ${api.baseUrl}; --forward-to URL forwards it, too.\n`
        : `Forwarding from ${api.baseUrl} to ${target}; its signing secret is ${progress.secret}\n`,
    )
    const stop = new AbortController()
    process.once('SIGINT', () => stop.abort()).once('SIGTERM', () => stop.abort())
    let count = 0
    while (!stop.signal.aborted) {
      const page = await (input.flag('once')
        ? readPage(api, progress.after)
        : nextPage(api, progress.after, stop.signal))
      if (page === undefined) break
      for (const event of page.events) {
        if (stop.signal.aborted) break
        if (progress.delivered.includes(event.eventid)) continue
        const how = { authorization, keys: [signingKey(progress.secret)], signal: stop.signal }
        const result = target === undefined ? `for ${event.userid}` : await deliver(target, event, how)
        if (result === undefined) break
        keep({ ...progress, delivered: [...progress.delivered, event.eventid] })
        count += 1
        process.stderr.write(`${event.eventname} ${event.eventid} ${result}\n`)
      }
      if (stop.signal.aborted) break
      const isEnd = page.events.length === 0
      if (!isEnd || progress.after !== page.next) keep({ ...progress, after: page.next, delivered: [] })
      if (isEnd && input.flag('once')) break
      if (isEnd) await pause(POLL_MS, undefined, { signal: stop.signal }).catch(() => {})
    }
    input.print({ [target === undefined ? 'shown' : 'forwarded']: count, cursor: file }, [
      `${target === undefined ? 'Shown' : 'Forwarded'} ${count}; the next start goes on from ${file}.`,
    ])
  },
}

/** A listener forwards only to loopback, so that personal data never leaves this machine. */
function loopbackOf(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (!url || !isLoopback(url))
    throw new UsageError(
      '--forward-to must be an address of this machine, like http://127.0.0.1:3000/hook; see --help.',
    )
  return url.href
}

async function readPage(api: PartnerApi, after: string | undefined): Promise<EventPage> {
  const query = after === undefined ? '' : `?after=${encodeURIComponent(after)}`
  return (await api.call('GET', `/events${query}`)) as EventPage
}

/**
 * Reads a page, and repeats that while the service is away; after a restart it continues from the same cursor. Returns
 * `undefined` when the listener is stopped first; throws OperatorError for errors that waiting does not cure.
 */
async function nextPage(
  api: PartnerApi,
  after: string | undefined,
  signal: AbortSignal,
): Promise<EventPage | undefined> {
  for (let attempt = 1; !signal.aborted; attempt += 1) {
    try {
      const page = await readPage(api, after)
      if (attempt > 1) process.stderr.write(`${api.baseUrl} answers again.\n`)
      return page
    } catch (error) {
      if (!(error instanceof ServiceAway)) throw error
      if (attempt === 1)
        process.stderr.write(`${api.baseUrl} is away; it is asked until it answers (Ctrl-C ends this).\n`)
      const wait = retriesMs[Math.min(attempt, retriesMs.length) - 1] ?? POLL_MS
      await pause(wait, undefined, { signal }).catch(() => {})
    }
  }
  return undefined
}

async function endOfLog(api: PartnerApi): Promise<string> {
  let page = await readPage(api, undefined)
  while (page.events.length > 0) page = await readPage(api, page.next)
  return page.next
}

/** Sends one event until it is accepted; returns `-> STATUS`, or `undefined` when the listener is stopped first. */
async function deliver(
  target: string,
  event: LoggedEvent,
  { signal, ...sender }: Pick<Envelope, 'authorization' | 'keys'> & { signal: AbortSignal },
): Promise<string | undefined> {
  const body = Buffer.from(JSON.stringify(event.body))
  for (let attempt = 1; !signal.aborted; attempt += 1) {
    const headers = attemptHeaders({ ...sender, eventId: event.eventid, body, attempt, at: Date.now() })
    const status = await fetch(target, {
      method: 'POST',
      headers,
      body,
      redirect: 'manual',
      signal: AbortSignal.timeout(15_000),
    }).then(
      answer => answer.status,
      () => 0,
    )
    if (status >= 200 && status < 300) return `-> ${status}`
    const wait = retriesMs[Math.min(attempt, retriesMs.length) - 1] ?? POLL_MS
    process.stderr.write(
      `${event.eventname} ${event.eventid} -> ${status || 'no answer'}, again in ${wait / 1000} s\n`,
    )
    await pause(wait, undefined, { signal }).catch(() => {})
  }
  return undefined
}
