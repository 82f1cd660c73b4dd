import { expect, test } from 'vitest'
import { parseFeeds } from './parse.ts'

test('an 834 feed is refused where the guide lacks an insurance line, or sponsor or insurer have no tax number', () => {
  const parsed = parseFeeds(
    `schema: 1
feeds:
  - feed: seaview
    insurer: seaview
    benefits: [dental, accident]
    format: x12834
    x12834:
      sender: [ZZ, OURS]
      receiver: [ZZ, SEAVIEW]
      sponsor: [ZZ, OURS]
      lines: { dental: DEN, accident: ACC }
`,
    undefined,
  )
  const problems = parsed.ok ? [] : parsed.problems.map(({ line, message }) => `${line} ${message}`)
  expect(problems).toEqual([
    expect.stringMatching(/^5 .*no insurance line for accident/),
    expect.stringMatching(/^9 .*federal tax number/),
    expect.stringMatching(/^10 .*federal tax number/),
  ])
})

test('an 834 feed is refused where a party would break the envelope, whose places have a fixed length', () => {
  const problemsOf = (parties: object) => {
    const x12834 = {
      sender: ['ZZ', 'OURS'],
      receiver: ['FI', '987654321'],
      sponsor: ['FI', '123456789'],
      ...parties,
    }
    const feed = { feed: 'seaview', insurer: 'seaview', benefits: ['dental'], format: 'x12834' }
    const feeds = [{ ...feed, x12834: { ...x12834, lines: { dental: 'DEN' } } }]
    const parsed = parseFeeds(JSON.stringify({ schema: 1, feeds }), undefined)
    return parsed.ok ? [] : parsed.problems.map(({ message }) => message)
  }
  expect(problemsOf({ sender: ['ZZ', 'OURS OF 15 LONG'] })).toEqual([])
  expect(problemsOf({ sender: ['ZZZ', 'OURS OF 16 LONGS'] })).toEqual([
    expect.stringMatching(/^"ZZZ" .* two characters such as ZZ/),
    expect.stringMatching(/^"OURS OF 16 LONGS" .* at most 15 characters/),
  ])
  expect(problemsOf({ receiver: ['FI', '98*7'], sponsor: ['FI', '12~3'] })).toEqual([
    expect.stringMatching(/^"98\*7" .* without \* ~ : and \^/),
    expect.stringMatching(/^"12~3" .* without \* ~ : and \^/),
  ])
})

test('a feed is refused whose file would lack a value, a part of a date, or could not be read', () => {
  const problemsOf = (more: object) => {
    const columns = ['FIRST', 'LAST'].map(name => ({ name, value: 'lastname' }))
    const feed = { feed: 'seaview', insurer: 'seaview', benefits: ['constructor'], format: 'json', columns }
    const parsed = parseFeeds(JSON.stringify({ schema: 1, feeds: [{ ...feed, ...more }] }), undefined)
    return parsed.ok ? [] : parsed.problems.map(({ path, message }) => `${path} ${message}`)
  }
  const columns = ['LAST', 'LAST'].map(name => ({ name, value: 'lastname' }))
  expect(problemsOf({ columns })).toEqual([expect.stringMatching(/columns\[1\].*LAST.*give it another name/)])
  expect(problemsOf({ columns, format: 'csv' })).toEqual([])
  expect(problemsOf({ format: 'csv', csv: { delimiter: '"' } })).toEqual([
    expect.stringMatching(/csv\.delimiter.*write one character such as ";"/),
  ])
  for (const dates of ['DD.MM', 'MM/YYYY', 'YYDD'])
    expect(problemsOf({ csv: { dates } })).toEqual([
      expect.stringMatching(/csv\.dates.*write it with YYYY or YY, MM and DD/),
    ])
  expect(problemsOf({ csv: { dates: 'DD.MM.YY' } })).toEqual([])
  const parties = { sender: ['ZZ', 'OURS'], receiver: ['FI', '987654321'], sponsor: ['FI', '123456789'] }
  const x12834 = { ...parties, lines: { dental: 'DEN' } }
  expect(problemsOf({ format: 'x12834', columns: undefined, x12834 })).toEqual([
    expect.stringMatching(/benefits\[0\] the 834 guide has no insurance line for constructor/),
  ])
})
