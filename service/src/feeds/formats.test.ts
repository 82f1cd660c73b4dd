import { describe, expect, test } from 'vitest'
import { startOfDate } from '../calendar/calendar.ts'
import { OperatorError } from '../operator-error.ts'
import { answersOf, readAcknowledgements } from './answers-x12.ts'
import { nextDue } from './every.ts'
import type { Feed, LineValues, X12Form } from './feed.ts'
import { formatOf } from './file-format.ts'
import { openPlaces } from './line-places.ts'
import { LINES_OF_A_SET } from './x12-format.ts'

const run = { feed: 'seaview', run: 7, madeAt: Date.UTC(2027, 4, 12, 15, 4), isFull: false }
const line: LineValues = {
  action: 'add',
  reason: '',
  serviceid: '0190a0b0-0000-7000-8000-000000000001',
  memberid: '',
  firstname: 'José',
  lastname: '=Łukasz "L", Jr',
  dob: '1990-03-27',
  gender: 'X',
  zipcode: '33101',
  benefit: 'dental',
  policy: 'GL-1',
  startson: '2027-05-12',
  endson: '',
}

function fileOf(more: Partial<Feed>, lines: readonly LineValues[] = [line]): Buffer {
  const feed = { feed: 'seaview', insurer: 'seaview', benefits: ['dental'], format: 'csv', ...more } as Feed
  const format = formatOf(feed, run)
  return Buffer.concat([format.head(), ...lines.map(format.line), format.foot()])
}

const columns = [
  { name: 'ACT', value: 'action', codes: { add: 'A' } },
  { name: 'NAME', value: 'lastname' },
  { name: 'BORN', value: 'dob', form: 'MMDDYYYY' },
  { name: 'TO', value: 'endson' },
  { name: 'X', text: 'GL' },
]

const x12Feed = {
  feed: 'seaview',
  insurer: 'seaview',
  benefits: ['dental'],
  format: 'x12834',
  x12834: {
    sender: ['ZZ', 'OURS'],
    receiver: ['FI', '987654321'],
    sponsor: ['FI', '123456789'],
    lines: { dental: 'DEN' },
  },
} as const

describe('a file', () => {
  test('of CSV has codes, forms of dates and values as they are', () => {
    expect(fileOf({ columns }).toString('utf8')).toBe(
      'ACT,NAME,BORN,TO,X\r\nA,"=Łukasz ""L"", Jr",03271990,,GL\r\n',
    )
  })

  test('of CSV takes another delimiter, quotes all, plain letters and a trailer with counts', () => {
    const csv = { header: false, delimiter: 'tab', quote: 'all', encoding: 'ascii', trailer: true } as const
    const [first, last] = fileOf({ columns, csv }).toString('latin1').split('\r\n')
    expect(first).toBe('"A"\t"=Lukasz ""L"", Jr"\t"03271990"\t""\t"GL"')
    expect(last).toBe('"TRAILER"\t"7"\t"1"\t"1"\t"0"\t"0"\t"0"\t"0"\t"0"')
  })

  test('of CSV quotes what its plain letters come to', () => {
    const csv = { delimiter: '-', encoding: 'iso-8859-1' } as const
    const [, row] = fileOf({ columns, csv }, [{ ...line, lastname: 'Ann “Nan”–Łęé' }])
      .toString('latin1')
      .split('\r\n')
    expect(row).toBe('A-"Ann ""Nan""-Leé"-03271990--GL')
  })

  test('of JSON has one object a line, by the same columns', () => {
    expect(fileOf({ format: 'json', columns }).toString('utf8')).toBe(
      `${JSON.stringify({ ACT: 'A', NAME: '=Łukasz "L", Jr', BORN: '03271990', TO: '', X: 'GL' })}\n`,
    )
  })

  test('of X12 counts its segments', () => {
    const text = fileOf(x12Feed, [line, { ...line, action: 'end', endson: '2027-05-31' }]).toString('latin1')
    expect(text.slice(0, 107)).toMatch(
      /^ISA\*00\* {10}\*00\* {10}\*ZZ\*OURS {11}\*30\*987654321 {6}\*270512\*1504\*\^\*00501\*000000007\*0\*P\*:~\n$/,
    )
    const segments = text.trim().split('~\n')
    const inSet = segments.slice(
      segments.findIndex(one => one.startsWith('ST')),
      segments.findIndex(one => one.startsWith('SE')) + 1,
    )
    expect(inSet.at(-1)).toBe(`SE*${inSet.length}*0001`)
    expect(inSet).toContain('NM1*IL*1*=Lukasz "L", Jr*Jose')
    expect(inSet).toContain('DMG*D8*19900327*U')
  })
})

