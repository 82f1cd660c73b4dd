import { setTimeout as pause } from 'node:timers/promises'
import type { EventName, PartnerClient } from '@benefit-enrolment/client'
import { type Command, CommandError, flag, neededText, UsageError, valued } from '@benefit-enrolment/command'
import { eventsOf, statusOf } from './found.ts'
import { inSandbox, partnerOptions } from './partner.ts'
import {
  cancel,
  create,
  createLaterOn,
  createOn,
  downgradeTo,
  erase,
  moveTo,
  prefill,
  reinstate,
  swap,
  type UserChange,
} from './user-changes.ts'

const undoSwap: UserChange = (client, userid) => client.undoSwap({ userid })
const undoOffer: UserChange = (client, userid) => client.undoOfferChange({ userid })
function enrol(name: string): UserChange {
  return (client, userid) => client.enrolBenefit({ userid, name })
}
const moveClock = 'then move the clock to the next month by POST /sandbox/clock'

/**
 * How a new user of the demo catalogue comes to raise each event: the steps, through the API only; or, where no request
 * raises it at once, what to do instead.
 */
const recipes: Readonly<Record<EventName, readonly UserChange[] | string>> = {
  enrollment_request_received: [prefill],
  enrollment_successful: [create],
  offer_activiation_successful: [create],
  offer_change_scheduled: [create, moveTo('plus', 'nextperiod')],
  offer_change_cancelled: [create, moveTo('plus', 'nextperiod'), undoOffer],
  offer_upgrade_successful: [create, moveTo('plus', 'immediate')],
  offer_downgrade_successful: [createOn('plus'), downgradeTo('starter')],
  offer_cancel_scheduled: [create, cancel('endofperiod')],
  offer_cancel_successful: [create, cancel('immediate')],
  offer_reinstate_successful: [create, cancel('immediate'), reinstate],
  offer_action_required: [
    createOn('premier', []),
    (client, userid) => client.updateUser({ userid, state: 'NY', zipcode: '10001' }),
  ],
  user_update_successful: [create, (client, userid) => client.updateUser({ userid, phone: '3055550142' })],
  user_erased: [create, erase],
  benefit_enrollment_corrected: 'the operator raises it, by `enrolment user correct` or at the console',
  benefit_enrollment_scheduled: [createLaterOn('plus'), enrol('vision')],
  benefit_enrollment_successful: [createOn('plus'), enrol('vision')],
  benefit_enrollment_ended: `trigger offer_action_required, ${moveClock}`,
  benefit_declined: [
    createOn('plus'),
    enrol('identity'),
    (client, userid) => client.declineBenefit({ userid, name: 'identity' }),
  ],
  benefit_action_required: [createOn('plus'), enrol('identity')],
  benefit_insurer_accepted: 'the operator raises it, by `enrolment feed answer`',
  benefit_insurer_refused: 'the operator raises it, by `enrolment feed answer`',
  benefit_cover_changed: `change whom a benefit covers (POST /user/benefits/cover), ${moveClock}`,
  user_benefits_pendingswap: [create, swap],
  user_benefits_swap_cancelled: [create, swap, undoSwap],
  user_benefits_swap_successful: `trigger user_benefits_pendingswap, ${moveClock}`,
  user_benefits_swap_failed: `swap dental for identity without its consent (POST /user/benefits/swap), ${moveClock}`,
  webhook_failing: 'another endpoint of yours fails for 15 minutes, by answering 500',
  webhook_disabled: 'another endpoint of yours answers 410, or the operator disables it',
  webhook_recovered: 'another endpoint of yours accepts an event after such a notice',
  webhook_test: 'the test of a webhook sends it, POST /webhooks/WEBHOOKID/test',
}

