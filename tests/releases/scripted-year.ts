import { runContext } from '../../service/src/cli/feeds/run-context.ts'
import { sql } from '../../service/src/db/sql.ts'
import { answerRun, publishDemoFeeds } from '../../service/src/demo/demo-insurer.ts'
import { runFeed } from '../../service/src/feeds/run.ts'
import { markInstallation } from '../../service/src/installation.ts'
import { openCommandExecutor } from '../../service/src/membership/commands/executor.ts'
import { signIn } from '../console/operator-browser.ts'
import { startReceiver } from '../crash/receiver.ts'
import { newVisitor, recordsAgreed } from '../page/visitor.ts'
import { ada, demoCatalogue, type TestPartner, type TestService } from '../rig.ts'
import { type Entry, openOwnJournal } from '../trust/journal.ts'
import { checkDeliveries } from '../trust/ledger.ts'
import { startReceiver as startAnyReceiver } from '../webhooks/receiver.ts'

/** What is kept beside the dump of a world, to read it with: keys and credentials, which protect nothing, and the books. */
export type World = {
  /** The service's time at the end of the year. */
  readonly at: number
  readonly rootKey: string
  /** The first partner's writes are all in the books; the second has what the books cannot tell. */
  readonly partners: readonly Pick<TestPartner, 'partnerId' | 'clientId' | 'clientSecret' | 'apiKey'>[]
  readonly entries: readonly Entry[]
  /** What the first partner's endpoint got: the bodies under each key, as text. */
  readonly arrived: readonly (readonly [key: string, bodies: readonly string[]])[]
  /** Each user as its partner was answered at the end. */
  readonly users: readonly { readonly partner: number; readonly user: object & { readonly userid: string } }[]
  /** The path of a link that nobody has opened yet, of an open request to a second person, and a cursor of the event log. */
  readonly link: string
  readonly request: string
  readonly cursor: string
  /** A create whose answer is stored under its key. */
  readonly stored: { readonly key: string; readonly userid: string; readonly serviceid: string }
}

/** The instant at which the world begins; its sandbox clock goes on for eleven months from there. */
export const WORLD_BEGINS = Date.parse('2026-01-07T15:00:00Z')

/** Lives through a year of two partners, by the clock of the sandbox, and returns what is kept of it. */
export async function liveTheYear(service: TestService): Promise<World> {
  const receiver = await startReceiver()
  const refusing = await startAnyReceiver()
  refusing.answer = () => response => response.writeHead(422).end('not this one')
  const harbor = await service.newPartner({ name: 'Harbor Rides' })
  const corner = await service.newPartner({ name: 'Corner Bank', retain: '7y' })
  const { url, username, password } = receiver
  await harbor.client.createWebhook({ url, username, password, events: ['all'] })
  await corner.client.createWebhook({ url: refusing.url, username, password, events: ['all'] })
  const former = await service.newPartner({ name: 'Former Rides' })
  const admin = await signIn(service, 'admin')
  await admin.post(`/partners/${former.partnerId}/disable`, { reason: 'left' })

  const months = Array.from({ length: 11 }, (_, index) => index + 1)
  const year = openYear(service, { harbor, corner })
  for (const month of months) await year.live(month)
  await year.leavePending()
  const ended = await year.end()
  await checkDeliveries({ receiver, database: service.database, partnerId: harbor.partnerId })
  await receiver.close()
  await refusing.close()
  return {
    at: service.now(),
    rootKey: service.rootKey,
    partners: [harbor, corner].map(({ partnerId, clientId, clientSecret, apiKey }) => ({
      ...{ partnerId, clientId, clientSecret, apiKey },
    })),
    arrived: [...receiver.arrived].map(([key, bodies]) => [key, bodies.map(hex => textOf(hex, 'hex'))]),
    ...ended,
  }
}

function textOf(text: string, form: 'hex'): string {
  return Buffer.from(text, form).toString('utf8')
}

