import { describe, expect, test } from 'vitest'
import { startOfDate } from '../calendar/calendar.ts'
import { answersOf, readAcknowledgement } from './answers-x12.ts'
import { nextDue } from './every.ts'
import type { Feed, LineValues } from './feed.ts'
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
  const acknowledged = readAcknowledgement(
    `${file.slice(0, 106)}GS*FA*A*B*20270513*0900*1*X*005010X231A1~ST*999*0001*005010X231A1~AK1*BE*7*005010X220A1~AK2*834*0001*005010X220A1~IK3*HD*${third}*2300*8~IK5*R*5~AK2*834*0002*005010X220A1~IK3*HD*${last}*2300*8~IK5*R*5~AK9*R*2*2*0~SE*9*0001~GE*1*1~IEA*1*000000001~`,
  )
  const namedOf = (sent: typeof lines) => {
    const answers = answersOf(acknowledged, sent.map(openPlaces(x12Feed, run)))
    expect(answers.filter(({ isAccepted }) => isAccepted)).toEqual([])
    return answers.filter(({ code }) => code === 'IK3 8 HD').map(answer => answer.line)
  }
  expect(acknowledged.run).toBe(7)
  expect(namedOf(lines)).toEqual([3, LINES_OF_A_SET + 4])
  expect(namedOf(lines.filter(sent => sent.line !== 2))).toEqual([LINES_OF_A_SET + 4])
})

test('a TA1 that rejects the envelope refuses every line, and one that takes it says nothing of them', () => {
  const envelope = (status: string) =>
    `ISA*00*          *00*          *30*987654321      *ZZ*OURS           *270513*0900*^*00501*000000001*0*P*:~TA1*000000007*270512*1504*${status}*000~IEA*0*000000001~`
  const places = [{ line: 1, set: 1, first: 5, last: 9 }]
  const answersTo = (status: string) => answersOf(readAcknowledgement(envelope(status)), places)
  expect(readAcknowledgement(envelope('R')).run).toBe(7)
  expect(answersTo('R')).toMatchObject([{ line: 1, isAccepted: false, code: 'TA1 000' }])
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