test('an element of X12 ends with no space, also where it was cut', () => {
  const names = { ...line, firstname: `${'x'.repeat(34)} Ann`, lastname: ` ${'y'.repeat(59)} King` }
  expect(fileOf(x12Feed, [names]).toString('latin1')).toContain(
    `NM1*IL*1*${'y'.repeat(59)}*${'x'.repeat(34)}~`,
  )
})

test('a dependant in X12 has the numbers of the member, a relation, and the coverage level of the tier; an erased one no level', () => {
  const tiers = { me: 'EMP', family: 'FAM' }
  const loop = (more: LineValues, x12834: X12Form = { ...x12Feed.x12834, tiers }) => {
    const values = { ...line, memberid: 'C-1', tier: 'family', ...more }
    const segments = fileOf({ ...x12Feed, x12834 }, [values])
      .toString('latin1')
      .split('~\n')
    return segments.filter(one => /^(INS|REF\*23|HD)/.test(one))
  }
  const rest = (level: string) => ['REF*23*C-1', `HD*021**DEN**${level}`]
  expect(loop({ who: 'member' })).toEqual(['INS*Y*18*021*AI*A***AC', ...rest('FAM')])
  expect(loop({ who: 'spouse' })).toEqual(['INS*N*01*021*AI*A', ...rest('FAM')])
  expect(loop({ who: 'domesticpartner' })).toEqual(['INS*N*53*021*AI*A', ...rest('FAM')])
  expect(loop({ who: 'child', tier: 'me' })).toEqual(['INS*N*19*021*AI*A', ...rest('EMP')])
  expect(loop({ who: 'member', tier: '' })).toEqual(['INS*Y*18*021*AI*A***AC', ...rest('IND')])
  const erased = { ...line, memberid: 'C-1', who: 'child' }
  expect(fileOf({ ...x12Feed, x12834: { ...x12Feed.x12834, tiers } }, [erased]).toString()).toContain(
    'HD*021**DEN~',
  )
  expect(loop({}, x12Feed.x12834)).toEqual(['INS*Y*18*021*AI*A***AC', ...rest('IND')])
})

test('an acknowledgement names the right lines in every set, and after an erasure nobody instead of a wrong one', () => {
  const lines = Array.from({ length: LINES_OF_A_SET + 4 }, (_, index) => ({
    line: index + 1,
    values: { ...line, endson: index % 3 === 0 ? '2027-05-31' : '' },
  }))
  const file = fileOf(
    x12Feed,
    lines.map(({ values }) => values),
  ).toString('latin1')
  const [, one = [], two = []] = file.split(/^ST/m).map(set => `ST${set}`.split('~\n'))
  const faultOf = (set: string[], nth: number) =>
    set.flatMap((segment, at) => (segment.startsWith('HD') ? [at + 1] : []))[nth]
  const [third, last] = [faultOf(one, 2), faultOf(two, 3)]
  const answerHead = `ISA*00*          *00*          *30*987654321      *ZZ*OURS           *270513*0900*^*00501*000000001*0*P*:~`
  const [acknowledged] = readAcknowledgements(
    `${answerHead}GS*FA*987654321*OURS*20270513*0900*1*X*005010X231A1~ST*999*0001*005010X231A1~AK1*BE*7*005010X220A1~AK2*834*0001*005010X220A1~IK3*HD*${third}*2300*8~IK5*R*5~AK2*834*0002*005010X220A1~IK3*HD*${last}*2300*8~IK5*R*5~AK9*R*2*2*0~SE*10*0001~GE*1*1~IEA*1*000000001~`,
  )
  const namedOf = (sent: typeof lines) => {
    const answers = acknowledged
      ? answersOf(acknowledged, x12Feed.x12834, sent.map(openPlaces(x12Feed, run)))
      : []
    expect(answers.filter(({ isAccepted }) => isAccepted)).toEqual([])
    return answers.filter(({ code }) => code === 'IK3 8 HD').map(answer => answer.line)
  }
  expect(acknowledged?.run).toBe(7)
  expect(namedOf(lines)).toEqual([3, LINES_OF_A_SET + 4])
  expect(namedOf(lines.filter(sent => sent.line !== 2))).toEqual([LINES_OF_A_SET + 4])
})

