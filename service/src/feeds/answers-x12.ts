import { OperatorError } from '../operator-error.ts'
import type { GivenAnswer } from './answers-csv.ts'

/** What an acknowledgement says about one transaction set of ours. */
type SetAnswer = {
  /** From 1, in the order of the file. */
  readonly set: number
  readonly isAccepted: boolean
  /** The segments that were found wrong, by their position in the set from 1, and why. */
  readonly faults: readonly { readonly position: number; readonly code: string }[]
}

/** What a TA1 or 999 says about a file of ours. */
export type Acknowledgement = {
  /** The control number of our file: the run. */
  readonly run: number
  /** `undefined`: the envelope was read, and nothing is said of its content yet. */
  readonly isAccepted: boolean | undefined
  readonly code: string
  readonly sets: readonly SetAnswer[]
}

/** Whether a file is an X12 interchange rather than a table. */
export function isX12(text: string): boolean {
  return /^\s*ISA/.test(text)
}

/**
 * Reads an interchange with a TA1, or with an implementation acknowledgement (999, 005010X231A1). Throws OperatorError for
 * anything else.
 */
export function readAcknowledgement(text: string): Acknowledgement {
  const segments = segmentsIn(text)
  const [, , group] = segments.find(([id]) => id === 'AK1') ?? []
  if (group !== undefined) return readFunctional(segments, group)
  const [, control, , , status = '', note = ''] = segments.find(([id]) => id === 'TA1') ?? []
  if (control === undefined)
    throw new OperatorError('The file has neither a TA1 nor a 999: it answers nothing.')
  return {
    run: controlNumber(control),
    isAccepted: status === 'R' ? false : undefined,
    code: `TA1 ${note}`.trim(),
    sets: [],
  }
}

/** The elements of each segment; the separators stand at fixed places of the first one. */
export function segmentsIn(text: string): string[][] {
  const begun = text.trimStart()
  const separator = begun[3] ?? '*'
  const terminator = begun[105] ?? '~'
  return begun
    .split(terminator)
    .map(segment => segment.trim().split(separator))
    .filter(([id]) => id !== '')
}

function readFunctional(segments: readonly string[][], group: string): Acknowledgement {
  const sets: { set: number; isAccepted: boolean; faults: { position: number; code: string }[] }[] = []
  for (const [id, first = '', second = '', , fourth = ''] of segments) {
    const current = sets.at(-1)
    if (id === 'AK2') sets.push({ set: controlNumber(second), isAccepted: true, faults: [] })
    else if (id === 'IK3')
      current?.faults.push({ position: controlNumber(second), code: `IK3 ${fourth} ${first}`.trim() })
    else if (id === 'IK5' && current) current.isAccepted = isAcceptedCode(first)
  }
  const [, status = ''] = segments.find(([id]) => id === 'AK9') ?? []
  return { run: controlNumber(group), isAccepted: isAcceptedCode(status), code: `AK9 ${status}`, sets }
}

/** Accepted, with or without noted errors; a part is decided set by set. */
function isAcceptedCode(code: string): boolean {
  return code === 'A' || code === 'E' || code === 'P'
}

function controlNumber(text: string): number {
  if (/^\d{1,9}$/.test(text)) return Number(text)
  throw new OperatorError('The file names a control number that is none; it does not answer a file of ours.')
}

/** Where a line of ours stands in its file: its set, and its first and last segment there, from 1; Infinity: not known. */
export type LinePlace = {
  readonly line: number
  readonly set: number
  readonly first: number
  readonly last: number
}

/**
 * What an acknowledgement says of each line. A refused set refuses all of its people; those whose segments were found wrong
 * are told why. With a set accepted despite noted errors, all are accepted.
 */
export function answersOf(
  { isAccepted, code, sets }: Acknowledgement,
  places: readonly LinePlace[],
): GivenAnswer[] {
  if (isAccepted === undefined) return []
  const bySet = new Map(sets.map(one => [one.set, one]))
  return places.map(({ line, set, first, last }) => {
    const own = bySet.get(set)
    const fault = own?.faults.find(({ position }) => position >= first && position <= last)
    return {
      line,
      serviceId: '',
      benefit: '',
      isAccepted: own?.isAccepted ?? isAccepted,
      code: own?.isAccepted === false ? (fault?.code ?? 'IK5 R') : code,
      text: '',
      memberId: '',
    }
  })
}
