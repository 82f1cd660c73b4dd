import type { Made } from '../../steps/made.ts'
import { dayText, deadlineText, namesText } from '../../views/format.ts'
import { sayIn } from '../../views/say.ts'
import type { Page } from '../../views/surroundings.ts'

/**
 * Whether something is still needed from the person: the view itself says what (`here`), or does not know
 * (`elsewhere`); `choice`: nothing, but there is something that they may still do.
 */
export type Needed = 'nothing' | 'choice' | 'here' | 'elsewhere'

/** What was done: `rest` says that there is nothing to do, `next` what else there is to know, `itself` what happens by itself. */
type Said = {
  readonly title: string
  readonly lead: string
  readonly rest?: string
  readonly itself?: string
  readonly next?: readonly (string | false | undefined)[]
}

/**
 * The heading, the sentence and the next steps for what was done. While something is still needed from the person, no step
 * says that there is nothing to do.
 */
export function doneWords(page: Page, made: Made, needed: Needed) {
  const say = sayIn(page)
  const { title, lead, rest, itself, next = [] } = saidOf(page, made)
  const { phone } = page.help
  const lines = [
    needed === 'elsewhere' &&
      say`Something is still needed from you. Ask ${page.partner.displayname} what it is.`,
    ...next,
    needed === 'nothing' && rest,
    (needed === 'nothing' || needed === 'choice') && itself,
    phone
      ? say`Keep your reference. You need it if you call ${phone}.`
      : say`Keep your reference for your records.`,
  ]
  return { title, lead, next: lines.filter(line => typeof line === 'string') }
}

function saidOf(page: Page, made: Made): Said {
  const say = sayIn(page)
  const on = 'from' in made && made.from !== undefined ? dayText(page, made.from) : undefined
  const rest = on
    ? say`You do not have to do anything until then.`
    : say`You do not have to do anything else.`
  const notbefore = say`There is no coverage before that day.`
  const staysdropped =
    'staysDropped' in made &&
    made.staysDropped &&
    say`A swap or plan change that you had planned before does not come back.`
  switch (made.what) {
    case 'enrolled':
      if (!on) return { title: say`You are enrolled`, lead: say`Each benefit shows when it starts.`, rest }
      return {
        title: say`You are enrolled from ${on}`,
        lead: say`Your benefits start on ${on}. There is no coverage before that day.`,
        rest,
      }
    case 'added': {
      const isOne = made.count === 1
      const lead = say`These are all your benefits.`
      if (!on)
        return {
          title: isOne ? say`Your new benefit is added` : say`Your new benefits are added`,
          lead,
          rest,
        }
      const title = isOne
        ? say`Your new benefit is added and starts on ${on}`
        : say`Your new benefits are added and start on ${on}`
      return { title, lead: notbefore, rest }
    }
    case 'upgraded':
    case 'downgraded': {
      const { plan } = made
      const isUp = made.what === 'upgraded'
      const next = [made.dropsSwap && say`The swap that you had planned will not happen.`]
      if (!on && isUp)
        return { title: say`You moved up to ${plan}`, lead: say`Your new plan is in force.`, rest, next }
      const changed = say`Your plan has changed. These are your benefits now.`
      if (!on) return { title: say`You moved to ${plan}`, lead: changed, rest, next }
      if (isUp) {
        const itself = say`Your plan changes by itself on that day.`
        const title = say`You move up to ${plan} on ${on}`
        return { title, lead: say`Nothing changes before that day.`, next: [...next, itself] }
      }
      return {
        title: say`You move to ${plan} on ${on}`,
        lead: say`Until then you keep the plan and the benefits you have now.`,
        next: [
          ...next,
          say`Your plan changes by itself on that day. What does not come with it ends on the day shown.`,
        ],
      }
    }
    case 'swapped':
      return {
        title: say`Your swap is set for ${on ?? ''}`,
        lead: say`Until then you keep the benefits you have now.`,
        itself: say`The swap happens by itself on that day.`,
      }
    case 'cancelled':
      return cancelledWords(page, made)
    case 'undone': {
      const { plan } = made
      const said = { rest, next: [staysdropped] }
      if (made.of === 'swap' && !on)
        return { ...said, title: say`Your swap is undone`, lead: say`You keep the benefits you have now.` }
      if (made.of === 'swap') {
        const title = say`Your swap is undone, and ${plan} starts on ${on ?? ''}`
        return { ...said, title, lead: say`Your benefits start as they were planned before.` }
      }
      if (!on)
        return { ...said, title: say`You stay on ${plan}`, lead: say`The change of your plan is undone.` }
      const lead = say`The change of your plan is undone. There is no coverage before that day.`
      return { ...said, title: say`You start with ${plan} on ${on}`, lead }
    }
    case 'kept':
      return {
        title: say`You keep your benefits`,
        lead: say`The cancellation is undone. Your coverage goes on without a gap.`,
        rest,
        next: [staysdropped],
      }
    case 'reinstated': {
      const { missing } = made
      const next = [missing.length > 0 && say`This could not come back: ${namesText(page, missing)}.`]
      if (on) return { title: say`Your benefits are back and start on ${on}`, lead: notbefore, rest, next }
      const lead = say`Your plan is in force again. There was no coverage while it was canceled.`
      return { title: say`Your benefits are back`, lead, rest, next }
    }
  }
}

function cancelledWords(page: Page, made: Extract<Made, { what: 'cancelled' }>): Said {
  const say = sayIn(page)
  const noreturn = say`Once they have ended, you cannot bring them back: as things stand, your plan is not open to you any more.`
  const { timing, withdrawn = [], backuntil } = made
  const on = dayText(page, made.lastday)
  const later = made.noreturn
    ? noreturn
    : say`For 30 days after that you can still bring them back if you qualify.`
  const until = backuntil !== undefined && deadlineText(page, backuntil)
  const partner = page.partner.displayname
  const next = [
    withdrawn.length > 0 && say`These have not started and will not: ${namesText(page, withdrawn)}.`,
    made.hasDropped && say`The swap or plan change that you had planned will not happen.`,
    timing === 'ahead' && say`Changed your mind? Until then you can keep your benefits. ${later}`,
    made.noreturn && timing !== 'ahead' && noreturn,
    until &&
      say`If you change your mind and still qualify, you can bring your benefits back. The last moment is ${until}. Open your benefits from ${partner} again.`,
  ]
  if (timing === 'ahead') {
    const lead = say`You are covered until the end of that day.`
    return { title: say`Your benefits will end on ${on}`, lead, next }
  }
  if (timing === 'today')
    return { title: say`Your benefits have ended`, lead: say`Your coverage ended today, ${on}.`, next }
  const lead = say`Your benefits had not started, and they will not start.`
  return { title: say`Your enrollment is canceled`, lead, next }
}