describe('a 999', () => {
  const SET = (control: string, body: string) => {
    const segments = [`ST*999*${control}`, ...body.split('~'), '']
    return `${segments.join('~')}SE*${segments.length}*${control}~`
  }
  const fileWith = (...sets: string[]) =>
    `ISA*00*          *00*          *30*987654321      *ZZ*OURS           *270513*0900*^*00501*000000001*0*P*:~GS*FA*987654321*OURS*20270513*0900*1*X*005010X231A1~${sets.join('')}GE*${sets.length}*1~IEA*1*000000001~`
  const accepted = SET('0001', 'AK1*BE*7~AK2*834*0001~IK5*A~AK9*A*1*1*1')
  const refused = SET('0002', 'AK1*BE*8~AK2*834*0001~IK3*HD*10**8~IK4*3*1205*7~IK5*R*5~AK9*R*1*1*0')
  const places = [1, 2].map(line => ({ line, set: 1, first: 5 * line, last: 5 * line + 4 }))
  const read = (text: string) =>
    readAcknowledgements(text).flatMap(one => answersOf(one, x12Feed.x12834, places))

  test('that answers two runs gives each its own answer, and says in words what was wrong', () => {
    const segment = 'Segment HD: has faulty elements; element 3: a code that is not known there'
    const set =
      'Refused with the whole set 1, without a fault in this person’s own segments: segments of it are wrong'
    expect(read(fileWith(accepted, refused))).toMatchObject([
      { run: 7, line: 1, isAccepted: true },
      { run: 7, line: 2, isAccepted: true },
      { run: 8, line: 1, isAccepted: false, code: 'IK5 R 5', text: set },
      { run: 8, line: 2, isAccepted: false, code: 'IK3 8 HD', text: segment },
    ])
    const odd = 'Segment HD: code constructor; element 3: code constructor'
    const unknown = refused.replace('10**8', '10**constructor').replace('1205*7', '1205*constructor')
    expect(read(fileWith(unknown))).toContainEqual(expect.objectContaining({ line: 2, text: odd }))
    const envelopes = fileWith(accepted).replace(
      'GS*',
      'TA1*000000009*270512*1504*R*006~TA1*000000010*270512*1504*A*000~GS*',
    )
    expect(read(envelopes).map(one => [one.run, one.isAccepted])).toEqual([
      [9, false],
      [9, false],
      [7, true],
      [7, true],
    ])
  })

  test.each([
    ['AK9*P without the sets', SET('0001', 'AK1*BE*7~AK9*P*2*2*1')],
    ['AK9*R without its AK2', SET('0001', 'AK1*BE*7~AK9*R*1*1*0')],
    ['AK2 without IK5', SET('0001', 'AK1*BE*7~AK2*834*0001~AK9*A*1*1*1')],
    ['IK5*A under AK9*R', SET('0001', 'AK1*BE*7~AK2*834*0001~IK5*A~AK9*R*1*1*0')],
    ['IK5*R under AK9*A', SET('0001', 'AK1*BE*7~AK2*834*0001~IK5*R*5~AK9*A*1*1*1')],
    ['IK5*A after a fault', SET('0001', 'AK1*BE*7~AK2*834*0001~IK3*HD*10**8~IK5*A~AK9*A*1*1*1')],
    ['AK9*A of sets that were not all accepted', SET('0001', 'AK1*BE*7~AK9*A*2*2*1')],
    ['AK9*A that received no set', SET('0001', 'AK1*BE*7~AK9*A*0*0*0')],
    ['no AK9', SET('0001', 'AK1*BE*7~AK2*834*0001~IK5*A')],
    ['an unknown code', SET('0001', 'AK1*BE*7~AK2*834*0001~IK5*Z~AK9*A*1*1*1')],
    ['a set twice', SET('0001', 'AK1*BE*7~AK2*834*0001~IK5*A~AK2*834*0001~IK5*A~AK9*A*2*2*2')],
    ['a set that the run does not have', SET('0001', 'AK1*BE*7~AK2*834*0002~IK5*A~AK9*A*1*1*1')],
    ['another functional id', SET('0001', 'AK1*HC*7~AK2*834*0001~IK5*A~AK9*A*1*1*1')],
    ['a 997', SET('0001', 'AK1*BE*7~AK9*A*1*1*1').replace('ST*999', 'ST*997')],
    ['one run twice', accepted + SET('0002', 'AK1*BE*7~AK2*834*0001~IK5*A~AK9*A*1*1*1')],
    ['runs in another order', refused + accepted],
  ])('with %s is refused as a file', (_, set) => {
    const whole = fileWith(set).replace('GE*1*', `GE*${set.split('ST*').length - 1}*`)
    expect(() => read(whole)).toThrow(OperatorError)
  })

  test.each([
    ['cut after IK3', (text: string) => text.slice(0, text.indexOf('IK4'))],
    ['cut before IEA', (text: string) => text.slice(0, text.indexOf('IEA'))],
    ['of another group', (text: string) => text.replace('GS*FA', 'GS*HB')],
    ['of another sender', (text: string) => text.replaceAll('987654321', '111111111')],
    ['for another receiver', (text: string) => text.replaceAll('OURS', 'HERS')],
    ['with a wrong SE', (text: string) => text.replace('SE*6*0001', 'SE*7*0001')],
    ['with a wrong GE', (text: string) => text.replace('GE*2*1', 'GE*1*1')],
    ['with a wrong IEA', (text: string) => text.replace('IEA*1*', 'IEA*2*')],
    ['with the number of another file', (text: string) => text.replace('IEA*1*000000001', 'IEA*1*000000002')],
    [
      'whose TA1 refuses what it accepts',
      (text: string) => text.replace('GS*', 'TA1*000000007*270512*1504*R*000~GS*'),
    ],
  ])('%s is refused as a file', (_, change) => {
    const whole = fileWith(accepted, refused)
    expect(change(whole)).not.toBe(whole)
    expect(() => read(change(whole))).toThrow(OperatorError)
  })
})

