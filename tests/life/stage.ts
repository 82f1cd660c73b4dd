import { sql } from '../../service/src/db/sql.ts'
import { callersChanged } from '../../service/src/partners/store.ts'
import { ada, type TestPartner, type TestService } from '../rig.ts'
import { fileOf, lifeCatalogue } from './catalogue.ts'

/** An event as the partner would get it, and the benefit that it is about. */
export type SeenEvent = {
  eventname: string
  offer: string
  updatedat: string
  name?: string
  reason?: string
}

/** A partner whose clock a test moves. */
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

/** Options of a service with the catalogue of lives on October 20, 2026, on which every instant of a test is known. */
export const lives = {
  startAt: instant('2026-10-20T12:00'),
  clock: 'still',
  catalogue: fileOf(lifeCatalogue),
} as const

/** A new partner of a service whose clock stands still. */
export async function newStagePartner(
  service: TestService,
  timezone = 'America/New_York',
): Promise<StagePartner> {
  const partner = await service.newPartner({ timezone })
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
