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
