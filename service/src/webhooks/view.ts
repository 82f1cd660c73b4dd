import type { EventName, LoggedEvent, Replayed, Webhook } from '@benefit-enrolment/contract'
import { formatTimestamp, type Instant } from '../calendar/calendar.ts'
import type { Partner } from '../partners/partner.ts'
import type { AttemptRow, EventRow } from './event-log.ts'
import { DISABLE_AFTER } from './health.ts'
import type { ReplayOutcome } from './replay.ts'
import { openSecrets } from './secrets.ts'
import { COUNTED, type ListedEndpoint } from './store.ts'

const optional = (instant: Instant | null | undefined): string | null =>
  instant === null || instant === undefined ? null : formatTimestamp(instant)

/** An endpoint as the wire shows it; never a password or a secret. Throws where its secrets cannot be opened. */
export const webhookOf = (row: ListedEndpoint, partner: Partner, now: Instant): Webhook => {
  const secrets = openSecrets(
    { partnerId: row.partner_id, endpointId: row.endpoint_id, key: partner.key },
    row.sealed_secrets,
  )
  const oldSecret = secrets.signing.find(({ until }) => until !== null && until > now)
  return { ...closedWebhookOf(row, now), oldsecretuntiltimestamp: optional(oldSecret?.until) }
}

/** The same without what only its secrets tell: that an older one still signs. */
export const closedWebhookOf = (row: ListedEndpoint, now: Instant): Webhook => {
  const { breaker, disabled_at: disabledAt, failing_since: failingSince } = row
  const isOpen = breaker.open !== null && breaker.open.until > now
  return {
    webhookid: row.endpoint_id,
    url: row.url,
    username: row.username,
    events: row.all_events ? 'all' : (row.events as EventName[]),
    ordering: row.ordering,
    status: disabledAt === null ? 'enabled' : 'disabled',
    disabledreason: row.disabled_reason,
    disabledattimestamp: optional(disabledAt),
    failingsincetimestamp: optional(failingSince),
    disablesattimestamp:
      failingSince === null || disabledAt !== null ? null : formatTimestamp(failingSince + DISABLE_AFTER),
    breaker: breaker.open === null ? 'closed' : isOpen ? 'open' : 'probing',
    nextprobeattimestamp: isOpen ? optional(breaker.open?.until) : null,
    pauseduntiltimestamp:
      row.paused_until !== null && row.paused_until > now ? formatTimestamp(row.paused_until) : null,
    credentialsrejected: breaker.open?.by === 'credentials' || breaker.credentialsInRow > 0,
    nextusername: row.next_username,
    acceptedcredentials: row.accepted_pair,
    oldsecretuntiltimestamp: null,
    waiting: Math.min(COUNTED, row.waiting),
    dead: Math.min(COUNTED, row.dead),
    createdat: formatTimestamp(row.created_at),
    updatedat: formatTimestamp(row.updated_at),
  }
}

/** An event of the log as the wire shows it. */
export const eventOf = (row: EventRow): LoggedEvent => ({
  eventid: row.event_id,
  eventname: row.eventname,
  userid: row.userid,
  createdat: formatTimestamp(row.created_at),
  data: row.data,
  body: JSON.parse(row.body.toString('utf8')) as LoggedEvent['body'],
})

/** A try as the wire shows it; what cannot be printed of the answer is escaped. */
export const attemptOf = (row: AttemptRow) => ({
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
})

/** Control, format and private characters could hide or turn round what a terminal or a page shows. */
const printable = (text: string): string =>
  text.replace(
    /[\p{Cc}\p{Cf}\p{Co}\p{Cn}\p{Zl}\p{Zp}]/gu,
    char => `\\u{${(char.codePointAt(0) ?? 0).toString(16)}}`,
  )

/** What a replay did, on the wire. */
export const replayedOf = (done: ReplayOutcome, dryRun: boolean): Replayed => ({
  count: done.count,
  dryrun: dryRun,
  complete: done.isComplete,
  continuefrom: done.continueFrom === null ? null : formatTimestamp(done.continueFrom),
})
