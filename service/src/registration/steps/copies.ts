import type { FastifyReply } from 'fastify'
import { findFile } from '../../files/store.ts'
import { lookCss } from '../../look/look.ts'
import { listCopies, readConfirmation } from '../../membership/records/confirmations.ts'
import type { Person } from '../../membership/rules/person.ts'
import { isLive } from '../../membership/rules/state.ts'
import { knownBenefit, offerOf } from '../../membership/rules/terms.ts'
import { rootOf, type Visit } from '../session/visit.ts'
import { type CopyBenefit, type CopyContent, drawCopy, type SealedCopy, styledCopy } from '../views/copy.ts'
import { costText } from '../views/format.ts'
import type { ConsentText, CopyLink } from '../views/parts.ts'
import { totalLines } from '../views/price.ts'
import { cardOf, enrolmentLine, localDay } from './cards.ts'
import { memberIdsOf, useOf } from './held-benefits.ts'
import type { ConfirmationContent } from './made.ts'

/** What a copy is made from, besides the visit. */
type Agreed = {
  readonly person: Person
  readonly agreements: readonly ConsentText[]
  readonly reference: string
  /** The name of the plan, if it is not the one that the person then has or starts with. */
  readonly offername?: string | undefined
}

/**
 * Draws what a person agrees to by a change, in the words that they were shown, with the dates that hold after the change:
 * `visit` has the user after it.
 */
export function sealedCopy(visit: Visit, agreed: Agreed): SealedCopy {
  const origin = new URL(visit.context.baseUrl()).origin
  return { html: drawCopy(contentOf(visit, agreed), { origin, memberIds: new Map() }) }
}

function contentOf(visit: Visit, { person, offername, agreements, reference }: Agreed): CopyContent {
  const { partner, locale, now, user } = visit
  const lines = user.enrolments.filter(isLive).map(enrolment => enrolmentLine(visit, enrolment))
  const ownOffer = offerOf(visit.terms, user)?.displayname[locale] ?? ''
  return {
    locale,
    partner: partner.name,
    zone: partner.timezone,
    help: partner.help,
    legal: partner.legal,
    reference,
    at: now,
    ...(visit.session.made_by === null ? {} : { byoperator: true }),
    offername: offername ?? ownOffer,
    name: [person.firstname, person.lastname].filter(name => name !== undefined).join(' '),
    benefits: lines.flatMap(({ name, displayname, startson, dueon, endson }): CopyBenefit[] => {
      const benefit = knownBenefit(visit.terms, user, name)
      if (!benefit) return []
      const { description, pays, notcovered, cost, coverage } = cardOf(visit, benefit, {
        status: { kind: 'included' },
      })
      return [
        {
          name,
          displayname,
          description,
          pays,
          notcovered,
          price: costText(visit, cost),
          startson,
          dueon,
          endson,
          coverage,
          howtouse: useOf(visit, benefit),
        },
      ]
    }),
    price: totalLines(visit, lines),
    agreements: agreements.map(({ title, version, paragraphs }) => ({ title, version, paragraphs })),
  }
}

/** The path of the copy with this reference, below the page's root. */
export function copyAddress(visit: Visit, reference: string): string {
  return `${rootOf(visit.context)}/copy/${reference}`
}

/** The copies of this person's agreements, newest first. */
export async function copiesOf(visit: Visit): Promise<readonly CopyLink[]> {
  const rows = await listCopies(visit.context.database, visit)
  return rows.map(({ reference, outcome, createdAt }) => ({
    reference,
    about: outcome as CopyLink['about'],
    on: localDay(visit, createdAt + visit.partner.clockOffsetMs),
    address: copyAddress(visit, reference),
  }))
}

/** Answers the copy with this reference as a file; returns false, without an answer, when this person has none. */
export async function sendCopy(visit: Visit, reference: string, reply: FastifyReply): Promise<boolean> {
  const { context, partner, user } = visit
  if (!/^BE-[0-9A-Z]{4}-[0-9A-Z]{4}$/.test(reference)) return false
  const content = await readConfirmation(context.database, { partner, user, reference })
  const { copy } = (content ?? {}) as Partial<ConfirmationContent>
  if (!copy) return false
  // Those of 1.0 were sealed as what they are drawn from.
  const { origin } = new URL(context.baseUrl())
  const html = 'html' in copy ? copy.html : drawCopy(copy, { origin, memberIds: await memberIdsOf(visit) })
  await reply
    .type('text/html; charset=utf-8')
    .header('Content-Disposition', `attachment; filename="benefits-${reference}.html"`)
    .header(
      'Content-Security-Policy',
      "default-src 'none'; style-src 'unsafe-inline'; img-src data:; sandbox; frame-ancestors 'none'",
    )
    .send(styledCopy(html, await lookOf(visit)))
  return true
}

/** The partner's present look, with its logo inside the file, so that the file needs nothing else. */
async function lookOf({ context, partner }: Visit): Promise<string> {
  const { logo } = partner.look
  const file = logo ? await findFile(context.database, logo.slice(0, 64)) : undefined
  return lookCss(partner.look, file ? `data:${file.mediaType};base64,${file.content.toString('base64')}` : '')
}
