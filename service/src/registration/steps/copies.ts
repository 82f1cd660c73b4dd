import type { FastifyReply } from 'fastify'
import type { Instant } from '../../calendar/calendar.ts'
import { type Language, textIn } from '../../catalogue/model.ts'
import { findFile } from '../../files/store.ts'
import { type Html, html, type Slot } from '../../http/html.ts'
import { lookCss } from '../../look/look.ts'
import { listCopies, readConfirmation } from '../../membership/records/confirmations.ts'
import type { Person } from '../../membership/rules/person.ts'
import { isLive } from '../../membership/rules/state.ts'
import { knownBenefit, offerOf } from '../../membership/rules/terms.ts'
import type { HelpContacts } from '../../partners/help-contacts.ts'
import type { Legal } from '../../partners/legal.ts'
import { rootOf, type Visit } from '../session/visit.ts'
import { coverLines } from '../views/cover.ts'
import { insurerLabel, useWords } from '../views/coverage.ts'
import { costText, dayText, instantText, totalLines } from '../views/format.ts'
import type { ConsentText, CopyLink, Coverage, HowToUseWords, IsoDate, Passage } from '../views/parts.ts'
import { passageIn, sayIn } from '../views/say.ts'
import { cardOf, enrolmentLine, localDay } from './cards.ts'
import { memberIdsOf, useOf } from './held-benefits.ts'
import type { Made } from './made.ts'

