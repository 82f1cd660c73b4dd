import type { EndReason } from '../membership/rules/covers.ts'
import type { LineAction } from '../membership/rules/insurer-lines.ts'
import { plainText } from './encoding.ts'
import type { Feed, LineValues, X12Form } from './feed.ts'
import type { FileFormat, FileRun } from './written-file.ts'

/** How many people one transaction set has at most, as the guide recommends. */
export const LINES_OF_A_SET = 10_000

/** How many segments come before the first person of a set: ST, BGN, N1 of the sponsor, N1 of the insurer. */
export const SEGMENTS_OF_A_HEAD = 4

/**
 * An X12 file: benefit enrolment and maintenance, 834 by the HIPAA guide 005010X220A1. Each line of the feed is a member loop
 * of its own, with one coverage of one person. The run is the control number.
 */
export function x12Format({ x12834, insurer }: Feed, run: FileRun): FileFormat {
  if (!x12834) throw new Error('an 834 feed without its parties')
  const control = String(run.run).padStart(9, '0')
  let sets = 0
  let lines = 0
  let segments = 0
  const write = (elements: readonly (readonly string[])[]) => {
    segments += elements.length
    return elements.map(segmentOf).join('')
  }
  const openSet = (): string => {
    sets += 1
    lines = 0
    segments = 0
    return write(setHead({ x12834, insurer, run, set: setNumber(sets) }))
  }
  const closeSet = (): string => segmentOf(['SE', String(segments + 1), setNumber(sets)])
  return {
    head: () => encoded(envelopeHead(x12834, { control, madeAt: run.madeAt }) + openSet()),
    line(values) {
      const between = lines === LINES_OF_A_SET ? closeSet() + openSet() : ''
      lines += 1
      return encoded(between + write(memberSegments(values, x12834, run)))
    },
    foot: () =>
      encoded(
        closeSet() + segmentOf(['GE', String(sets), String(run.run)]) + segmentOf(['IEA', '1', control]),
      ),
  }
}

function setNumber(set: number): string {
  return String(set).padStart(4, '0')
}

function encoded(text: string): Buffer {
  return Buffer.from(text, 'latin1')
}

/** A segment on a line of its own; trailing elements without a value are left out, as the standard asks. */
function segmentOf(elements: readonly string[]): string {
  const last = elements.findLastIndex(element => element !== '')
  return `${elements.slice(0, last + 1).join('*')}~\n`
}

/** A value without what would end an element or a segment. */
function element(value: string, most: number): string {
  return plainText(value, 0x7e)
    .replace(/[*~:^|\p{Cc}]/gu, ' ')
    .trim()
    .slice(0, most)
    .trimEnd()
}

/** The names of a person as NM1 has them. */
export function x12Names({ firstname = '', lastname = '' }: LineValues): LineValues {
  return { firstname: element(firstname, 35), lastname: element(lastname, 60) || 'ERASED' }
}

function envelopeHead(
  { sender, receiver }: X12Form,
  { control, madeAt }: { readonly control: string; readonly madeAt: number },
): string {
  const { date, time } = stamp(madeAt)
  // Interchanges call a federal tax number 30; segments of the guide call it FI.
  const party = ([qualifier, id]: readonly [string, string]) => [
    qualifier === 'FI' ? '30' : qualifier,
    id.padEnd(15),
  ]
  // ISA has a fixed length, which tells a reader the separators, so nothing of it is left out.
  const isa = [
    'ISA',
    '00',
    ' '.repeat(10),
    '00',
    ' '.repeat(10),
    ...party(sender),
    ...party(receiver),
    date.slice(2),
    time,
  ]
  const gs = ['GS', 'BE', sender[1], receiver[1], date, time, String(Number(control)), 'X', '005010X220A1']
  return `${[...isa, '^', '00501', control, '0', 'P', ':'].join('*')}~\n${segmentOf(gs)}`
}

function setHead(of: {
  readonly x12834: X12Form
  readonly insurer: string
  readonly run: FileRun
  readonly set: string
}): string[][] {
  const { x12834, insurer, run, set } = of
  const { date, time } = stamp(run.madeAt)
  return [
    ['ST', '834', set, '005010X220A1'],
    ['BGN', '00', `${run.feed}-${run.run}`, date, time, 'UT', '', '', run.isFull ? '4' : '2'],
    ['N1', 'P5', element(x12834.sender[1], 60), ...x12834.sponsor],
    ['N1', 'IN', element(run.insurerName ?? insurer, 60), ...x12834.receiver],
  ]
}

