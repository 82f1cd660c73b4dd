/**
 * One text of Prometheus made of those of several processes: each sample gets the label `process` with the name of its
 * process, and all samples of a metric stand together, as the format demands.
 */
export function mergeMetrics(texts: ReadonlyMap<string, string>): string {
  const families = new Map<string, { about: string; samples: string[] }>()
  for (const [name, text] of texts) {
    let samples: string[] = []
    for (const line of text.split('\n')) {
      if (line === '') continue
      if (!line.startsWith('#')) {
        samples.push(withLabel(line, name))
        continue
      }
      const [, , metric = ''] = line.split(' ', 3)
      const family = families.get(metric) ?? { about: '', samples: [] }
      families.set(metric, family)
      if (!family.about.includes(line.slice(0, '# HELP '.length))) family.about += `${line}\n`
      samples = family.samples
    }
  }
  return [...families.values()].map(({ about, samples }) => `${about}${samples.join('\n')}\n`).join('\n')
}

function withLabel(sample: string, name: string): string {
  const [, metric = '', labels = '', value = ''] = /^([^{ ]+)(?:\{(.*)\})?( .*)$/.exec(sample) ?? []
  return `${metric}{process="${name}"${labels === '' ? '' : `,${labels}`}}${value}`
}
