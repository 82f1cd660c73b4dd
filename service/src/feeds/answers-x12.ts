import { OperatorError } from '../operator-error.ts'
import type { GivenAnswer } from './answers-csv.ts'
import type { X12Form } from './feed.ts'

/** What an acknowledgement says about one transaction set of ours. */
type SetAnswer = {
  /** From 1, in the order of the file. */
  readonly set: number
  readonly isAccepted: boolean
  readonly code: string
  /** The segments that were found wrong, by their position in the set from 1, and why. */
  readonly faults: readonly { readonly position: number; readonly code: string; readonly text: string }[]
}

/** What a TA1, or one transaction set 999, says about a file of ours. */
export type Acknowledgement = {
  /** The control number of our file: the run. */
  readonly run: number
  /** `read`: the envelope was, and nothing is said of its content yet; `partly`: every set is named, some refused. */
  readonly outcome: 'read' | 'accepted' | 'partly' | 'refused'
  readonly code: string
  readonly sets: readonly SetAnswer[]
  /** How many sets the insurer received, where it says so. */
  readonly received?: number | undefined
  /** Who sent it, and to whom. */
  readonly sender: string
  readonly receiver: string
}

/** Whether a file is an X12 interchange rather than a table. */
export function isX12(text: string): boolean {
  return /^\s*ISA/.test(text)
}

type Segment = readonly string[]

/** The elements of each segment; the separators stand at fixed places of the first one. */
export function segmentsIn(text: string): Segment[] {
  const begun = text.trimStart()
  const separator = begun[3] ?? '*'
  const terminator = begun[105] ?? '~'
  return begun
    .split(terminator)
    .map(segment => segment.trim().split(separator))
    .filter(([id]) => id !== '')
}

/**
 * Reads every TA1 and every implementation acknowledgement (999, 005010X231A1) of a file; each answers a run of its own. A file
 * that is cut, or in which anything is not where the standard has it, is refused whole with an OperatorError: half of an answer
 * could be taken for a whole one.
 */
export function readAcknowledgements(text: string): Acknowledgement[] {
  const reader = openReader(segmentsIn(text))
  const found: Acknowledgement[] = []
  while (!reader.isDone()) found.push(...readInterchange(reader))
  if (found.length === 0) throw odd('it has neither a TA1 nor a 999, so it answers nothing')
  let before: Acknowledgement | undefined
  for (const one of found.filter(({ code }) => code.startsWith('AK9'))) {
    // In another order than the runs, a part of one answer could have come into the other.
    if (before && before.run >= one.run)
      throw odd(`it answers run ${one.run} after run ${before.run}; ask for a file for each`)
    before = one
    const envelope = found.find(({ run, code }) => run === one.run && code.startsWith('TA1'))
    if (envelope?.outcome === 'refused' && one.outcome !== 'refused')
      throw odd(`its TA1 refuses run ${one.run}, and its 999 does not`)
  }
  const envelopes = found.filter(({ code }) => code.startsWith('TA1'))
  for (const { run, outcome } of envelopes)
    if (envelopes.some(other => other.run === run && other.outcome !== outcome))
      throw odd(`one TA1 refuses run ${run}, and another does not`)
  return found
}

/** Takes segments one after the other. */
type Reader = {
  readonly isDone: () => boolean
  /** How many segments were taken. */
  readonly taken: () => number
  readonly isNext: (id: string) => boolean
  /** The elements after the name of the next segment, which must have it. */
  readonly take: (id: string) => readonly string[]
}

function openReader(segments: readonly Segment[]): Reader {
  let at = 0
  return {
    isDone: () => at >= segments.length,
    taken: () => at,
    isNext: id => segments[at]?.[0] === id,
    take(id) {
      const [found, ...elements] = segments[at] ?? []
      if (found === undefined) throw odd(`it ends before its ${id}: it was cut`)
      if (found !== id) throw odd(`its segment ${at + 1} is not the ${id} that belongs there`)
      at += 1
      return elements
    },
  }
}

function odd(why: string): OperatorError {
  return new OperatorError(
    `The file cannot be taken for an answer: ${why}. Nothing of it was recorded; ask the insurer for it again.`,
  )
}

function readInterchange(reader: Reader): Acknowledgement[] {
  const isa = reader.take('ISA').map(element => element.trim())
  const parties = { sender: isa[5] ?? '', receiver: isa[7] ?? '' }
  const found: Acknowledgement[] = []
  while (reader.isNext('TA1')) found.push({ ...readEnvelopeAnswer(reader.take('TA1')), ...parties })
  let groups = 0
  while (reader.isNext('GS')) {
    groups += 1
    const [kind, sender, receiver, , , control] = reader.take('GS').map(element => element.trim())
    if (sender !== parties.sender || receiver !== parties.receiver)
      throw odd('its group names another sender or receiver than its envelope')
    if (kind !== 'FA') throw odd(`its group is ${kind || 'of no kind'}, and that of a 999 is FA`)
    let sets = 0
    while (reader.isNext('ST')) {
      sets += 1
      found.push({ ...readSet(reader), ...parties })
    }
    closes(reader.take('GE'), { id: 'GE', count: sets, control })
  }
  closes(reader.take('IEA'), { id: 'IEA', count: groups, control: isa[12] })
  return found
}

