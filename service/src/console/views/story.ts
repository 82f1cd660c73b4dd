import type { Instant } from '../../calendar/calendar.ts'
import type { HistoryLine, StoredLine } from '../../membership/rules/history.ts'
import { consequences } from './consequences.ts'
import { cancelReasonWords, type Of, offerName } from './moves.ts'

/**
 * One act as a person would tell it: what was done, and then what it came to. "Took back the cancellation. All six benefits
 * stay." Lines without a known act tell what they came to alone.
 */
export function storyOf(lines: readonly StoredLine[], of: Of): string {
  const act = actOf(lines, of)
  const told = act === undefined ? lines : lines.filter(line => !isSaid(line, lines))
  const sentences = [...(act === undefined ? [] : [act]), ...consequences(told, of)]
  return sentences.length === 0 ? 'Changed the person’s data.' : sentences.join(' ')
}

/** An instant within the day on which people find what happens by itself: of what only ends, the last day of cover. */
export function dayOfDue(lines: readonly HistoryLine[], at: Instant): Instant {
  const begins = lines.some(
    line =>
      (line.what === 'offer' && line.to !== undefined) || (line.what === 'benefit' && line.to !== 'ended'),
  )
  const isOver = lines.some(line => line.to === 'cancelled' || line.to === 'ended')
  return isOver && !begins ? at - 1 : at
}

/** What will happen on a day by itself. */
export function comingStory(lines: readonly HistoryLine[], of: Of): string {
  const sentences = consequences(lines, of)
  return sentences.length === 0 ? 'What the partner had sent is deleted.' : sentences.join(' ')
}

function actOf(lines: readonly StoredLine[], of: Of): string | undefined {
  const [first] = lines
  const status = lines.find(line => line.what === 'user')
  const [offer = ''] = lines.flatMap(line =>
    (line.what === 'offer' || line.what === 'offer to start') && line.to !== undefined ? [line.to] : [],
  )
  if (status?.from === 'cancelled') return 'Came back after the cancellation.'
  if (status?.to === 'active')
    return `Enrolled${status.why === 'imported' ? ', imported,' : ''} on ${offerName(of.terms, offer)}.`
  const cancel = lines.find(line => line.what === 'pending cancel')
  if (cancel) return cancel.to === undefined ? endOfCancel(status?.to) : canceled(cancel.why)
  if (status?.to === 'cancelled') return canceled(status.why.replace(/^cancel: /, ''))
  const swap = lines.find(line => line.what === 'swap')
  if (swap && first?.why === 'swap')
    return swap.to === undefined ? 'Took back the swap.' : `${swap.from ? 'Changed the' : 'Planned a'} swap.`
  return ACTS[first?.why ?? '']
}

function endOfCancel(status: string | undefined): string {
  return status === 'cancelled' ? 'The cancellation took effect.' : 'Took back the cancellation.'
}

function canceled(reason: string): string {
  return reason === 'cancel' ? 'Canceled.' : `Canceled because of ${cancelReasonWords(reason)}.`
}

/** The acts by the reason that the history keeps for them. */
const ACTS: Readonly<Record<string, string>> = {
  prefill: 'Sent the person’s data.',
  'prefill expired': 'Nobody enrolled in 90 days.',
  'link opened': 'Opened the registration page.',
  'offer change': 'Changed the offer.',
  'offer change undone': 'Took back the change of the offer.',
  enrol: 'Chose benefits.',
  'correction: void': 'Took an enrollment back as a mistake.',
  'correction: dates': 'Moved the dates of an enrollment.',
  'consent by phone': 'Put a consent on record that was given by phone.',
  'consent by paper': 'Put a consent on record that was given on paper.',
  'consent by email': 'Put a consent on record that was given by email.',
  'beneficiaries named': 'Named who receives a benefit.',
  'insurer answered': 'The insurer answered.',
  erase: 'Erased the person.',
}

/** Whether the act says already what a line would come to. */
function isSaid({ what, to, from }: StoredLine, lines: readonly StoredLine[]): boolean {
  const isEnrolling = lines.some(line => line.what === 'user' && line.to === 'active')
  switch (what) {
    case 'user':
      return true
    case 'consent':
      return true
    case 'swap':
      return to === undefined
    case 'pending offer':
      return to === undefined && from !== undefined
    case 'offer':
    case 'offer to start':
      return isEnrolling
    default:
      return false
  }
}
