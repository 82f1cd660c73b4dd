import { execFileSync, spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { beforeAll, describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { processMetrics } from '../../service/src/system/process-metrics.ts'
import { startTestService } from '../rig.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
function read(file: string) {
  return readFileSync(`${root}/${file}`, 'utf8')
}

type Rule = { alert: string; expr: string; labels: { severity: string }; annotations: Record<string, string> }
const { groups } = parse(read('deploy/prometheus/alerts.yml')) as { groups: { rules: Rule[] }[] }
const rules = groups.flatMap(group => group.rules)
type Panel = { title: string; targets: { expr: string }[] }
const dashboard = JSON.parse(read('deploy/grafana/dashboard.json')) as { panels: Panel[] }

const hasPromtool = spawnSync('promtool', ['--version']).status === 0
if (!hasPromtool)
  console.warn('!!!! promtool (of the package prometheus) is missing: the alert rules are not tried by it.')

/** The metric names in an expression. A name comes before a selector or a range, or ends an operand. */
function namesIn(expr: string): string[] {
  return (
    expr
      .replace(/\{[^}]*\}|"[^"]*"|\[[^\]]*\]/g, ' ')
      .replace(/\b(by|without|offset)\s*(\([^)]*\)|\w+)/g, ' ')
      .match(/\b[a-z]+(?:_[a-z0-9]+)+\b|\bup\b/g)
      ?.filter(name => name !== 'histogram_quantile' && name !== 'label_values') ?? []
  )
}

describe('alerts and board', () => {
  let given: ReadonlySet<string>
  let labels: ReadonlyMap<string, ReadonlySet<string>>
  beforeAll(async () => {
    await using service = await startTestService()
    const text = (await service.service().metrics()) + (await processMetrics())
    const samples = [...text.matchAll(/^(\w+)(?:\{(.*)\})? /gm)]
    given = new Set(['up', ...samples.map(([, name = '']) => name)])
    const found = new Map<string, Set<string>>()
    for (const [, name = '', list = ''] of samples)
      for (const [, label = '', value = ''] of list.matchAll(/(\w+)="([^"]*)"/g))
        found.set(`${name} ${label}`, (found.get(`${name} ${label}`) ?? new Set<string>()).add(value))
    labels = found
  })

  test('ask for numbers that there are', () => {
    const asked = [
      ...rules.map(rule => ({ of: rule.alert, expr: rule.expr })),
      ...dashboard.panels.flatMap(panel => panel.targets.map(({ expr }) => ({ of: panel.title, expr }))),
    ]
    expect(asked.length).toBeGreaterThan(40)
    for (const { of, expr } of asked) {
      const names = namesIn(expr)
      expect([of, names.length > 0, names.filter(name => !given.has(name))]).toEqual([of, true, []])
    }
  })

  test('select by labels and values that there are', () => {
    const selected = [
      ...rules.map(({ expr }) => expr),
      ...dashboard.panels.flatMap(({ targets }) => targets.map(({ expr }) => expr)),
    ]
      .flatMap(expr => [...expr.matchAll(/(\w+)\{([^}]*)\}/g)])
      .flatMap(([, name = '', list = '']) =>
        [...list.matchAll(/(\w+)(=~?|!~?)"([^"]*)"/g)].map(([, label = '', how = '', value = '']) => ({
          name,
          label,
          how,
          value,
        })),
      )
      .filter(({ label }) => label !== 'job')
    const unknown = selected.filter(({ name, label, how, value }) => {
      const values = labels.get(`${name} ${label}`)
      if (!values) return true
      const isPattern = how.endsWith('~')
      // A status class need not be in the list of those known beforehand.
      if (label === 'status') return false
      return (isPattern ? value.split('|') : [value]).some(one => !values.has(one))
    })
    expect(selected.length).toBeGreaterThan(5)
    expect(unknown).toEqual([])
  })
})

describe('the runbook', () => {
  const runbook = read('docs/runbook.md')
  const sections = [...runbook.matchAll(/^## (\w+)\n\n\*(page|ticket)\.\*/gm)]

  test('has a section for each alert, as severe as the alert, and for no other', () => {
    expect(sections.map(([, name, severity]) => `${name} ${severity}`)).toEqual(
      rules.map(({ alert, labels: { severity } }) => `${alert} ${severity}`),
    )
    expect(runbook.match(/^## /gm)).toHaveLength(rules.length)
  })

  test('is where each alert points', () => {
    for (const { alert, annotations } of rules)
      expect(annotations['runbook']).toBe(`docs/runbook.md#${alert.toLowerCase()}`)
  })

  test('names numbers, events and commands that there are', () => {
    const operating = read('docs/operating.md')
    const named = [...runbook.matchAll(/`((?:http|webhook|database|due|process)_[a-z_]+)`/g)].map(
      ([, name = '']) => name,
    )
    expect(named.length).toBeGreaterThan(8)
    expect(
      named.filter(name => !operating.includes(name) && !operating.includes('other `webhook_…`')),
    ).toEqual([])
    const help = execFileSync(process.execPath, [`${root}/service/bin/enrolment.js`, '--help'], {
      encoding: 'utf8',
    })
    const commands = [...runbook.matchAll(/`enrolment ([a-z]+(?: [a-z]+)?)/g)].map(([, words = '']) => words)
    const isListed = (words: string) => {
      const [first = '', second = ''] = words.split(' ')
      return new RegExp(`^  ${first}\\b.*\\b${second}\\b`, 'm').test(help)
    }
    expect(commands.length).toBeGreaterThan(3)
    expect(commands.filter(words => !isListed(words))).toEqual([])
  })
})

describe.skipIf(!hasPromtool)('promtool', () => {
  const folder = `${root}/deploy/prometheus`
  test.each([
    ['check', 'rules', 'alerts.yml'],
    ['check', 'config', 'prometheus.yml'],
    ['test', 'rules', 'alerts.test.yml'],
  ])('%s %s %s', (...words) => {
    const { status, stdout, stderr } = spawnSync('promtool', words, { cwd: folder, encoding: 'utf8' })
    expect(`${status} ${stdout}${stderr}`).toMatch(/^0 /)
  })
})