/** What a confirmation keeps: what was done, how it left the user, and the copy of what the person agreed to by it. */
export type ConfirmationContent = {
  readonly at: Instant
  readonly made: Made
  readonly left: string
  readonly copy?: SealedCopy | CopyContent | undefined
}

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
  const ownOffer = offerOf(visit.terms, user)
  return {
    locale,
    partner: partner.name,
    zone: partner.timezone,
    help: partner.help,
    legal: partner.legal,
    reference,
    at: now,
    ...(visit.session.made_by === null ? {} : { byoperator: true }),
    offername: offername ?? (ownOffer ? textIn(ownOffer.displayname, locale) : ''),
    name: [person.firstname, person.lastname].filter(name => name !== undefined).join(' '),
    benefits: lines.flatMap((line): CopyBenefit[] => {
      const { name, displayname, startson, dueon, endson } = line
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
          price: costText(visit, line.cost ?? cost),
          covers: coverLines(visit, line),
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
  return rows.map(({ reference, outcome, at }) => ({
    reference,
    about: copyKind(visit, outcome as CopyLink['about']),
    on: localDay(visit, at),
    address: copyAddress(visit, reference),
  }))
}

/** Where a benefit may cover others, a change need not be one of the plan. */
function copyKind({ terms }: Visit, outcome: CopyLink['about']): CopyLink['about'] {
  const isFamily = [...terms.today.catalogue.benefits.values()].some(({ tiers }) => tiers)
  return outcome === 'changed' && isFamily ? 'altered' : outcome
}

/** Answers the copy with this reference as a file; returns false, without an answer, when this person has none. */
export async function sendCopy(visit: Visit, reference: string, reply: FastifyReply): Promise<boolean> {
  const { context, partner, user } = visit
  if (!/^BE-[0-9A-Z]{4}-[0-9A-Z]{4}$/.test(reference)) return false
  const content = await readConfirmation(context.database, { partner, user, reference })
  const { copy } = (content ?? {}) as Partial<ConfirmationContent>
  if (!copy) return false
  // Those from before 1.0.0 were sealed as what they are drawn from.
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

/** The copy of an agreement as it is sealed: drawn, so that the file stays what was agreed to, byte for byte. */
export type SealedCopy = { readonly html: string }

/** What a person agreed to, in the words that they were shown, to be drawn; it was sealed in this form before 1.0.0. */
export type CopyContent = {
  readonly locale: Language
  readonly partner: string
  readonly zone: string
  readonly help: HelpContacts
  readonly legal: Legal
  readonly name: string
  readonly reference: string
  readonly at: number
  /** Whether it was made by a link that an operator had made. */
  readonly byoperator?: boolean
  readonly offername: string
  readonly benefits: readonly CopyBenefit[]
  /** The total cost, in whole sentences. */
  readonly price: readonly string[]
  readonly agreements: readonly CopyAgreement[]
}

/** A benefit of the copy. */
type CopyBenefit = {
  /** Its name in the catalogue. */
  readonly name: string
  readonly displayname: string
  readonly description: Passage
  readonly pays: readonly Passage[]
  readonly notcovered: readonly Passage[]
  readonly price: string
  /** Whom it covers, in sentences; those from before 1.0.0 have none. */
  readonly covers?: readonly string[]
  /** Absent while the person still has to do something. */
  readonly startson?: IsoDate | undefined
  /** Instead of `startson`: the day before which the person must do it, or the benefit does not start. */
  readonly dueon?: IsoDate | undefined
  readonly endson?: IsoDate | undefined
  readonly coverage?: Coverage | undefined
  readonly howtouse?: HowToUseWords | undefined
  /** The beneficiaries that the person named with it, one per line. */
  readonly beneficiaries?: readonly string[] | undefined
}

/** A text that was agreed to. */
type CopyAgreement = {
  readonly title: string
  readonly version: string
  readonly paragraphs: readonly Passage[]
}

/** What is drawn besides the agreement: the service's origin, with which addresses of documents begin, and member numbers. */
type CopyLook = {
  readonly origin: string
  /** The member numbers that insurers have given since, by benefit. */
  readonly memberIds: ReadonlyMap<string, string>
}

/** The copy as one HTML file that needs no other file, to be kept and printed; `styledCopy` adds its style sheet. */
function drawCopy(copy: CopyContent, look: CopyLook): string {
  const { partner, reference } = copy
  const say = sayIn(copy)
  return html`<!doctype html>
<html lang="${copy.locale}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; img-src data:">
<title>${say`Your benefits: what you agreed to`} – ${partner} – ${reference}</title>
<style>__STYLE__</style>
</head>
<body>
<header><span class="mark" aria-hidden="true"></span><p>${partner}</p></header>
<main>
<h1>${say`Your benefits: what you agreed to`}</h1>
<dl><div><dt>${say`Name`}</dt><dd>${copy.name}</dd></div>
<div><dt>${say`Reference`}</dt><dd>${reference}</dd></div>
<div><dt>${say`Agreed on`}</dt><dd>${instantText(copy, copy.at)}${
    copy.byoperator && ` – ${say`By a link that our support made`}`
  }</dd></div>
<div><dt>${say`Plan`}</dt><dd>${copy.offername}</dd></div></dl>
<h2>${say`Your total`}</h2>
${copy.price.map(line => html`<p>${line}</p>`)}
<h2>${say`Your benefits`}</h2>
${copy.benefits.map(benefit => benefitPart(copy, benefit, look))}
${copy.agreements.length > 0 && html`<h2>${say`What you agreed to`}</h2>`}
${copy.agreements.map(
  ({ title, version, paragraphs }) =>
    html`<section><h3>${title}</h3>${paragraphs.map(text => html`<p>${text}</p>`)}
<p class="hint">${say`Version ${version}`}</p></section>`,
)}
<h2>${say`Help`}</h2>
${helpPart(copy)}
</main>
</body>
</html>
`.markup
}

/** A drawn copy with the partner's present style sheet. */
function styledCopy(markup: string, css: string): string {
  return markup.replace('__STYLE__', () => `${STYLE}${css}`)
}

function benefitPart(copy: CopyContent, benefit: CopyBenefit, look: CopyLook): Html {
  const say = sayIn(copy)
  const { insurer, waiting, documents = [] } = benefit.coverage ?? {}
  const { covers = [] } = benefit
  const memberId = look.memberIds.get(benefit.name)
  const row = (name: string, value: Slot) => html`<div><dt>${name}</dt><dd>${value}</dd></div>`
  return html`<section><h3>${benefit.displayname}</h3>
<p>${benefit.description}</p>
<dl>${row(say`Coverage starts`, startText(copy, benefit))}
${benefit.endson && row(say`Coverage ends on`, dayText(copy, benefit.endson))}
${row(say`Your cost`, benefit.price)}
${
  covers.length > 0 &&
  row(
    say`Who is covered`,
    covers.map(line => html`${line}<br>`),
  )
}${insurer && row(insurerLabel(copy, insurer), html`${insurer.name}. ${insurer.licence}`)}
${memberId !== undefined && row(say`Member number`, memberId)}
${waiting && row(say`Waiting period`, html`${waiting.days === 1 ? say`1 day` : say`${waiting.days} days`}. ${waiting.text}`)}</dl>
<h4>${say`What is covered`}</h4><ul>${benefit.pays.map(line => html`<li>${line}</li>`)}</ul>
<h4>${say`What is not covered`}</h4><ul>${benefit.notcovered.map(line => html`<li>${line}</li>`)}</ul>
${
  benefit.beneficiaries &&
  html`<h4>${say`Beneficiaries`}</h4><ul>${benefit.beneficiaries.map(line => html`<li>${line}</li>`)}</ul>`
}
${benefit.howtouse && html`<h4>${say`How to use it`}</h4>${useWords(benefit.howtouse)}`}
${
  documents.length > 0 &&
  html`<h4>${say`Documents`}</h4><ul>${documents.map(
    ({ title, address }) => html`<li><a
href="${look.origin}${address}">${title}</a> <span class="hint">SHA-256 ${hashIn(address)}</span></li>`,
  )}</ul>`
}</section>`
}

function startText(copy: CopyContent, { startson, dueon }: CopyBenefit): string {
  if (startson) return dayText(copy, startson)
  const say = sayIn(copy)
  return dueon
    ? say`When nothing more is needed from you. If that is not so before ${dayText(copy, dueon)}, the benefit does not start.`
    : say`When nothing more is needed from you`
}

function helpPart(copy: CopyContent): Html {
  const { partner, help, legal, locale } = copy
  const say = sayIn(copy)
  const { phone, email, url } = help
  const ways = [phone, email, url].filter(way => way !== undefined)
  return html`${
    ways.length > 0
      ? html`<ul>${ways.map(way => html`<li>${way}</li>`)}</ul>`
      : html`<p>${say`Contact ${partner} through its app or website.`}</p>`
  }
${legal.operatorline && html`<p>${passageIn(legal.operatorline, locale)}</p>`}
${legal.privacyurl && html`<p>${say`Privacy notice`}: ${legal.privacyurl}</p>`}
${legal.termsurl && html`<p>${say`Terms`}: ${legal.termsurl}</p>`}`
}

function hashIn(address: string): string {
  return /\/files\/([0-9a-f]{64})\//.exec(address)?.[1] ?? ''
}

const STYLE = `:root{--accent:#0b6650;--surface:#fff;--text:#17201d;--muted:#55615c;--fonts:system-ui,sans-serif}
@media (prefers-color-scheme:dark){:root{--accent:#74d3b2;--surface:#182020;--text:#e9efec;--muted:#a5b2ac}}
body{margin:0 auto;max-width:44rem;padding:1.5rem;background:var(--surface);color:var(--text);font:1rem/1.5 var(--fonts)}
header{display:flex;gap:.75rem;align-items:center;font-weight:700}.mark{width:2rem;height:2rem}
h1,h2,h3,a{color:var(--accent)}h2{margin-top:2rem}h3{margin-bottom:.25rem}h4{margin:.75rem 0 0}
section{break-inside:avoid}dl div{display:flex;flex-wrap:wrap;gap:.25rem 1rem}dt{min-width:9rem;color:var(--muted)}dd{margin:0}
ul{margin:.25rem 0;padding-left:1.25rem}.hint{color:var(--muted);font-size:.8125rem;overflow-wrap:anywhere}
@media print{html:root{color-scheme:light;--accent:#000;--surface:#fff;--text:#000;--muted:#444}body{max-width:none;padding:0}}
`
