import { expect, test } from 'vitest'
import { readRecords } from '../../service/src/imports/read-records.ts'
import { runImport } from '../../service/src/imports/run-import.ts'
import { openCommandExecutor } from '../../service/src/membership/commands/executor.ts'
import type { Partner } from '../../service/src/partners/partner.ts'
import { finalizeMonths } from '../../service/src/statements/finalize.ts'
import { monthsOf } from '../../service/src/statements/months.ts'
import { startFeeds } from '../feeds/stage.ts'
import { forAllTests } from '../for-all-tests.ts'
import { timesOf } from '../long.ts'
import { openRandom, seedsOf } from '../seeds.ts'
import { fileOf } from './catalogue.ts'
import { openCorrections } from './corrections.ts'
import { createLine, importLine, newFamily, openActs } from './family-lives.ts'
import { CAME, familyMonths, givenOf, MONTHS, recount } from './family-months-recount.ts'
import { linesOf } from './months-add-up.ts'

const zone = 'America/New_York'
const FAMILIES = timesOf(300, 10_000)
/** When half of them do something. Months are made final on the way, so that later corrections are about final ones. */
const DAYS = ['2028-01-24', '2028-02-04', '2028-02-18', '2028-03-06', '2028-03-20']
const LAST_DAY = '2028-04-05'
const AT_ONCE = 16
const OF_A_RECOUNT = 250

function noonOf(day: string): number {
  return Date.parse(`${day}T17:00:00Z`)
}

const stage = forAllTests(() => startFeeds({ startAt: noonOf(CAME), catalogue: fileOf(familyMonths) }))

test.each(seedsOf(1))(
  `the months of ${FAMILIES} random families are what SQL counts from what was done: tiers, days, cents and premiums (seed %i)`,
  async seed => {
    const random = openRandom(seed)
    const { service, context } = stage
    const { client, partnerId } = await service.newPartner({ timezone: zone })
    const partner = (await context.partners()).find(one => one.partnerId === partnerId) as Partner
    const executor = openCommandExecutor(context)
    const acts = openActs(client, { correct: openCorrections(service, { partnerId, zone }), random })
    const names = [...Object.keys(acts), 'cover', 'cover']

    const families = Array.from({ length: FAMILIES }, (_, index) => newFamily(`f${index}`, random))
    async function* file() {
      const lines = families.filter(one => one.isImported).map(importLine)
      yield Buffer.from(lines.join('\n'))
    }
    const imported = await runImport(readRecords(file()), {
      ...{ executor, partner, isDry: false, actor: 'test', importId: '01900000-0000-7000-8000-000000000000' },
      options: { checks: false, raises: false, chargeFrom: undefined },
    })
    expect(imported.errors).toEqual([])
    const created = families.filter(one => !one.isImported).map(createLine)
    for await (const { status, body } of client.bulk(created)) expect([status, body]).toEqual([200, body])
    const userids = new Map<string, string>()
    for await (const { userid, serviceid } of client.eachUser()) userids.set(serviceid, userid)

    const done: Record<string, number> = {}
    for (const today of DAYS) {
      await to(today)
      for (let at = 0; at < families.length; at += AT_ONCE)
        await Promise.all(
          families.slice(at, at + AT_ONCE).map(async family => {
            const name = names[random(2 * names.length)] ?? ''
            if (await acts[name]?.(family, today)) done[name] = (done[name] ?? 0) + 1
          }),
        )
    }
    await to(LAST_DAY)
    expect(Object.keys(done).sort()).toEqual(Object.keys(acts).sort())

    const gone = new Set(families.filter(one => one.gone.length > 0).map(({ userid }) => userid))
    const [charged, counted] = [await told(), await recounted()]
    expect(charged.amounts).toEqual(counted.amounts)
    expect(charged.shown).toEqual(counted.shown)

    async function to(day: string): Promise<void> {
      service.advance(noonOf(day) - service.now())
      for (let isDone = false; !isDone; )
        isDone = (await finalizeMonths(context, partner, { which: 'due', mayGoOn: () => true })).isDone
    }

    /** What all lines about each month of each thing come to, and what the last one shows of those that nothing corrected. */
    async function told() {
      const [sums, shown] = [new Map<string, [number, number]>(), new Map<string, string>()]
      const months = await monthsOf(context, partner)
      for await (const { serviceId, line, about } of linesOf(context, partner, months)) {
        if (!MONTHS.includes(about)) continue
        const userid = userids.get(serviceId) ?? ''
        const key = `${userid} ${about} ${line.name || line.offer}`
        const [cents, insurer] = sums.get(key) ?? [0, 0]
        sums.set(key, [cents + line.personcents + line.partnercents, insurer + line.insurercents])
        const { tier = '', days, fromdate, todate } = line
        if (!gone.has(userid)) shown.set(key, [tier, days, fromdate, todate].join(' '))
      }
      const amounts = [...sums].map(([key, both]) => [key, both.join(' ')])
      return { amounts: Object.fromEntries(amounts), shown: Object.fromEntries(shown) }
    }

    async function recounted() {
      const [amounts, shown] = [{} as Record<string, string>, {} as Record<string, string>]
      for (let at = 0; at < families.length; at += OF_A_RECOUNT) {
        const given = JSON.stringify(givenOf(families.slice(at, at + OF_A_RECOUNT)))
        for (const row of await service.database.query<{
          key: string
          amounts: string
          shown: string
        }>({ name: '', text: recount, values: [given] })) {
          amounts[row.key] = row.amounts
          if (!gone.has(row.key.split(' ')[0] ?? '')) shown[row.key] = row.shown
        }
      }
      return { amounts, shown }
    }
  },
  1_800_000,
)