/** A trailer counts what is before it, and repeats the number of its header. */
function closes(
  [count = '', control]: readonly string[],
  of: { readonly id: string; readonly count: number; readonly control: string | undefined },
): void {
  if (!/^\d{1,10}$/.test(count) || Number(count) !== of.count)
    throw odd(
      `its ${of.id} counts ${/^\d{1,10}$/.test(count) ? count : 'nothing'}, and there are ${of.count}`,
    )
  if (control === undefined || control !== of.control)
    throw odd(`its ${of.id} has another number than the header to which it belongs`)
}

function readEnvelopeAnswer([control = '', , , status = '', note = '']: readonly string[]) {
  if (!['A', 'E', 'R'].includes(status)) throw odd('its TA1 neither accepts nor refuses')
  const outcome = status === 'R' ? 'refused' : 'read'
  return { run: controlNumber(control), outcome, code: `TA1 ${note}`.trim(), sets: [] } as const
}

/** One transaction set, from ST to SE. */
function readSet(reader: Reader): Omit<Acknowledgement, 'sender' | 'receiver'> {
  const before = reader.taken()
  const [kind, control] = reader.take('ST')
  if (kind !== '999') throw odd(`it has a ${kind || 'set of no kind'} where a 999 belongs`)
  const [functional, group = ''] = reader.take('AK1')
  if (functional !== 'BE') throw odd('its AK1 is about another kind of group than ours, which is BE')
  const run = controlNumber(group)
  const sets: SetAnswer[] = []
  while (reader.isNext('AK2')) sets.push(readSetAnswer(reader, sets.at(-1)?.set ?? 0))
  const outcome = readOutcome(reader.take('AK9'), sets)
  const end = reader.take('SE')
  // The last segment of a set counts itself.
  closes(end, { id: 'SE', count: reader.taken() - before, control })
  return { run, ...outcome, sets }
}

function readSetAnswer(reader: Reader, before: number): SetAnswer {
  const [kind, control = ''] = reader.take('AK2')
  const set = controlNumber(control)
  if (kind !== '834') throw odd('its AK2 is about another set than an 834')
  if (set <= before) throw odd(`its AK2 for set ${set} is not in order`)
  const faults: { position: number; code: string; text: string }[] = []
  while (reader.isNext('IK3')) {
    const [segment = '', position = '', , why = ''] = reader.take('IK3')
    const details: string[] = []
    while (reader.isNext('IK4') || reader.isNext('CTX')) {
      if (reader.isNext('CTX')) reader.take('CTX')
      else {
        const [element = '', , detail = ''] = reader.take('IK4')
        details.push(`element ${Number(element.split(/\D/)[0]) || '?'}: ${wordOf(ELEMENT_FAULTS, detail)}`)
      }
    }
    faults.push({
      position: controlNumber(position),
      code: `IK3 ${why} ${segment}`.trim(),
      text: [`Segment ${segment}: ${wordOf(SEGMENT_FAULTS, why)}`, ...details].join('; '),
    })
  }
  const [status = '', why = ''] = reader.take('IK5')
  if (!['A', 'E', 'M', 'R', 'W', 'X'].includes(status))
    throw odd(`its IK5 for set ${set} neither accepts nor refuses`)
  if (status === 'A' && faults.length > 0)
    throw odd(`it names faults in set ${set} and accepts it as faultless`)
  const isAccepted = status === 'A' || status === 'E'
  return { set, isAccepted, code: `IK5 ${status} ${why}`.trim(), faults }
}

/** What the whole group came to, which must agree with its sets. */
function readOutcome(
  [status = '', , received = '', accepted = '']: readonly string[],
  sets: readonly SetAnswer[],
): Pick<Acknowledgement, 'outcome' | 'code' | 'received'> {
  const code = `AK9 ${status}`
  const refused = sets.filter(({ isAccepted }) => !isAccepted).length
  const isCounted = /^\d+$/.test(received) && /^\d+$/.test(accepted)
  const all = !isCounted || Number(received) === Number(accepted)
  const none = !isCounted || Number(accepted) === 0
  if ((status === 'A' || status === 'E') && refused === 0 && all)
    return { outcome: 'accepted', code, received: isCounted ? Number(received) : undefined }
  if (status === 'P' && refused > 0 && refused < sets.length && (!isCounted || (!all && !none)))
    return { outcome: 'partly', code }
  if (['R', 'M', 'W', 'X'].includes(status) && refused > 0 && refused === sets.length && none)
    return { outcome: 'refused', code }
  throw odd(`its ${code.trim()} does not agree with what it says of the sets`)
}

