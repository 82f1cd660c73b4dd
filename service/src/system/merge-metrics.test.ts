import { expect, test } from 'vitest'
import { mergeMetrics } from './merge-metrics.ts'

test('samples of several processes keep their values and labels, and stand together by metric', () => {
  const first = '# HELP a Of one\n# TYPE a counter\na{x="{1} 2"} 3\n\n# HELP b B\n# TYPE b gauge\nb 4.5\n'
  const second = '# HELP b B, reworded\n# TYPE b gauge\nb 1e-3\n# HELP a Of one\n# TYPE a counter\na 5\n'
  expect(
    mergeMetrics(
      new Map([
        ['1', first],
        ['2', second],
        ['3', ''],
      ]),
    ),
  ).toBe(
    [
      '# HELP a Of one',
      '# TYPE a counter',
      'a{process="1",x="{1} 2"} 3',
      'a{process="2"} 5',
      '',
      '# HELP b B',
      '# TYPE b gauge',
      'b{process="1"} 4.5',
      'b{process="2"} 1e-3',
      '',
    ].join('\n'),
  )
})
