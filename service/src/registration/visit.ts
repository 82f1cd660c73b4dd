import { dateAt, type Instant, type PlainDate, prefillExpiresAt } from '../calendar/calendar.ts'
import type { DocumentKind, Person } from '../membership/documents.ts'
import type { Reading } from '../membership/reader.ts'
import { isRefusal } from '../membership/refusal.ts'
import { isActive, type User } from '../membership/state.ts'
import type { Terms } from '../membership/terms.ts'
import type { Partner } from '../partners/partner.ts'
import { keyedHash } from '../vault/hash.ts'
import { answeredPerson, blankDraft, type Draft } from './answers.ts'
import type { BrowserFiles } from './browser-files.ts'
import { type DeepLink, parseDeepLink } from './deep-link.ts'
import type { PageContext } from './page-context.ts'
import { type LivingSession, nameOf, sessionLifetimes } from './session.ts'
import { bindSession, type PageSessionRow } from './store.ts'
import type { Locale, Page } from './views/surroundings.ts'
import { checkTheme, themeQuery } from './views/theme.ts'

/** One request of one person on the page: who, by which session, and everything the views tell of. */
export type Visit = {
  readonly context: PageContext
  readonly partner: Partner
  readonly session: PageSessionRow
  readonly shell: Page['shell']
  readonly locale: Locale
  /** The user, settled; of whom nothing is confirmed unless active. */
  readonly user: User
  readonly isMember: boolean
  /** The rules, judged on `person`. */
  readonly terms: Terms
  readonly now: Instant
  /** Today in the partner's zone. */
  readonly today: PlainDate
  /** The person as shown: what is confirmed, or what was sent under what was answered. */
  readonly person: Person
  /** What the partner has sent and nobody has confirmed yet. */
  readonly sent: Person
  readonly draft: Draft
  readonly deepLink: DeepLink | undefined
  /** The browser's files. */
  readonly files: Pick<BrowserFiles, 'script' | 'stylesheet' | 'icon'>
}

/** Loads everything for a living session; `undefined` when its user is gone: erased, or another one by now. */
export const openVisit = async (
  context: PageContext,
  living: LivingSession,
  request: { shell: Page['shell']; files: Visit['files'] },
): Promise<Visit | undefined> => {
  const { partner, row } = living
  const begun = row.service_id === null ? await beginRegistration(context, living) : row
  const read = await readWhole(context, living)
  if (!read || read.user.status === 'erased' || read.user.serviceId !== begun.service_id) return undefined
  const { user, now, documents } = read
  const isMember = isActive(user)
  const draft = draftOf(documents.get('draft'))
  const sent = user.entryExpiresAt === undefined ? {} : (documents.get('prefill') ?? {})
  const person = personShown(user, { documents, draft, sent })
  return {
    context,
    partner,
    session: begun,
    shell: request.shell,
    locale: begun.locale,
    user,
    isMember,
    terms: context.terms(partner, () => person),
    now,
    today: dateAt(now, partner.timezone),
    person,
    sent,
    draft,
    deepLink: begun.deeplinkdata === null ? undefined : parseDeepLink(begun.deeplinkdata),
    files: request.files,
  }
}

/** Of a member what is confirmed; of anybody else what was sent, and what they answered. */
export const personShown = (
  user: User,
  known: { documents: ReadonlyMap<DocumentKind, Person>; draft: Draft; sent: Person },
): Person => {
  const profile = known.documents.get('profile')
  if (isActive(user)) return profile ?? {}
  // Who was a member before is known from then.
  return answeredPerson({ ...profile, ...known.sent }, known.draft)
}

/** The draft of a document, or a blank one. */
export const draftOf = (document: unknown): Draft => (document as Draft | undefined) ?? blankDraft

/** The user with a registration under way, which lapses with its prefill or after as long as one would. */
export const registering = (user: User, now: Instant): User => {
  if (isActive(user)) return user
  return {
    ...user,
    status: user.status === 'none' || user.status === 'prefilled' ? 'registering' : user.status,
    entryExpiresAt: user.entryExpiresAt ?? prefillExpiresAt(now),
  }
}

type Whole = Reading & { readonly documents: ReadonlyMap<DocumentKind, Person> }

/**
 * Reads a user and their documents as they were at one time: another press of the same button may turn the draft into
 * a membership between the two reads.
 */
