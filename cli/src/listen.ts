import { setTimeout as pause } from 'node:timers/promises'
import { type LoggedEvent, type PartnerClient, webhooks } from '@benefit-enrolment/client'
import {
  type Command,
  flag,
  givenSecret,
  secretOptions,
  UsageError,
  valued,
} from '@benefit-enrolment/command'
import { checkedUsername, isLoopback } from './delivery.ts'
import { asPartner, explained, type Partner, partnerOptions, ServiceAway } from './partner.ts'
import { type Progress, progressFile, readProgress, writeProgress } from './progress.ts'

const POLL_MS = 1000
const retriesMs = [500, 1000, 2000, 5000]

/** `listen`: shows events as they are raised, and forwards them to a receiver on this machine. */
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
  run: input => {
    const given = input.text('forward-to')
    const target = given === undefined ? undefined : loopbackOf(given)
    const file = input.text('cursor') ?? progressFile
    const username = checkedUsername(input.text('username') ?? 'enrolment')
    return asPartner(input, async partner => {
      let progress = readProgress(file)
      const keep = (next: Progress) => {
        progress = next
        writeProgress(file, next)
      }
      if (progress.after === undefined && !input.flag('from-start'))
        keep({ ...progress, after: await endOfLog(partner.client) })
      else keep(progress)
      const { secret } = progress
      const sender = { username, password: givenSecret(input, 'password') ?? secret, secret }
      process.stderr.write(
        target === undefined
          ? `Waiting for what is raised at ${partner.baseUrl}; --forward-to URL forwards it, too.\n`
          : `Forwarding from ${partner.baseUrl} to ${target}; its signing secret is ${secret}\n`,
      )
      const stop = new AbortController()
      process.once('SIGINT', () => stop.abort()).once('SIGTERM', () => stop.abort())
      const { signal } = stop
      let count = 0
      while (!signal.aborted) {
        const page = await (input.flag('once')
          ? readPage(partner.client, progress.after)
          : nextPage(partner, progress.after, signal))
        if (page === undefined) break
        for (const event of page.events) {
          if (signal.aborted) break
          if (progress.delivered.includes(event.eventid)) continue
          const result =
            target === undefined ? `for ${event.userid}` : await deliver(target, event, { ...sender, signal })
          if (result === undefined) break
          keep({ ...progress, delivered: [...progress.delivered, event.eventid] })
          count += 1
          process.stderr.write(`${event.eventname} ${event.eventid} ${result}\n`)
        }
        if (signal.aborted) break
        const isEnd = page.events.length === 0
        if (!isEnd || progress.after !== page.next) keep({ ...progress, after: page.next, delivered: [] })
        if (isEnd && input.flag('once')) break
        if (isEnd) await pause(POLL_MS, undefined, { signal }).catch(() => {})
      }
      input.print({ [target === undefined ? 'shown' : 'forwarded']: count, cursor: file }, [
        `${target === undefined ? 'Shown' : 'Forwarded'} ${count}; the next start goes on from ${file}.`,
      ])
    })
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

function readPage(client: PartnerClient, after: string | undefined, signal?: AbortSignal) {
  return client.listEvents(after === undefined ? {} : { after }, signal === undefined ? {} : { signal })
}

/**
 * Reads a page, and repeats that while the service is away; after a restart it continues from the same cursor. Returns
 * `undefined` when the listener is stopped first; throws for errors that waiting does not cure.
 */
async function nextPage({ client, baseUrl }: Partner, after: string | undefined, signal: AbortSignal) {
  for (let attempt = 1; !signal.aborted; attempt += 1) {
    try {
      const page = await readPage(client, after, signal)
      if (attempt > 1) process.stderr.write(`${baseUrl} answers again.\n`)
      return page
    } catch (error) {
      if (signal.aborted) return undefined
      if (!(explained(error, baseUrl) instanceof ServiceAway)) throw error
      if (attempt === 1)
        process.stderr.write(`${baseUrl} is away; it is asked until it answers (Ctrl-C ends this).\n`)
      const wait = retriesMs[Math.min(attempt, retriesMs.length) - 1] ?? POLL_MS
      await pause(wait, undefined, { signal }).catch(() => {})
    }
  }
  return undefined
}

async function endOfLog(client: PartnerClient): Promise<string> {
  let page = await readPage(client, undefined)
  while (page.events.length > 0) page = await readPage(client, page.next)
  return page.next
}

/** Sends one event until it is accepted; returns `-> STATUS`, or `undefined` when the listener is stopped first. */
async function deliver(
  target: string,
  event: LoggedEvent,
  { signal, ...sender }: { username: string; password: string; secret: string; signal: AbortSignal },
): Promise<string | undefined> {
  const body = JSON.stringify(event.body)
  for (let attempt = 1; !signal.aborted; attempt += 1) {
    const headers = await webhooks.sign({ ...sender, eventId: event.eventid, body, attempt })
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
