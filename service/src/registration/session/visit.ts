import { dateAt, type Instant, type PlainDate, prefillExpiresAt } from '../../calendar/calendar.ts'
import type { Language } from '../../catalogue/model.ts'
import { type Look, lookQuery } from '../../look/look.ts'
import type { Reading } from '../../membership/reading/reader.ts'
import type { DocumentKind } from '../../membership/records/sealed.ts'
import type { Person } from '../../membership/rules/person.ts'
import { isRefusal, refuse } from '../../membership/rules/refusal.ts'
import { isActive, type User } from '../../membership/rules/state.ts'
import type { Terms } from '../../membership/rules/terms.ts'
import type { Partner } from '../../partners/partner.ts'
import { keyedHash } from '../../vault/hash.ts'
import type { BrowserFiles } from '../browser-files.ts'
import type { Page } from '../views/surroundings.ts'
import { type DeepLink, parseDeepLink } from './deep-link.ts'
import type { PageContext } from './page-context.ts'
import { type Draft, draftOf, personShown, sentTo, shownTag } from './person.ts'
import { type ActiveSession, authorOf, type OwnSession, sessionLifetimes } from './session.ts'
import { bindSession, type PageSessionRow } from './store.ts'

/** One request of one person on the page: the person, the session, and everything that views need. */
export type Visit = ActiveSession & {
  readonly context: PageContext
  readonly shell: Page['shell']
  readonly locale: Language
  /** The user with due changes applied; only a member's data is confirmed. */
  readonly user: User
  readonly isMember: boolean
  /** The rules, applied to `person`. */
  readonly terms: Terms
  readonly now: Instant
  /** Today in the partner's zone. */
  readonly today: PlainDate
  /**
   * The person's data as shown: the confirmed data of a member; otherwise the person's answers on top of what the
   * partner sent.
   */
  readonly person: Person
  /** Data that the partner has sent and that nobody has confirmed yet. */
  readonly sent: Person
  readonly draft: Draft
  readonly deepLink: DeepLink | undefined
  /** The browser's files. */
  readonly files: Pick<BrowserFiles, 'script' | 'stylesheet' | 'icon'>
  /** The request that is being answered; its id is stored with the changes that it makes. */
  readonly requestId: string
}

/**
 * Loads everything for an open session; `undefined` when its user was erased, or the userid belongs to another user by
 * now.
 */
export async function openVisit(
  context: PageContext,
  active: ActiveSession,
  request: { shell: Page['shell']; files: Visit['files']; requestId: string },
): Promise<Visit | undefined> {
  const { partner } = active
  const begun =
    active.session.service_id === null
      ? await beginRegistration(context, active, request.requestId)
      : active.session
  if (!begun) return undefined
  const read = await readWhole(context, active, request.requestId)
  if (!read || read.user.status === 'erased' || read.user.serviceId !== begun.service_id) return undefined
  const { user, now, documents } = read
  const isMember = isActive(user)
  const documentOf = (kind: DocumentKind) => documents.get(kind)
  const person = personShown(user, documentOf)
  return {
    ...active,
    ...request,
    context,
    session: begun,
    locale: begun.locale ?? partner.locale,
    user,
    isMember,
    terms: context.terms(partner, () => person),
    now,
    today: dateAt(now, partner.timezone),
    person,
    sent: sentTo(user, documentOf),
    draft: draftOf(documentOf('draft')),
    deepLink: parseDeepLink(begun.deeplinkdata ?? ''),
  }
}

/** The user with a registration under way. It lapses with the prefill or, without one, after the same time. */
export function registering(user: User, now: Instant): User {
  if (isActive(user)) return user
  return {
    ...user,
    status: user.status === 'none' || user.status === 'prefilled' ? 'registering' : user.status,
    entryExpiresAt: user.entryExpiresAt ?? prefillExpiresAt(now),
  }
}

type Whole = Reading & { readonly documents: ReadonlyMap<DocumentKind, Person> }

/**
 * Reads a user and their documents as of one moment: between two reads, another press of the same button may turn the
 * draft into a membership.
 */
async function readWhole(
  context: PageContext,
  active: ActiveSession,
  requestId: string,
): Promise<Whole | undefined> {
  let reading = await freshReading(context, active, requestId)
  for (let tries = 1; reading; tries += 1) {
    const documents = await context.reader.documents(active.partner, reading.user)
    const after: Reading | undefined = await context.reader.read(active.partner, active.session.userid)
    const isSame =
      after?.user.status === reading.user.status && after.user.updatedAt === reading.user.updatedAt
    if (isSame || tries === 3) return { ...reading, documents }
    reading = after
  }
  return undefined
}

