import { expect } from 'vitest'
import { startReceiver } from '../faults/receiver.ts'
import { newVisitor, recordsAgreed } from '../page/visitor.ts'
import { ada, child, demoCatalogue, type TestPartner, type TestService } from '../rig.ts'
import { type Entry, openOwnJournal } from '../trust/journal.ts'
import { checkDeliveries } from '../trust/ledger.ts'
import { startReceiver as startAnyReceiver } from '../webhooks/receiver.ts'
import { askToCorrect, confirm, enrolWithBeneficiary, moveIn } from './beside.ts'
import { openYearsFeeds, type YearsFeeds } from './feeds-of-the-year.ts'
import { liveTheMonthBefore, signAll } from './real-time.ts'
import { checkEverythingIsThere } from './whole-year.ts'

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
  /** The newest signatures of the audit record, as `audit export --heads` printed them. */
  readonly heads: string
}

/** Lives through a year of two partners and the end of a third one, and returns what is kept of it. */
export async function liveTheYear(service: TestService): Promise<World> {
  const receiver = await startReceiver()
  const refusing = await startAnyReceiver()
  refusing.answer = () => response => response.writeHead(422).end('not this one')
  const corner = await liveTheMonthBefore(service, refusing.url)
  const harbor = await service.newPartner({ name: 'Harbor Rides' })
  const { url, username, password } = receiver
  await harbor.client.createWebhook({ url, username, password, events: ['all'] })
  await corner.client.createWebhook({ url: refusing.url, username, password, events: ['all'] })

  const months = Array.from({ length: 11 }, (_, index) => index + 1)
  const year = openYear(service, { harbor, corner, feeds: await openYearsFeeds(service, corner) })
  for (const month of months) await year.live(month)
  await year.leavePending()
  const ended = await year.end()
  await checkDeliveries({ receiver, database: service.database, partnerId: harbor.partnerId })
  await receiver.close()
  await refusing.close()
  const heads = await signAll(service)
  await checkEverythingIsThere(service.database)
  return {
    at: service.now(),
    heads,
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

type Living = { readonly harbor: TestPartner; readonly corner: TestPartner; readonly feeds: YearsFeeds }

function openYear(service: TestService, { harbor, corner, feeds }: Living) {
  const journal = openOwnJournal()
  const { write, note } = journal
  const { client } = harbor
  const beside: string[] = ['first']

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

  const besideId = async (userid: string) => (await corner.client.getUser({ userid })).serviceid
  /** What the second partner and its operator do in some month. */
  const elsewhere: Readonly<Record<number, () => Promise<unknown>>> = {
    2: async () => {
      await corner.client.cancelUser({ userid: 'beside-1', effective: 'immediate' })
      await corner.client.prefillUser({ userid: 'lapses', ...ada })
    },
    3: async () => {
      await corner.client.reinstateUser({ userid: 'beside-1' })
      await feeds.tell(await besideId('beside-3'))
    },
    4: async () => {
      await corner.client.eraseUser({ userid: 'beside-2' })
      await moveIn(service, corner, 'moved-in')
      beside.push('moved-in')
    },
    5: async () => {
      await corner.client.enrolBenefit({ userid: 'beside-3', name: 'identity' })
      await joinBeside('family', { benefits: ['dental'], dependants: [child] })
    },
    6: async () => {
      await service.publish(demoCatalogue.replace('slots: 2', 'slots: 3'))
      // The run of the next month ends the cover, and is held.
      await corner.client.cancelUser({ userid: 'beside-1', effective: 'immediate' })
    },
    7: async () => {
      await corner.client.declineBenefit({ userid: 'beside-4', name: 'identity' })
      await feeds.tellAfterDropping(await besideId('beside-7'))
    },
    // Its consent is not given until the boundary, so it is rejected then.
    8: () => corner.client.swapBenefits({ userid: 'beside-5', add: ['identity'], remove: ['telehealth'] }),
    9: async () => {
      const days = { lastday: '2026-08-31' }
      await confirm(service, await askToCorrect(service, await besideId('beside-6'), 'move', days))
    },
    10: async () => {
      for (const userid of ['names', 'erased-later']) await enrolWithBeneficiary(service, corner, userid)
      beside.push('names')
      await corner.client.eraseUser({ userid: 'erased-later' })
      // So that the run of the next month is held, too.
      await corner.client.cancelUser({ userid: 'beside-4', effective: 'immediate' })
    },
    11: async () => {
      // An insurer is still to be told of the end of this person's cover.
      await corner.client.eraseUser({ userid: 'first' })
      await feeds.leaveOpen()
      await feeds.compare()
    },
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
      await elsewhere[month]?.()
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
      const visitor = await openPage('registers')
      await visitor.post('/register/language', { language: 'es', view: 'DETAILS_REVIEW' })
      const young = { userid: 'refused', ...ada, dob: '2020-01-01', offername: 'plus' }
      await expect(corner.client.createUser(young)).rejects.toMatchObject({ code: 'ineligible' })
      await corner.client.cancelUser({ userid: 'beside-5' })
      await corner.client.changeOffer({ userid: 'beside-6', offername: 'starter' })
      await corner.client.updateUser({ userid: 'beside-7', phone: '3055550199' })
      await corner.client.enrolBenefit({ userid: 'beside-10', name: 'identity' })
      await confirm(service, await askToCorrect(service, await besideId('beside-3'), 'void'))
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
        request: await askToCorrect(service, serviceid, 'void'),
        cursor: next,
        stored: { key: 'stored-created', userid: 'stored', serviceid },
      }
    },
  }
}
