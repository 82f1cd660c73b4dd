/** Turns stored endpoints, events and attempts into the answers of the API. */
import type { LoggedEvent, Replayed, WebhookEndpoint } from '@benefit-enrolment/contract'
import { formatTimestamp, type Instant } from '../../calendar/calendar.ts'
import type { Partner } from '../../partners/partner.ts'
import { type EndpointSecrets, openSecrets } from '../endpoint/secrets.ts'
import { COUNTED, type ListedEndpoint } from '../endpoint/store.ts'
import { DISABLE_AFTER } from '../endpoint/verdict.ts'
import type { AttemptRow } from '../log/attempts.ts'
import type { EventRow } from '../log/event-log.ts'
import type { ReplayOutcome } from '../log/replay.ts'

/** An instant on the wire, or null when there is none. */
export function optional(instant: Instant | null | undefined): string | null {
  return instant === null || instant === undefined ? null : formatTimestamp(instant)
}

/** An endpoint as the API shows it, without passwords and secrets. Throws when its secrets cannot be opened. */
export function webhookOf(row: ListedEndpoint, partner: Partner, now: Instant): WebhookEndpoint {
  const secrets = openSecrets(
    { partnerId: row.partner_id, endpointId: row.endpoint_id, key: partner.key },
    row.sealed_secrets,
  )
  const oldSecret = secrets.signing.find(({ until }) => until !== null && until > now)
  return {
    ...closedWebhookOf(row, now),
    ...shownOf(secrets),
    oldsecretuntiltimestamp: optional(oldSecret?.until),
  }
}

/** What is shown of the sealed part: whether secrets are set, and what is none. */
function shownOf({ current, next, headers, client }: Omit<EndpointSecrets, 'signing'>) {
  const { tokenurl = null, clientid = null, scope = null } = current.kind === 'oauth2' ? current : {}
  return {
    authorization: current.kind,
    username: current.kind === 'basic' ? current.username : '',
    tokenurl,
    clientid,
    scope,
    nextauthorization: next?.kind ?? null,
    nextusername: next?.kind === 'basic' ? next.username : null,
    headers: Object.keys(headers),
    clientcertificateendsattimestamp: optional(client?.endsAt),
  }
}

/** The same without opening the secrets, so it shows nothing of credentials, headers and certificate. */
function closedWebhookOf(row: ListedEndpoint, now: Instant): WebhookEndpoint {
  const { disabled_at: disabledAt, health } = row
  const { breaker, failingSince, pausedUntil } = health
  const isOpen = breaker.open !== null && breaker.open.until > now
  // A disabled endpoint is not probed, whatever its breaker waited for.
  const isProbed = disabledAt === null
  return {
    webhookid: row.endpoint_id,
    url: row.url,
    ...shownOf({ current: NOT_SHOWN, next: null, headers: {}, client: null }),
    events: row.all_events ? ['all'] : row.events,
    ordering: row.ordering,
    ratelimit: row.rate_limit ?? 0,
    status: disabledAt === null ? 'enabled' : 'disabled',
    disabledreason: row.disabled_reason,
    disabledattimestamp: optional(disabledAt),
    failingsincetimestamp: optional(failingSince),
    disablesattimestamp:
      failingSince === undefined || disabledAt !== null
        ? null
        : formatTimestamp(failingSince + DISABLE_AFTER),
    breaker: breaker.open === null ? 'closed' : isOpen || !isProbed ? 'open' : 'probing',
    nextprobeattimestamp: isOpen && isProbed ? optional(breaker.open?.until) : null,
    pauseduntiltimestamp:
      pausedUntil !== undefined && pausedUntil > now ? formatTimestamp(pausedUntil) : null,
    credentialsrejected: breaker.open?.by === 'credentials' || breaker.credentialsInRow > 0,
    acceptedcredentials: health.acceptedPair ?? null,
    oldsecretuntiltimestamp: null,
    waiting: Math.min(COUNTED, row.waiting),
    dead: Math.min(COUNTED, row.dead),
    createdat: formatTimestamp(row.created_at),
    updatedat: formatTimestamp(row.updated_at),
  }
}

const NOT_SHOWN = { kind: 'basic', username: '', password: '' } as const

/** An event of the log as the API shows it. */
export function eventOf(row: EventRow): LoggedEvent {
  return {
    eventid: row.event_id,
    eventname: row.eventname,
    userid: row.userid,
    createdat: formatTimestamp(row.created_at),
    data: row.data,
    body: JSON.parse(row.body.toString('utf8')) as LoggedEvent['body'],
  }
}

/**
 * An attempt as a partner sees it. Whether a name without a public address exists inside the operator's network is not the
 * partner's to know, neither by a word nor by a time.
 */
export function partnerAttemptOf(row: AttemptRow) {
  const attempt = attemptOf(row)
  if (row.error_class === 'token') return { ...attempt, dnsms: null, totalms: 0 }
  if (row.error_class !== 'dns' && row.error_class !== 'blocked_address') return attempt
  return { ...attempt, error: 'dns', dnsms: null, totalms: 0 }
}

/** An attempt as the API shows it; characters of the answer that cannot be printed are escaped. */
export function attemptOf(row: AttemptRow) {
  return {
    webhookid: row.endpoint_id,
    attempt: row.attempt,
    startedat: formatTimestamp(row.started_at),
    status: row.status,
    error: row.error_class,
    credentials: row.pair,
    address: row.address,
    dnsms: row.dns_ms,
    connectms: row.connect_ms,
    tlsms: row.tls_ms,
    firstbytems: row.first_byte_ms,
    totalms: row.total_ms,
    answer: row.answer === null ? null : printable(row.answer),
  }
}

/** Control, format and private characters could hide or reorder the text that a terminal or a page shows. */
function printable(text: string): string {
  return text.replace(
    /[\p{Cc}\p{Cf}\p{Co}\p{Cn}\p{Zl}\p{Zp}]/gu,
    char => `\\u{${(char.codePointAt(0) ?? 0).toString(16)}}`,
  )
}

/** The result of a replay as the API shows it. */
export function replayedOf(done: Omit<ReplayOutcome, 'known'>, dryRun: boolean): Replayed {
  return {
    count: done.count,
    dryrun: dryRun,
    complete: done.isComplete,
    continuefrom: optional(done.continueFrom),
  }
}
