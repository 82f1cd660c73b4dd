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