function stamp(at: number): { readonly date: string; readonly time: string } {
  const text = new Date(at).toISOString()
  return { date: text.slice(0, 10).replaceAll('-', ''), time: text.slice(11, 16).replace(':', '') }
}

/** The codes of the guide: INS03 of the member, HD01 of the coverage. */
const actionCodes: Readonly<Record<LineAction, readonly [member: string, coverage: string]>> = {
  add: ['021', '021'],
  change: ['001', '001'],
  correct: ['001', '026'],
  end: ['024', '024'],
  reinstate: ['025', '025'],
  void: ['024', '002'],
}

/** INS04, where the guide has a code for the reason. */
const reasonCodes: Readonly<Record<EndReason, string>> = {
  voluntary: '14',
  employmentended: '08',
  nonpayment: '59',
  deceased: '03',
}

/** INS02: how the person is related to the member, whose numbers the loop of a dependant has. */
const relationCodes: Readonly<Record<string, string>> = {
  spouse: '01',
  domesticpartner: '53',
  child: '19',
}

/** The segments about one line: the member or a dependant, and the one coverage. */
export function memberSegments(
  values: LineValues,
  { lines, tiers }: Pick<X12Form, 'lines' | 'tiers'>,
  run: Pick<FileRun, 'isFull'>,
): string[][] {
  const relation = relationCodes[values['who'] ?? '']
  const { firstname = '', lastname = '' } = x12Names(values)
  const of = (name: string, most: number) => element(values[name] ?? '', most)
  const [member, coverage] =
    run.isFull && values['action'] === 'change' ? ['030', '030'] : actionCodes[values['action'] as LineAction]
  const day = (name: string) => (values[name] ?? '').replaceAll('-', '')
  const when = (segment: string[], isGiven: boolean) => (isGiven ? [segment] : [])
  const ways = [
    ...(of('phone', 256) ? ['TE', of('phone', 256).replace(/\D/g, '')] : []),
    ...(of('email', 256) ? ['EM', of('email', 256)] : []),
  ]
  const zipcode = of('zipcode', 15).replace(/\D/g, '')
  const isAddressed = of('addline1', 55) !== '' && of('city', 30) !== ''
  return [
    [
      'INS',
      relation ? 'N' : 'Y',
      relation ?? '18',
      member,
      reasonCodes[values['reason'] ?? ''] ?? 'AI',
      'A',
      '',
      '',
      relation ? '' : member === '024' ? 'TE' : 'AC',
    ],
    ['REF', '0F', of('serviceid', 50)],
    ...when(['REF', '1L', of('policy', 50)], of('policy', 50) !== ''),
    ...when(['REF', '23', of('memberid', 50)], of('memberid', 50) !== ''),
    ['NM1', 'IL', '1', lastname, firstname],
    ...when(['PER', 'IP', '', ...ways], ways.length > 0),
    ...when(['N3', of('addline1', 55), of('addline2', 55)], isAddressed),
    ...when(['N4', of('city', 30), of('state', 2), zipcode], isAddressed),
    ...when(['DMG', 'D8', day('dob'), sexOf(values['gender'])], day('dob') !== ''),
    [
      'HD',
      coverage,
      '',
      lines[values['benefit'] ?? ''] ?? '',
      of('plancode', 50),
      levelOf(values['tier'], tiers),
    ],
    ['DTP', '348', 'D8', day('startson')],
    ...when(['DTP', '349', 'D8', day('endson')], day('endson') !== ''),
  ]
}

/** HD05: the coverage level of the tier; of a family that was erased nobody knows it. */
function levelOf(tier: string | undefined, tiers: X12Form['tiers']): string {
  if (!tiers || tier === '') return 'IND'
  return tiers[tier ?? ''] ?? ''
}

/** The guide knows three; for every other answer, and for none, it is not known. */
function sexOf(gender = ''): string {
  return gender === 'F' || gender === 'M' ? gender : 'U'
}