test('a TA1 that rejects the envelope refuses every line, and one that takes it says nothing of them', () => {
  const envelope = (status: string) =>
    `ISA*00*          *00*          *30*987654321      *ZZ*OURS           *270513*0900*^*00501*000000001*0*P*:~TA1*000000007*270512*1504*${status}*000~IEA*0*000000001~`
  const places = [{ line: 1, set: 1, first: 5, last: 9 }]
  const answersTo = (status: string) =>
    readAcknowledgements(envelope(status)).flatMap(one => answersOf(one, x12Feed.x12834, places))
  expect(answersTo('R')).toMatchObject([{ run: 7, line: 1, isAccepted: false, code: 'TA1 000' }])
  expect([answersTo('A'), answersTo('E')]).toEqual([[], []])
})

test('a feed is due on its days at its time of day, also on days on which clocks change', () => {
  const timezone = 'America/New_York'
  const every = { days: ['sun'], at: '05:00', timezone } as const
  const march = startOfDate('2027-03-13', timezone)
  expect(new Date(nextDue(every, march)).toISOString()).toBe('2027-03-14T09:00:00.000Z')
  expect(new Date(nextDue(every, nextDue(every, march))).toISOString()).toBe('2027-03-21T09:00:00.000Z')
  expect(new Date(nextDue({ dayofmonth: 1, at: '05:00', timezone }, march)).toISOString()).toBe(
    '2027-04-01T09:00:00.000Z',
  )
})
