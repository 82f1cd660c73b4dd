/** The sum of a metric's values over its labels, or over those where a label has one value; 0 where there is none. */
export type Figures = (name: string, label?: readonly [name: string, value: string]) => number

/** Reads figures out of the text for Prometheus, so that the console never says anything else than the metrics. */
export function readFigures(text: string): Figures {
  const values = [...text.matchAll(/^([a-z_]+)(?:\{([^}]*)\})? (\S+)/gm)].map(
    ([, name, labels = '', value]) => ({
      ...{ name, labels, value: Number(value) },
    }),
  )
  return (name, label) =>
    values
      .filter(one => one.name === name && (!label || one.labels.includes(`${label[0]}="${label[1]}"`)))
      .reduce((sum, one) => sum + one.value, 0)
}