const readWhole = async (context: PageContext, living: LivingSession): Promise<Whole | undefined> => {
  let reading = await freshReading(context, living)
  for (let tries = 1; reading; tries += 1) {
    const documents = await context.reader.documents(living.partner, reading.user)
    const after: Reading | undefined = await context.reader.read(living.partner, living.row.userid)
    const isSame =
      after?.user.status === reading.user.status && after.user.updatedAt === reading.user.updatedAt
    if (isSame || tries === 3) return { ...reading, documents }
    reading = after
  }
  return undefined
}

/** A registration that lapsed while the page was open is taken up again. */
const freshReading = async (context: PageContext, living: LivingSession): Promise<Reading | undefined> => {
  const { partner, row } = living
  const reading = await context.reader.read(partner, row.userid)
  if (reading?.user.status !== 'none' && reading?.user.status !== 'prefilled') return reading
  await beginRegistration(context, living)
  return context.reader.read(partner, row.userid)
}

/** The link was opened: a user who is not a member yet is registering from now on, and the session is bound to them. */
export const beginRegistration = async (
  context: PageContext,
  { partner, row }: LivingSession,
): Promise<PageSessionRow> => {
  const outcome = await context.ledger.submit({
    partner,
    userid: row.userid,
    who: 'user',
    why: 'link opened',
    decide: situation => {
      const user = situation.orNew()
      const begun = registering(user, situation.now)
      const isNew = situation.member?.user.serviceId !== user.serviceId
      const isChanged = isNew || begun.status !== user.status || begun.entryExpiresAt !== user.entryExpiresAt
      return {
        ...(isChanged ? { change: { user: { ...begun, updatedAt: situation.now }, events: [] } } : {}),
        answer: after => after.serviceId,
      }
    },
  })
  if (isRefusal(outcome)) throw new Error('opening a link is never refused')
  await bindSession(context.database, nameOf(row), outcome.reply)
  return { ...row, service_id: outcome.reply }
}

/** What every view needs besides its own content. */
export const pageOf = (visit: Visit, step?: number): Page => {
  const { context, partner, session, shell, locale, files } = visit
  const theme = themeAddress(context, session)
  return {
    shell,
    locale,
    partner: { displayname: partner.name },
    help: partner.help,
    zone: partner.timezone,
    stylesheets: theme === undefined ? [files.stylesheet] : [files.stylesheet, theme],
    script: files.script,
    icon: files.icon,
    root: rootOf(context),
    idleseconds: sessionLifetimes.idle / 1000,
    draft: `${formTag(visit)}-${visit.draft.version}`,
    ...(step === undefined ? {} : { step: { at: step, of: stepCount(visit) } }),
  }
}

/** Where the hosted page leads back to: what the link names, as long as the partner has it registered. */
export const wayBack = ({ session, partner, shell }: Visit): { redirecturl?: string } => {
  const { redirecturl } = session
  const isOpen = shell === 'hosted' && redirecturl !== null && partner.redirects.includes(redirecturl)
  return isOpen ? { redirecturl } : {}
}

/** The page's root below the base URL's own path. */
export const rootOf = (context: Pick<PageContext, 'basePath'>): string => `${context.basePath}/register`

/** Whether the person has a plan to choose. */
export const choosesPlan = (visit: Visit): boolean =>
  visit.session.offername === null &&
  (visit.partner.offers ?? [...visit.terms.today.catalogue.offers.keys()]).length > 1

/** Details, benefits and answers; and a plan in between where there is one to choose. */
const stepCount = (visit: Visit): number => (choosesPlan(visit) ? 4 : 3)

/** The address of the style sheet of the session's look, which is checked anew whenever it is used. */
export const themeAddress = (
  context: Pick<PageContext, 'basePath'>,
  session: Pick<PageSessionRow, 'appearance'>,
): string | undefined => {
  const checked = session.appearance == null ? undefined : checkTheme(session.appearance)
  return checked?.ok ? `${context.basePath}/page/theme.css?${themeQuery(checked.theme)}` : undefined
}

/** Says whose answers a form was made from: a form of one person never changes another, on a shared computer either. */
export const formTag = ({ partner, user }: Visit): string =>
  keyedHash(partner.hashKey, 'page_form', user.partnerId, user.serviceId).toString('hex').slice(0, 12)