function controlNumber(text: string): number {
  if (/^\d{1,9}$/.test(text)) return Number(text)
  throw odd('it names a number that is none')
}

const ENVELOPE_FAULTS: Readonly<Record<string, string>> = {
  '000': 'no reason is given',
  '001': 'the control numbers of its first and last segment differ',
  '005': 'its sender is not known there in this form',
  '006': 'its sender is not known there',
  '007': 'its receiver is not known there in this form',
  '008': 'its receiver is not known there',
  '009': 'it does not know this receiver',
  '025': 'this control number was used before',
}
const SET_FAULTS: Readonly<Record<string, string>> = {
  1: 'this kind of set is not taken there',
  2: 'its last segment is missing',
  3: 'the numbers of its first and last segment differ',
  4: 'its count of segments is wrong',
  5: 'segments of it are wrong',
  6: 'its kind is missing or wrong',
  7: 'its number is missing or wrong',
  23: 'its number is there twice',
  I5: 'a rule of the guide is broken',
  I6: 'its version of the guide is not taken there',
}
const SEGMENT_FAULTS: Readonly<Record<string, string>> = {
  1: 'is not known there',
  2: 'is not expected there',
  3: 'is required and missing',
  4: 'its loop is there too often',
  5: 'is there too often',
  6: 'does not belong into this set',
  7: 'is in the wrong place',
  8: 'has faulty elements',
  I4: 'is not used by the guide',
  I6: 'is missing where another one needs it',
  I7: 'its loop is there too seldom',
  I8: 'is there too seldom',
  I9: 'does not belong beside another one',
}
const ELEMENT_FAULTS: Readonly<Record<string, string>> = {
  1: 'required and missing',
  2: 'missing beside another one',
  3: 'one too many',
  4: 'too short',
  5: 'too long',
  6: 'a character that it may not have',
  7: 'a code that is not known there',
  8: 'not a date',
  9: 'not a time',
  10: 'not allowed beside another one',
  12: 'repeated too often',
  13: 'too many parts',
  I10: 'not used by the guide',
  I11: 'repeated too seldom',
  I12: 'not in the form that it must have',
  I13: 'not used beside another one',
}

function wordOf(words: Readonly<Record<string, string>>, code: string): string {
  return (Object.hasOwn(words, code) ? words[code] : undefined) ?? `code ${code || 'missing'}`
}

/** Where a line of ours stands in its file: its set, and its first and last segment there, from 1; Infinity: not known. */
export type LinePlace = {
  readonly line: number
  readonly set: number
  readonly first: number
  readonly last: number
}

/**
 * What an acknowledgement says of each line of its run. A refused set refuses all of its people; those whose segments were found
 * wrong are told why. With a set accepted despite noted errors, all are accepted. Throws OperatorError when it comes from, or
 * was meant for, somebody else than the feed says, or names other sets than the run has.
 */
export function answersOf(
  { run, outcome, code, sets, received, sender, receiver }: Acknowledgement,
  form: Pick<X12Form, 'sender' | 'receiver'>,
  places: readonly LinePlace[],
): GivenAnswer[] {
  if (sender !== form.receiver[1] || receiver !== form.sender[1])
    throw odd('its sender and receiver are not those of the feed')
  if (outcome === 'read') return []
  const bySet = new Map(sets.map(one => [one.set, one]))
  const most = Math.max(0, ...places.map(({ set }) => set))
  if (sets.some(({ set }) => set > most || set < 1))
    throw odd(`it answers a set that run ${run} does not have`)
  if (received !== undefined && received < most)
    throw odd(`it accepts ${received} sets of run ${run}, which has ${most}`)
  return places.map(({ line, set, first, last }) => {
    const own = bySet.get(set)
    if (!own && outcome === 'partly') throw odd(`it accepts run ${run} in part and leaves out set ${set}`)
    const isAccepted = own?.isAccepted ?? outcome === 'accepted'
    const fault = own?.faults.find(({ position }) => position >= first && position <= last)
    return {
      ...{ run, line, serviceId: '', benefit: '', isAccepted, memberId: '' },
      code: isAccepted ? code : (fault?.code ?? own?.code ?? code),
      text: isAccepted ? '' : (fault?.text ?? refusalOf(own, code)),
    }
  })
}

/** Why somebody is refused whose own segments were not found wrong. */
function refusalOf(set: SetAnswer | undefined, code: string): string {
  const [kind, , why = ''] = (set?.code ?? code).split(' ')
  if (kind === 'TA1') return `The whole file was refused: ${wordOf(ENVELOPE_FAULTS, code.slice(4))}`
  if (!set) return 'The whole file was refused'
  return `Refused with the whole set ${set.set}, without a fault in this person’s own segments: ${wordOf(SET_FAULTS, why)}`
}