function openYear(service: TestService, { harbor, corner }: Record<'harbor' | 'corner', TestPartner>) {
  const journal = openOwnJournal()
  const { write, note } = journal
  const { client } = harbor
  const beside: string[] = []

  const to = async (day: string) => {
    for (const partner of [harbor, corner])
      await partner.client.advanceClock({ advanceto: `${day}T15:00:00.000Z` })
  }
  const join = (userid: string) =>
    write(userid, 'create', () => client.createUser({ userid, ...ada, offername: 'plus' }))
  const ask = (userid: string) => write(userid, 'prefill', () => client.prefillUser({ userid, ...ada }))
  const cancel = (userid: string) => write(userid, 'cancel', () => client.cancelUser({ userid }))
  const erase = (userid: string) => write(userid, 'erase', () => client.eraseUser({ userid }))
  const change = (userid: string) =>
    write(userid, 'change offer', () => client.changeOffer({ userid, offername: 'starter' }))
  const swap = (userid: string) =>
    write(userid, 'swap', () => client.swapBenefits({ userid, add: ['vision'], remove: ['dental'] }))
  const dentist = (userid: string) =>
    write(userid, 'create', () =>
      client.createUser({ userid, ...ada, offername: 'plus', benefits: ['telehealth', 'dental'] }),
    )
  const openPage = async (userid: string) => {
    const { linkurl } = await client.createLinkToken({ userid, offername: 'starter' })
    const visitor = newVisitor(service.baseUrl)
    await write(userid, 'page open', () => visitor.post(linkurl ?? ''))
    return visitor
  }
  const enrolOnPage = async (userid: string) => {
    await ask(userid)
    const visitor = await openPage(userid)
    await write(userid, 'page step', async () => {
      await visitor.get('/register/benefits')
      await visitor.post('/register/benefits', {})
    })
    await write(userid, 'create', () => visitor.post('/register/enrol', recordsAgreed))
  }
  /** What the effects of the ledger do not know: of the second partner. */
  const joinBeside = async (userid: string, more: object = {}) => {
    beside.push(userid)
    const user = { userid, ...ada, offername: 'plus', benefits: ['telehealth'], ...more }
    return corner.client.createUser(user, { idempotencyKey: `${userid}-created` })
  }

  return {
    async live(month: number) {
      const name = `2026-${String(month).padStart(2, '0')}`
      const leaving = month % 3 === 1 && month < 11
      await to(`${name}-08`)
      await join(`joins-${month}`)
      await enrolOnPage(`page-${month}`)
      await joinBeside(`beside-${month}`)
      if (leaving) await cancel(`joins-${month}`)
      if (month % 3 === 2) await erase(`joins-${month}`)
      if (month % 4 === 1 && month < 11) await dentist(`moves-${month}`)
      if (month === 2) await corner.client.cancelUser({ userid: 'beside-1', effective: 'immediate' })
      if (month === 3) await corner.client.reinstateUser({ userid: 'beside-1' })
      if (month === 4) await corner.client.eraseUser({ userid: 'beside-2' })
      if (month === 5) await corner.client.enrolBenefit({ userid: 'beside-3', name: 'identity' })
      if (month === 6) await service.publish(demoCatalogue.replace('slots: 2', 'slots: 3'))
      if (month === 7)
        await corner.client.declineBenefit({ userid: 'beside-4', name: 'telehealth' }).catch(() => undefined)
      if (month % 4 === 3) await runFeedOf(service, corner)
      await to(`${name}-12`)
      if (month % 4 === 1 && month < 11) await change(`moves-${month}`)
      await to(`${name}-20`)
      if (month % 4 === 1 && month < 11) await swap(`moves-${month}`)
      if (month === 11) return
      if (leaving) note(`joins-${month}`, 'due cancel')
      if (month % 4 === 1) note(`moves-${month}`, 'due downgrade and swap')
    },

    /** What is still to take effect, and those who have only begun. */
    async leavePending() {
      for (const userid of ['leaves', 'erased-early']) await join(userid)
      await cancel('leaves')
      await erase('erased-early')
      await dentist('moves')
      await change('moves')
      await swap('moves')
      await ask('asks')
      await ask('registers')
      await openPage('registers')
      await corner.client
        .createUser({ userid: 'refused', ...ada, dob: '2020-01-01', offername: 'plus' })
        .catch(() => undefined)
      await corner.client.cancelUser({ userid: 'beside-5' })
      await corner.client.changeOffer({ userid: 'beside-6', offername: 'starter' })
      await corner.client.updateUser({ userid: 'beside-7', phone: '3055550199' })
    },

    async end(): Promise<Pick<World, 'entries' | 'users' | 'link' | 'request' | 'cursor' | 'stored'>> {
      const { serviceid } = await joinBeside('stored')
      const { sessionid } = await corner.client.createLinkToken({
        userid: 'beside-8',
        offername: '',
        purpose: 'benefits',
      })
      await corner.client.revokeLinkToken({ sessionid })
      const link = await corner.client.createLinkToken({
        userid: 'beside-9',
        purpose: 'benefits',
        delivery: 'email',
      })
      const names = new Set(journal.entries.map(({ userid }) => userid))
      const users: { partner: number; user: World['users'][number]['user'] }[] = []
      for (const userid of names)
        users.push({ partner: 0, user: { ...(await client.getUser({ userid })), userid } })
      for (const userid of beside)
        users.push({ partner: 1, user: { ...(await corner.client.getUser({ userid })), userid } })
      const { next } = await client.listEvents({})
      return {
        entries: journal.entries,
        users,
        link: new URL(link.linkurl ?? '').pathname,
        request: await askSecondPerson(service, serviceid),
        cursor: next,
        stored: { key: 'stored-created', userid: 'stored', serviceid },
      }
    },
  }
}

/** Runs the demo feed over both partners; the insurer answers about the second, as answers would change the first one's users. */
async function runFeedOf(
  { database, keyring, now: real }: TestService,
  answered: TestPartner,
): Promise<void> {
  const installation = await markInstallation(database, { keyring, wanted: 'either', now: real() })
  const context = runContext({ database, keyring, real, installation })
  await publishDemoFeeds(context)
  const { run } = await runFeed(context, 'seaview', {
    asked: { by: 'year', full: false, write: async () => {} },
    places: { folder: undefined, command: undefined },
  })
  const partners = async () =>
    (await context.partners()).filter(({ partnerId }) => partnerId === answered.partnerId)
  await answerRun({ ...context, partners, executor: openCommandExecutor(context) }, run)
}

/** Asks a second person to confirm that an enrollment is taken back; returns the path of the request. */
async function askSecondPerson(service: TestService, serviceid: string): Promise<string> {
  const support = await signIn(service, 'support')
  const [row] = await service.database.query<{ enrolment_id: string }>(sql`
    select enrolment_id from enrolments where service_id = ${serviceid} and benefit = 'telehealth'`)
  const enrolment = row?.enrolment_id ?? ''
  const preview = await support.post(`/users/${serviceid}/act/void`, { enrolment })
  const seen = /name="seen" value="([^"]+)"/.exec(preview.text)?.[1] ?? ''
  const reason = 'ticket 4711'
  return (await support.post(`/users/${serviceid}/act/void`, { enrolment, sure: 'yes', seen, reason })).path
}
