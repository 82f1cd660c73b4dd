import { isBenefitEnrolmentError, type PartnerClient } from '@benefit-enrolment/client'
import type { Command } from '@benefit-enrolment/command'
import { statusOf } from './found.ts'
import { inSandbox, partnerOptions } from './partner.ts'
import {
  cancel,
  coverGrownChild,
  coverNobodyElse,
  create,
  createOn,
  createWith,
  erase,
  prefill,
  prefillWith,
  reinstate,
  swap,
  type UserChange,
} from './user-changes.ts'

/** A sandbox user with known outcomes. */
type Person = { readonly userid: string; readonly outcome: string; readonly changes: readonly UserChange[] }

/** The one event whose delivery fails: no other person of the sandbox raises it. */
const failingEvent = 'offer_reinstate_successful'
/** Nothing listens on the discard port, so that each attempt fails. */
const failingUrl = 'http://127.0.0.1:9/person-webhook-fails'

/** The changes for the next boundary, which the last hours of a month lock. */
const lockable: ReadonlySet<UserChange> = new Set([swap, coverNobodyElse])

/** The people of a sandbox, on the demo catalogue. */
const people: readonly Person[] = [
  {
    userid: 'person-eligible',
    outcome: 'prefilled, born in 1990, FL: every offer admits her',
    changes: [prefill],
  },
  {
    userid: 'person-enrolled',
    outcome: 'active on starter with accident, telehealth and dental',
    changes: [create],
  },
  {
    userid: 'person-swap-pending',
    outcome: 'as person-enrolled; vision replaces dental at the boundary',
    changes: [create, swap],
  },
  {
    userid: 'person-with-partner',
    outcome: 'active on starter; dental covers her with her domestic partner',
    changes: [createWith('domesticpartner')],
  },
  {
    userid: 'person-spouse-removed',
    outcome: 'active on starter; dental covers her spouse until the boundary, and then her alone',
    changes: [createWith('spouse'), coverNobodyElse],
  },
  {
    userid: 'person-child-ages-out',
    outcome: 'active on plus; dental covers her child, who is 26 next month, to the end of that month',
    changes: [createOn('plus', ['telehealth']), coverGrownChild],
  },
  {
    userid: 'person-wrong-state',
    outcome: 'prefilled, NY: premier refuses her (ineligible), and four benefits fewer are listed',
    changes: [prefillWith({ address: { state: 'NY' }, zipcode: '10001' })],
  },
  {
    userid: 'person-too-young',
    outcome: 'prefilled, born in 2015: every offer refuses her (ineligible)',
    changes: [prefillWith({ dob: '2015-06-01' })],
  },
  { userid: 'person-erased', outcome: 'erased: all but a new start is refused', changes: [create, erase] },
  {
    userid: 'person-webhook-fails',
    outcome: `active; each attempt to deliver her ${failingEvent} to ${failingUrl} fails`,
    changes: [create, cancel('immediate'), reinstate],
  },
]

/**
 * Creates the missing people of a sandbox, or all of them anew. Returns what could not be made as described: changes for the
 * next month are locked in the last hours of a month. Throws what the client throws when the service refuses anything else.
 */
export async function makePeople(
  client: PartnerClient,
  which: 'missing' | 'all',
): Promise<readonly { userid: string; refusal: string }[]> {
  await seeToFailingEndpoint(client)
  const refused: { userid: string; refusal: string }[] = []
  for (const { userid, changes } of people) {
    const status = await statusOf(client, userid)
    if (which === 'missing' && status !== undefined) continue
    if (status !== undefined && status !== 'erased') await erase(client, userid)
    for (const change of changes) {
      try {
        await change(client, userid)
      } catch (error) {
        if (!lockable.has(change) || !isBenefitEnrolmentError(error)) throw error
        refused.push({ userid, refusal: error.code })
      }
    }
  }
  return refused
}

/** Makes sure that the failing endpoint exists and is enabled. */
async function seeToFailingEndpoint(client: PartnerClient): Promise<void> {
  const { webhooks } = await client.listWebhooks({})
  const known = webhooks.find(({ url }) => url === failingUrl)
  if (!known)
    await client.createWebhook({
      url: failingUrl,
      username: 'person',
      password: 'nobody listens',
      events: [failingEvent],
    })
  else if (known.status === 'disabled') await client.enableWebhook({ webhookid: known.webhookid })
}

/** `people list`: the expected outcomes of each person, and their present state. */
const listPeople: Command = {
  name: 'people list',
  summary: 'List the people of a sandbox: the expected outcomes of each, and their present status.',
  options: partnerOptions,
  run: input =>
    inSandbox(input, async ({ client }) => {
      const found = []
      for (const { userid, outcome } of people)
        found.push({ userid, outcome, status: (await statusOf(client, userid)) ?? null })
      input.print(
        { people: found },
        found.map(one => `${one.userid.padEnd(22)}${(one.status ?? 'missing').padEnd(12)}${one.outcome}`),
      )
    }),
}

/** `people reset`: erases the people and creates them anew. */
const resetPeople: Command = {
  name: 'people reset',
  summary: 'Create the people of a sandbox anew, with their known outcomes.',
  options: partnerOptions,
  run: input =>
    inSandbox(input, async ({ client }) => {
      const refused = await makePeople(client, 'all')
      input.print({ people: people.map(({ userid }) => userid), refused }, [
        `Made anew: ${people.map(({ userid }) => userid).join(', ')}.`,
        ...refused.map(
          ({ userid, refusal }) =>
            `${userid} has no change pending (${refusal}): in the last hours of a month they are locked. Reset again after it.`,
        ),
      ])
    }),
}

/** The commands that list and reset the people of a sandbox. */
export const peopleCommands: readonly Command[] = [listPeople, resetPeople]
