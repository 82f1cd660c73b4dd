import { eraseAccount } from '../../accounts/lifecycle.ts'
import { dateAt, formatTimestamp, type Instant } from '../../calendar/calendar.ts'
import type { Executor } from '../../db/database.ts'
import { html } from '../../http/html.ts'
import type { ListedErasure } from '../../membership/erasure-list/list.ts'
import { listRetained, type Retained } from '../../membership/records/retained-rows.ts'
import { refuse } from '../../membership/rules/refusal.ts'
import { isKnown } from '../../membership/rules/state.ts'
import type { Partner } from '../../partners/partner.ts'
import { record } from '../screen/record.ts'
import {
  type Answer,
  ConsoleRefusal,
  notHere,
  type OperatorVisit,
  onGet,
  type Screen,
} from '../screen/screen.ts'
import { isErased, openUser } from '../user-data/living-user.ts'
import { tookPartInErasure } from '../user-data/store.ts'
import type { Act } from './act.ts'

/** Erases a person for good. */
export const erase: Act = {
  name: 'erase',
  title: 'Erase for good',
  button: 'Erase for good',
  color: 'danger',
  second: 'erase',
  fits: ({ user }) => isKnown(user),
  kept: () => html`<p>Destroyed for good: the data key of this person, and with it prefill, account and drafts;
benefits held, consents, confirmations, beneficiaries and dependants; links and sessions; the userid.
The serviceid, the dates of changes and the audit log stay, and what the law makes the partner keep.</p>
<p class="hint">It cannot be taken back. To hand the person a copy first, export all we hold.</p>`,
  why: () => 'erase',
  decide: (_form, { user, now, terms }) =>
    isKnown(user) ? eraseAccount(user, now, terms) : refuse('user_not_found'),
  done: ({ noteErasure }, { partnerId, serviceId, erasedAt = 0 }) =>
    noteErasure({ partnerId, serviceId, erasedAt: formatTimestamp(erasedAt) }),
}

/** The certificate of an erasure. */
export const certificateScreens: readonly Screen[] = [
  onGet('/users/:serviceid/certificate', 'support', certificate),
]

/** The certificate, for those who requested the erasure or confirmed it. */
async function certificate(visit: OperatorVisit): Promise<Answer> {
  const { database, real } = visit.context
  const details = await openUser(visit)
  if (!isErased(details)) throw notHere('certificate')
  const { partner, serviceId, erasedAt } = details
  const deed = { action: 'download certificate', partner, serviceId }
  const { partnerId } = partner
  if (!(await tookPartInErasure(database, { partnerId, serviceId }, visit.operator.operatorId))) {
    await record(visit, { ...deed, result: 'refused' })
    throw new ConsoleRefusal(
      403,
      'Not yours',
      'The certificate is for who asked for the erasure and who confirmed it. `enrolment user erase` prints it again.',
    )
  }
  const made = await certificateOf(database, { partnerId, serviceId, erasedAt: formatTimestamp(erasedAt) })
  await record(visit, deed)
  return {
    file: `erasure-${serviceId}.txt`,
    type: 'text/plain; charset=utf-8',
    content: `${wordsOfCertificate(made, { partner, madeAt: real() }).join('\n')}\n`,
  }
}

/** The facts that prove an erasure; they name nobody. */
type ErasureCertificate = {
  readonly partnerid: string
  readonly serviceid: string
  readonly status: 'erased'
  readonly erasedat: string
  readonly retained: readonly Omit<Retained, 'records'>[]
}

/** The certificate of an erasure, with the records that must be kept for a time. */
export async function certificateOf(
  db: Executor,
  { partnerId, serviceId, erasedAt: erasedat }: ListedErasure,
): Promise<ErasureCertificate> {
  const retained = await listRetained(db, partnerId, serviceId)
  return { partnerid: partnerId, serviceid: serviceId, status: 'erased', erasedat, retained }
}

/** A certificate in words, one line per element, first for the person who was erased and then for whoever keeps it. */
export function wordsOfCertificate(
  { partnerid, serviceid, erasedat, retained }: ErasureCertificate,
  { partner, madeAt }: { readonly partner: Pick<Partner, 'name' | 'timezone'>; readonly madeAt: Instant },
): readonly string[] {
  const day = (timestamp: string) => dateAt(Date.parse(timestamp), partner.timezone)
  return [
    'Certificate of erasure',
    '',
    `Your personal data at ${partner.name} was erased on ${day(erasedat)}.`,
    '',
    'What is gone: your name, birth date, address and contact details; your benefits and what you chose; what you agreed',
    'to and whom you named; every link and session of yours. The key that made this data readable was destroyed, so nobody',
    'can read it again. Copies in backups end when the backups are deleted.',
    ...(retained.length === 0
      ? ['Nothing of it is kept.']
      : retained.map(
          one => `What the law requires is kept, sealed, until ${day(one.keptuntil)}: ${RETAINED[one.kind]}.`,
        )),
    'What stays: the days on which something was changed, without your name.',
    '',
    `For reference: partner ${partnerid}, service id ${serviceid}, erased ${erasedat}, made ${formatTimestamp(madeAt)}.`,
  ]
}

const RETAINED: Readonly<Record<Retained['kind'], string>> = {
  consents: 'the texts that you agreed to, and when',
  confirmations: 'the confirmations that you got',
  coverage: 'which benefits covered you, and when',
  beneficiaries: 'whom you named to receive a benefit',
}
