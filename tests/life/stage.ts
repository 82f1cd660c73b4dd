import { afterAll, beforeAll, beforeEach, vi } from 'vitest'
import { sql } from '../../service/src/db/sql.ts'
import { callersChanged } from '../../service/src/partners/store.ts'
import { ada, startTestService, type TestPartner, type TestService } from '../rig.ts'
import { fileOf, lifeCatalogue, type TestCatalogue } from './catalogue.ts'

/** An event as the partner would get it, and the benefit that it is about. */
export type SeenEvent = {
  eventname: string
  offer: string
  updatedat: string
  name?: string
  reason?: string
}

/** A service whose clock stands still unless a test moves it, so that every instant of a test is known. */
export type Stage = {
  readonly service: TestService
  readonly newPartner: (timezone?: string) => Promise<StagePartner>
  readonly [Symbol.asyncDispose]: () => Promise<void>
}
export type StagePartner = TestPartner & {
  /** Moves the partner's clock to an instant `YYYY-MM-DDTHH:mm…` and applies due changes. */
  readonly to: (timestamp: string) => Promise<void>
  /** Moves the partner's clock without applying anything. */
  readonly lateTo: (timestamp: string) => Promise<void>
  readonly create: (userid: string, request?: Record<string, unknown>) => Promise<Wire>
  readonly get: (userid: string, include?: 'timeline') => Promise<Wire>
  /** The states of the user's benefits by name. */
  readonly states: (userid: string) => Promise<Record<string, string>>
  /** The events of the user since the last call. */
  readonly events: (userid: string) => Promise<SeenEvent[]>
  readonly names: (userid: string) => Promise<string[]>
}
export type Wire = Awaited<ReturnType<TestPartner['client']['createUser']>>

export function instant(text: string): number {
  return Date.parse(text.length > 20 ? text : `${text.slice(0, 16)}:00Z`)
}
export function stamp(text: string): string {
  return new Date(instant(text)).toISOString()
}

/** A person admitted to everything of the life catalogue. */
export const person = { ...ada, dob: '1990-03-27' }

/** The stage and the partner of the file whose tests run, set by `setStage`. */
export let stage: Stage
export let partner: StagePartner

/** Gives the tests of a file a stage on October 20, 2026, and a partner: one for all of them, or each its own. */
export function setStage(partners: 'one' | 'each', zone = 'America/New_York'): void {
  beforeAll(async () => {
    stage = await startStage('2026-10-20T12:00')
    if (partners === 'one') partner = await stage.newPartner(zone)
  })
  afterAll(() => stage[Symbol.asyncDispose]())
  beforeEach(async () => {
    if (partners === 'each') partner = await stage.newPartner(zone)
  })
}

export async function startStage(
  at: string,
  options: { catalogue?: TestCatalogue; sandbox?: boolean } = {},
): Promise<Stage> {
  vi.useFakeTimers({ toFake: ['Date'], now: instant(at) })
  const service = await startTestService({
    catalogue: fileOf(options.catalogue ?? lifeCatalogue),
    sandbox: options.sandbox ?? true,
    clock: () => Date.now(),
  })
  return {
    ...stageOf(service),
    async [Symbol.asyncDispose]() {
      const torn = await tornUsers(service)
      await service[Symbol.asyncDispose]()
      vi.useRealTimers()
      if (torn.length > 0) throw new Error(`parts of one thing without the others: ${torn.join(' ')}`)
    },
  }
}

/**
 * The users of whom a part is stored without what belongs to it. No check of the schema says so, because PostgreSQL would
 * read it anew for each statement that writes.
 */
async function tornUsers({ database }: TestService): Promise<string[]> {
  const rows = await database.query<{ userid: string }>(sql`
    select userid from users where version < 1 or prefill_count < 0 or userid = ''
      or num_nonnulls(offer, offer_since, offer_version) not in (0, 3)
      or num_nonnulls(pending_offer, pending_offer_at) not in (0, 2)
      or num_nonnulls(swap_pairs, swap_at) not in (0, 2)
      or num_nonnulls(cancel_at, cancel_requested_at, cancel_reason) not in (0, 3)`)
  return rows.map(row => row.userid)
}

/** The same for a service that was started in another way. */
export function stageOf(service: TestService): Omit<Stage, typeof Symbol.asyncDispose> {
  return {
    service,
    newPartner: async timezone =>
      stagePartner(service, await service.newPartner(timezone ? { timezone } : {})),
  }
}

function stagePartner(service: TestService, partner: TestPartner): StagePartner {
  const seen = new Map<string, string>()
  const { partnerId } = partner
  // A restart listens on another port.
  let client = partner.client
  let baseUrl = service.baseUrl
  const current = () => {
    if (baseUrl !== service.baseUrl) {
      baseUrl = service.baseUrl
      client = partner.connect()
    }
    return client
  }
  const get = async (userid: string, include?: 'timeline') => {
    const user = await current().getUser({ userid, ...(include ? { include: [include] } : {}) })
    if (user.status === 'erased') throw new Error('erased')
    return user
  }
  const events = async (userid: string) => {
    const rows = await service.database.query<{
      event_id: string
      body: Buffer
      data: { name?: string; reason?: string }
    }>(sql`
      select event_id, body, data from events where partner_id = ${partnerId} and userid = ${userid}
        and event_id > ${seen.get(userid) ?? '00000000-0000-0000-0000-000000000000'} order by position`)
    const last = rows.at(-1)
    if (last) seen.set(userid, last.event_id)
    return rows.map(row => {
      const body = JSON.parse(row.body.toString('utf8')) as {
        eventname: string
        currentofferdetails: { offer: string; updatedat: string }
      }
      const { offer, updatedat } = body.currentofferdetails
      return { eventname: body.eventname, offer, updatedat, ...row.data }
    })
  }
  return {
    ...partner,
    get client() {
      return current()
    },
    to: async timestamp => {
      await current().advanceClock({ advanceto: stamp(timestamp) })
    },
    lateTo: async timestamp => {
      await service.database.query(sql`
        update partners set clock_offset_ms = ${instant(timestamp) - service.now()} where partner_id = ${partnerId}`)
      await service.database.query(callersChanged(partnerId))
    },
    create: (userid, request = {}) =>
      current().createUser({ userid, ...person, offername: 'low', ...request } as never),
    get,
    states: async userid =>
      Object.fromEntries((await get(userid)).benefits.map(benefit => [benefit.name, benefit.state])),
    events,
    names: async userid => (await events(userid)).map(event => event.eventname),
  }
}

/** The code with which a call is refused; fails when it is not. */
export async function refusal(call: Promise<unknown>): Promise<string> {
  try {
    await call
  } catch (error) {
    const { code, status } = error as { code: string; status: number }
    return `${status} ${code}`
  }
  throw new Error('was not refused')
}

/** The codes of the reasons with which a call is refused. */
export async function reasons(call: Promise<unknown>): Promise<string[]> {
  try {
    await call
  } catch (error) {
    return (error as { errors: { code: string }[] }).errors.map(one => one.code)
  }
  throw new Error('was not refused')
}
