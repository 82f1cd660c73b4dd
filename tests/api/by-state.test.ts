// @prism

import { beforeAll, expect, test } from 'vitest'
import type { Client } from '../../client/src/index.ts'
import { forAllTests } from '../for-all-tests.ts'
import { newVisitor } from '../page/visitor.ts'
import { ada, adaAsks, startTestService } from '../rig.ts'
import { outcomesOf } from './refusal.ts'

// The middle of a month, so that no boundary is near.
const service = forAllTests(() => startTestService({ startAt: Date.parse('2027-03-10T15:00:00Z') }))
let client: Client
beforeAll(async () => {
  client = (await service.newPartner()).client
})

/** The operations on one user (contract §7 and §8), each with a request that a member would not be refused. */
const operations = {
  prefillUser: userid => client.prefillUser({ userid, ...ada }),
  getBenefits: userid => client.getBenefits({ userid, ...adaAsks }),
  getUser: userid => client.getUser({ userid }),
  createLinkToken: userid => client.createLinkToken({ userid, offername: 'starter' }),
  createUser: userid => client.createUser({ userid, ...ada, offername: 'starter' }),
  eraseUser: userid => client.eraseUser({ userid }),
  cancelUser: userid => client.cancelUser({ userid }),
  reinstateUser: userid => client.reinstateUser({ userid }),
  updateUser: userid => client.updateUser({ userid, phone: '3055550199' }),
  changeOffer: userid => client.changeOffer({ userid, offername: 'plus' }),
  undoOfferChange: userid => client.undoOfferChange({ userid }),
  listAvailableOffers: userid => client.listAvailableOffers({ userid }),
  previewOfferChange: userid => client.previewOfferChange({ userid, offername: 'plus' }),
  swapBenefits: userid => client.swapBenefits({ userid, add: [], remove: [] }),
  undoSwap: userid => client.undoSwap({ userid }),
  enrolBenefit: userid => client.enrolBenefit({ userid, name: 'dental' }),
  declineBenefit: userid => client.declineBenefit({ userid, name: 'vision' }),
} satisfies Record<string, (userid: string) => Promise<unknown>>
type Name = keyof typeof operations
const names = Object.keys(operations) as Name[]

/** The answer of each operation to a user of its own, which `prepare` has brought into a state. */
async function outcomesIn(state: string, prepare: (userid: string) => Promise<unknown>) {
  const outcomes: Partial<Record<Name, 200 | string>> = {}
  for (const name of names) {
    const userid = `${state} ${name}`
    await prepare(userid)
    const [outcome] = await outcomesOf([operations[name](userid)])
    if (outcome !== undefined) outcomes[name] = outcome
  }
  return outcomes
}
function all(outcome: 200 | string) {
  return Object.fromEntries(names.map(name => [name, outcome])) as Record<Name, 200 | string>
}

function prefill(userid: string) {
  return client.prefillUser({ userid, ...ada })
}
function create(userid: string) {
  return client.createUser({ userid, ...ada, offername: 'starter', benefits: ['telehealth'] })
}
const withoutAccount = {
  ...all('user_not_found'),
  prefillUser: 200,
  createUser: 200,
  // A registration may begin with a link, so nothing needs to be known about the user (contract §11).
  createLinkToken: 200,
}

test('nobody: can be prefilled, created and linked', async () => {
  expect(await outcomesIn('nobody', async () => {})).toEqual(withoutAccount)
})

const prefilled = { ...withoutAccount, getBenefits: 200, getUser: 200, eraseUser: 200 }

test('prefilled: can be prefilled, listed, fetched, linked, created and erased; all else is 404', async () => {
  expect(await outcomesIn('prefilled', prefill)).toEqual(prefilled)
})

async function openLink(userid: string) {
  const { linkurl } = await client.createLinkToken({ userid, offername: 'starter' })
  const visitor = newVisitor(service.baseUrl)
  await visitor.get(linkurl ?? '')
  await visitor.post(linkurl ?? '')
  expect(await client.getUser({ userid })).toMatchObject({ status: 'registering' })
}

test('registering: the same', async () => {
  const register = async (userid: string) => {
    await prefill(userid)
    await openLink(userid)
  }
  expect(await outcomesIn('registering', register)).toEqual(prefilled)
})

test('registering without a prefill: there is neither a prefill nor an account to list benefits for', async () => {
  expect(await outcomesIn('unannounced', openLink)).toEqual({ ...prefilled, getBenefits: 'user_not_found' })
  // Data that the partner sends meanwhile is a prefill.
  await openLink('announced later')
  await prefill('announced later')
  expect(await client.getUser({ userid: 'announced later' })).toMatchObject({ status: 'registering' })
  expect(await client.getBenefits({ userid: 'announced later', ...adaAsks })).toHaveLength(11)
})

const active = { ...all(200), createUser: 'user_exists', reinstateUser: 'not_cancelled' }

test('active: all but another create, and a reinstate', async () => {
  expect(await outcomesIn('active', create)).toEqual(active)
})

test('a cancel still pending counts as active, and can be undone', async () => {
  const cancelLater = async (userid: string) => {
    await create(userid)
    await client.cancelUser({ userid })
  }
  expect(await outcomesIn('pending', cancelLater)).toEqual({ ...active, reinstateUser: 200 })
})

test('a cancel in effect: update, offers, enrol and swap are 409 user_cancelled', async () => {
  const cancel = async (userid: string) => {
    await create(userid)
    await client.cancelUser({ userid, effective: 'immediate' })
  }
  expect(await outcomesIn('cancelled', cancel)).toEqual({
    ...all('user_cancelled'),
    prefillUser: 200,
    getBenefits: 200,
    getUser: 200,
    createLinkToken: 200,
    createUser: 200,
    eraseUser: 200,
    cancelUser: 200,
    reinstateUser: 200,
  })
})

test('a cancel in effect leaves a link the way back only, and one still pending any', async () => {
  const purposes = ['registration', 'benefits', 'swap', 'offerchange'] as const
  const ask = (userid: string) =>
    Promise.all(
      purposes.map(purpose =>
        client.createLinkToken({ userid, purpose }).then(
          () => 200,
          ({ status, code }: { status: number; code: string }) => `${status} ${code}`,
        ),
      ),
    )
  await create('linked')
  await client.cancelUser({ userid: 'linked' })
  expect(await ask('linked')).toEqual([200, 200, 200, 200])
  await client.cancelUser({ userid: 'linked', effective: 'immediate' })
  const refused = '409 user_cancelled'
  expect(await ask('linked')).toEqual([200, refused, refused, refused])
  await client.reinstateUser({ userid: 'linked' })
  expect(await ask('linked')).toEqual([200, 200, 200, 200])
})

test('erased: get and erase answer what is left, prefill and create start a new user, all else is 404', async () => {
  const erase = async (userid: string) => {
    await create(userid)
    await client.eraseUser({ userid })
  }
  expect(await outcomesIn('erased', erase)).toEqual({
    ...all('user_not_found'),
    getUser: 200,
    eraseUser: 200,
    prefillUser: 200,
    createUser: 200,
  })
})