/** `trigger`: takes a sandbox user through the steps that raise an event. */
export const trigger: Command = {
  name: 'trigger',
  arguments: ['EVENT'],
  summary: 'Raise an event in a sandbox, by taking a new user through the steps that cause it.',
  options: {
    ...partnerOptions,
    userid: valued('USERID', 'a user that does not exist yet'),
    repeat: valued('N', 'this many users: USERID, USERID-2, USERID-3 …'),
    delay: valued('SECONDS', 'wait so long between two of them'),
    duplicate: flag('deliver each event to your endpoints a second time, with the same key'),
    'out-of-order': flag("deliver each user's first event to your endpoints again after the last"),
  },
  run: input => {
    const eventname = input.positionals[0] ?? ''
    const changes = changesTo(eventname)
    const userid = neededText(input, 'userid')
    const repeat = numberOf(input.text('repeat') ?? '1', 'repeat', { least: 1, most: 1000 })
    const delay = numberOf(input.text('delay') ?? '0', 'delay', { least: 0, most: 3600 })
    return inSandbox(input, async ({ client }) => {
      const raised: { userid: string; eventids: string[] }[] = []
      for (let count = 1; count <= repeat; count += 1) {
        if (count > 1 && delay > 0) await pause(delay * 1000)
        const name = count === 1 ? userid : `${userid}-${count}`
        await requireNew(client, name)
        await takeThrough(changes, client, name)
        const events = await eventsOf(client, name)
        const wanted = events.filter(event => event.eventname === eventname)
        const again = [
          ...(input.flag('duplicate') ? wanted : []),
          ...(input.flag('out-of-order') ? events.slice(0, 1) : []),
        ]
        for (const { eventid } of again) {
          await untilTried(client, eventid)
          await client.replayEvent({ eventid })
        }
        raised.push({ userid: name, eventids: wanted.map(({ eventid }) => eventid) })
      }
      input.print(
        { eventname, raised },
        raised.map(one => `${eventname} for ${one.userid}: ${one.eventids.join(', ')}`),
      )
    })
  },
}

function changesTo(eventname: string): readonly UserChange[] {
  const known = Object.entries(recipes).flatMap(([name, recipe]) =>
    typeof recipe === 'string' ? [] : [name],
  )
  if (!isEventName(eventname)) throw new UsageError(`EVENT must be one of ${known.join(', ')}; see --help.`)
  const recipe = recipes[eventname]
  if (typeof recipe === 'string') throw new CommandError(`No request raises ${eventname} at once: ${recipe}.`)
  return recipe
}

function isEventName(name: string): name is EventName {
  return Object.hasOwn(recipes, name)
}

/** Refuses a userid that is taken: the steps are those of a new user, and their refusals would explain nothing. */
async function requireNew(client: PartnerClient, userid: string): Promise<void> {
  const status = await statusOf(client, userid)
  if (status !== undefined && status !== 'erased')
    throw new CommandError(`There is a user ${userid} already: name one that does not exist yet.`)
}

/** Takes a new user through steps; where one is refused, such as a swap on a month's last day, the user is erased again. */
async function takeThrough(changes: readonly UserChange[], client: PartnerClient, userid: string) {
  try {
    for (const change of changes) await change(client, userid)
  } catch (error) {
    await erase(client, userid).catch(() => {})
    throw error
  }
}

/** How long an event may wait for its first attempt before it is requested again anyway. */
const PATIENCE_MS = 60_000

/**
 * Waits until an event was attempted at every endpoint: a delivery that still waits for its first attempt is not sent a
 * second time.
 */
async function untilTried(client: PartnerClient, eventid: string): Promise<void> {
  const until = performance.now() + PATIENCE_MS
  while (performance.now() < until) {
    const { deliveries } = await client.getEvent({ eventid })
    if (!deliveries.some(({ status, attempts }) => status === 'waiting' && attempts === 0)) return
    await pause(50)
  }
}

function numberOf(text: string, name: string, { least, most }: { least: number; most: number }): number {
  const value = Number(text)
  if (!/^\d+$/.test(text) || value < least || value > most)
    throw new UsageError(`--${name} must be a whole number from ${least} to ${most}; see --help.`)
  return value
}