/** A registration that lapsed while the page was open is started again. */
async function freshReading(
  context: PageContext,
  active: ActiveSession,
  requestId: string,
): Promise<Reading | undefined> {
  const { partner, session } = active
  const reading = await context.reader.read(partner, session.userid)
  if (reading?.user.status !== 'none' && reading?.user.status !== 'prefilled') return reading
  await beginRegistration(context, active, requestId)
  return context.reader.read(partner, session.userid)
}

/**
 * After the link was opened: a user who is not a member yet becomes registering, and the session is bound to the user.
 * `undefined`: the user was erased since the link was found, and the link with the user.
 */
export async function beginRegistration(
  context: PageContext,
  { partner, session }: OwnSession,
  requestId: string,
): Promise<PageSessionRow | undefined> {
  const result = await context.executor.submit({
    partner,
    userid: session.userid,
    who: authorOf(session),
    actor: session.session_id,
    requestId,
    why: 'link opened',
    decide: commandContext => {
      if (commandContext.member?.user.status === 'erased') return refuse('user_not_found')
      const user = commandContext.orNew()
      const begun = registering(user, commandContext.now)
      const isNew = commandContext.member?.user.serviceId !== user.serviceId
      const isChanged = isNew || begun.status !== user.status || begun.entryExpiresAt !== user.entryExpiresAt
      return {
        ...(isChanged ? { change: { user: { ...begun, updatedAt: commandContext.now }, events: [] } } : {}),
        answer: after => after.serviceId,
      }
    },
  })
  if (isRefusal(result)) return undefined
  await bindSession(context.database, session, result.reply)
  return { ...session, service_id: result.reply }
}

/** What every view needs apart from its own content. */
export function pageOf(visit: Visit, step?: Page['step']): Page {
  const { context, partner, session, files } = visit
  return {
    ...pageFor(context, files, visit),
    zone: partner.timezone,
    idleseconds: sessionLifetimes.idle / 1000,
    draft: `${formTag(visit)}-${shownTag(visit, visit)}`,
    step,
    isresumed: isResumed(visit),
    byoperator: session.made_by !== null,
  }
}

/** Whether somebody who registers sees the first view of this session, with answers that an earlier one has kept. */
function isResumed({ isMember, session, draft }: Visit): boolean {
  const isFirst = session.last_view === null || session.last_view === 'CHALLENGE'
  const { answers, ...choice } = draft
  return !isMember && isFirst && (Object.keys(answers).length > 0 || Object.keys(choice).length > 0)
}

/** Who sees a page; the partner only once it is known. */
export type Viewer = {
  readonly shell: Page['shell']
  readonly locale: Language
  readonly partner?: Pick<Partner, 'name' | 'help' | 'legal' | 'look'> | undefined
}

/** What every view needs, also for somebody without a session. */
export function pageFor(
  context: Pick<PageContext, 'basePath' | 'languages'>,
  files: Visit['files'],
  viewer: Viewer,
): Page {
  const { shell, locale, partner } = viewer
  const look = partner && lookAddress(context, partner.look)
  return {
    shell,
    locale,
    languages: context.languages,
    partner: { displayname: partner?.name ?? '' },
    help: partner?.help ?? {},
    legal: partner?.legal,
    zone: 'UTC',
    stylesheets: look === undefined ? [files.stylesheet] : [files.stylesheet, look],
    script: files.script,
    icon: files.icon,
    root: rootOf(context),
  }
}

/** The page's root below the base URL's own path. */
export function rootOf(context: Pick<PageContext, 'basePath'>): string {
  return `${context.basePath}/register`
}

/** The address of the style sheet of a partner's look; `undefined` where the partner has none. */
function lookAddress(context: Pick<PageContext, 'basePath'>, look: Look): string | undefined {
  if (Object.keys(look).length === 0) return undefined
  return `${context.basePath}/page/look.css?${lookQuery(look)}`
}

/**
 * A tag that says whose answers a form was made from, so that a form of one person never changes another's data, even
 * on a shared computer.
 */
export function formTag({ partner, user }: Visit): string {
  return keyedHash(partner.hashKey, 'page_form', user.partnerId, user.serviceId).toString('hex').slice(0, 12)
}
