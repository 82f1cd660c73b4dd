import { expect } from 'vitest'
import { memberContext } from '../../service/src/cli/operator/members.ts'
import { requirePartner } from '../../service/src/partners/administer.ts'
import { partnerOf } from '../../service/src/partners/keys.ts'
import { countUsers } from '../../service/src/statements/count.ts'
import type { Line } from '../../service/src/statements/lines.ts'
import { type Months, monthsOf } from '../../service/src/statements/months.ts'
import { everyPage, FIRST_PLACE, readLines } from '../../service/src/statements/pages.ts'
import type { TestService } from '../rig.ts'
import { lifeCatalogue, type TestCatalogue } from './catalogue.ts'

/** The catalogue of the lives, in which everything costs something, by months or weeks, whole or by days. */
export const pricedLives: TestCatalogue = {
  benefits: lifeCatalogue.benefits.map((benefit, index) => ({
    ...benefit,
    cost: {
      ...{ cents: 1000 + index, per: index % 3 === 0 ? 'week' : 'month' },
      taken: { by: 'partner', how: { en: 'From your payout', es: 'De su pago' } },
    },
    premium: { cents: 700 + index, per: 'month' },
  })),
  offers: lifeCatalogue.offers.map((offer, index) => ({
    ...offer,
    prices: {
      fee: { cents: 300 + index, per: 'month' },
      firstmonth: index === 0 ? 'full' : 'daily',
      lastmonth: index === 2 ? 'free' : 'daily',
    },
  })),
}

/** Each line of these months' statements, as an operator reads it, with the month that it is about. */
export async function* linesOf(
  context: Parameters<typeof readLines>[0],
  partner: Parameters<typeof readLines>[1],
  months: Months,
) {
  for (const month of months.listed) {
    const query = { month, months, isForOperator: true }
    for await (const page of everyPage(from => readLines(context, partner, { ...query, from }), FIRST_PLACE))
      for (const { serviceId, line } of page) yield { serviceId, line, about: line.about || month.name }
  }
}

/** Expects that the lines about each month of a partner, in whichever statements, add up to a count from today's records. */
export async function expectMonthsToAddUp(
  { database, keyring, now: real }: TestService,
  partnerId: string,
): Promise<number> {
  const partner = partnerOf(await requirePartner(database, partnerId), keyring)
  const context = memberContext({ database, installation: { sandbox: true }, real })
  const months = await monthsOf(context, partner)
  const [told, counted] = [openSums(), openSums()]
  let adjustments = 0
  for await (const { serviceId, line, about } of linesOf(context, partner, months)) {
    told.add(about, serviceId, line)
    if (line.kind !== 'adjustment') continue
    adjustments += 1
    expect([line.personcents, line.partnercents, line.insurercents]).not.toEqual([0, 0, 0])
  }
  for (const month of months.listed) {
    const scratch = { month, finals: undefined, from: FIRST_PLACE.serviceId, limit: 1000, now: months.now }
    for (const { serviceId, lines } of (await countUsers(context, partner, scratch)).users)
      for (const line of lines) counted.add(month.name, serviceId, line)
  }
  expect(told.sums()).toEqual(counted.sums())
  return adjustments
}

function openSums() {
  const found = new Map<string, readonly number[]>()
  return {
    add(about: string, serviceId: string, { name, offer, personcents, partnercents, insurercents }: Line) {
      const key = `${about} ${serviceId} ${name || offer}`
      const before = found.get(key) ?? [0, 0, 0]
      found.set(
        key,
        [personcents, partnercents, insurercents].map((one, index) => one + (before[index] ?? 0)),
      )
    },
    sums: () => [...found].filter(([, sum]) => sum.some(one => one !== 0)).sort(),
  }
}
