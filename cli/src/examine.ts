import { randomUUID } from 'node:crypto'
import { type LoggedEvent, type WebhookEvent, webhooks } from '@benefit-enrolment/client'
import type { Finding } from '@benefit-enrolment/command'
import { newSigningSecret } from './delivery.ts'
import { type ReceiverAnswer, sendPieces } from './send-slowly.ts'

type DeliverySecrets = { readonly username: string; readonly password: string; readonly secret: string }
type Sent = Pick<LoggedEvent, 'eventid'> & { readonly body: WebhookEvent }
type Trial = {
  readonly attempt?: number
  readonly stranger?: 'password' | 'signature' | 'both'
  readonly at?: number
  readonly pieces?: (body: string) => readonly (string | Buffer)[]
  readonly pauseMs?: number
}

const SLOW_MS = 5000
const STRANGER_BYTES = 8 * 1024 * 1024
const STALE_MS = 10 * 60_000

const ofNoAnswer =
  'There was no answer: start your receiver, compare host and port with the address that you gave, and answer within 15 s.'
const ofNoAcceptance =
  'Answer 2xx to a correct delivery. It was signed with HOOK_SECRET and sent with HOOK_USERNAME and HOOK_PASSWORD: your receiver must have the same.'

/**
 * Tests a receiver with real events: as the service sends them, again, in another order, slowly, and as a stranger
 * might send them. It ends after the first check if even a plain delivery is not accepted, because all others would
 * fail for the same reason.
 */
export async function examine(
  target: string,
  events: { first: LoggedEvent; last: LoggedEvent; long: LoggedEvent },
  credentials: DeliverySecrets,
): Promise<readonly Finding[]> {
  const send = (event: Sent, trial: Trial = {}) => deliver(target, event, credentials, trial)
  const { first, last, long } = events
  const findings: Finding[] = []
  const accepted = (check: string, answer: ReceiverAnswer, remedy: string) =>
    findings.push({
      check,
      told: describeAnswer(answer),
      result: isAccepted(answer) ? 'ok' : 'fail',
      ...(isAccepted(answer) ? {} : { remedy }),
    })

  const plain = await send(last)
  accepted('a delivery', plain, plain.status === undefined ? ofNoAnswer : ofNoAcceptance)
  if (!isAccepted(plain)) return findings
  if (plain.ms > SLOW_MS)
    findings.push({
      check: 'in time',
      result: 'warn',
      told: `${plain.ms} ms`,
      remedy: 'Store the event, answer, and work afterwards: after 15 s the attempt counts as failed.',
    })
  const again = await send(last, { attempt: 2 })
  accepted(
    'a duplicate',
    again,
    'Answer 2xx to an event that you have already, else it is sent eleven times more: insert … on conflict (key) do nothing.',
  )
  const [one, two] = await Promise.all([send(first), send(first, { attempt: 2 })])
  accepted(
    'two at once',
    isAccepted(one) ? two : one,
    'The same event may arrive twice at the same instant: let a unique key of your database decide, not a look before the insert.',
  )
  accepted(
    'an older event',
    await send(first, { attempt: 3 }),
    'Events may arrive in another order than they were raised: accept each, and compare updatedat, or ask for ordering "user".',
  )
  const unknown = { ...first.body, eventname: 'doctor_unknown_event' }
  accepted(
    'an unknown name',
    await send({ ...first, eventid: randomUUID(), body: unknown }),
    'Event names may be added: answer 2xx to one that you do not know, and ignore it.',
  )
  accepted(
    'a long userid',
    await send(long),
    'A userid has up to 128 characters: make the column that holds it as long.',
  )
  accepted(
    'a slow body',
    await send(last, { attempt: 3, pieces: inPieces, pauseMs: 250 }),
    'Read the body to its end before you verify it: networks deliver it in pieces, and content-length says how long it is.',
  )
  findings.push(...(await asStranger(send, last)))
  return findings
}

/** The receiver's answer to somebody who knows the address, but not the secrets. */
async function asStranger(
  send: (event: Sent, trial: Trial) => Promise<ReceiverAnswer>,
  known: Sent,
): Promise<readonly Finding[]> {
  const event = { ...known, eventid: randomUUID() }
  const both = await send(event, { stranger: 'both' })
  const password = await send(event, { stranger: 'password' })
  const signature = await send(event, { stranger: 'signature' })
  const stale = await send(event, { at: Date.now() - STALE_MS })
  const big = await send(event, {
    stranger: 'both',
    pieces: body => [body, ...Array.from({ length: 128 }, () => Buffer.alloc(STRANGER_BYTES / 128, ' '))],
  })
  const isEnough = 'Checking one of the two, password or signature, is enough; both are better.'
  return [
    refused(
      'a stranger',
      both,
      'fail',
      'Check the Basic credentials, the signature, or both: anybody may post here.',
    ),
    isAccepted(password) || password.status === 401
      ? refused(
          'a wrong password',
          password,
          isAccepted(signature) ? 'fail' : 'warn',
          `Answer 401 to a wrong Basic password. ${isEnough}`,
        )
      : {
          check: 'a wrong password',
          result: 'warn' as const,
          told: describeAnswer(password),
          remedy: 'Answer 401: only then is the other pair sent while you change the password.',
        },
    refused(
      'a wrong signature',
      signature,
      isAccepted(password) ? 'fail' : 'warn',
      `Answer 401 to a signature that does not fit the body. ${isEnough}`,
    ),
    refused(
      'an old one',
      stale,
      'warn',
      'Refuse a webhook-timestamp that is more than five minutes away: it may be a recording.',
    ),
    refused(
      'a big body',
      big,
      'fail',
      'Bound what you read of a body, for example to 64 KiB, and answer 413.',
    ),
  ]
}

/** A finding for a request that must be refused: by a 4xx, or by closing the connection. */
function refused(check: string, answer: ReceiverAnswer, worst: 'warn' | 'fail', remedy: string): Finding {
  const isRefused =
    answer.status === undefined ? !answer.error?.startsWith('no answer') : isClientError(answer)
  if (isRefused) return { check, result: 'ok', told: `refused: ${describeAnswer(answer)}` }
  return { check, result: worst, told: describeAnswer(answer), remedy }
}

function isAccepted({ status }: ReceiverAnswer): boolean {
  return status !== undefined && status >= 200 && status < 300
}

function isClientError({ status = 0 }: ReceiverAnswer): boolean {
  return status >= 400 && status < 500
}

function describeAnswer({ status, error, ms }: ReceiverAnswer): string {
  return `${status ?? error} after ${ms} ms`
}

/** Four pieces of almost equal length. */
function inPieces(body: string): readonly Buffer[] {
  const bytes = Buffer.from(body)
  const size = Math.ceil(bytes.length / 4)
  return Array.from({ length: 4 }, (_, index) => bytes.subarray(index * size, (index + 1) * size))
}

async function deliver(
  target: string,
  event: Sent,
  { username, password, secret }: DeliverySecrets,
  trial: Trial,
): Promise<ReceiverAnswer> {
  const isWrong = (what: 'password' | 'signature') => trial.stranger === what || trial.stranger === 'both'
  const body = JSON.stringify(event.body)
  const headers = await webhooks.sign({
    eventId: event.eventid,
    body,
    username,
    password: isWrong('password') ? `${password}-wrong` : password,
    secret: isWrong('signature') ? newSigningSecret() : secret,
    attempt: trial.attempt ?? 1,
    at: trial.at ?? Date.now(),
  })
  return sendPieces(target, headers, trial.pieces?.(body) ?? [body], trial.pauseMs)
}
