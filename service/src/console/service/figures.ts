/** The sum of a metric's values over its labels, or only over those with one label value; 0 when there is none. */
export type Figures = (name: string, label?: readonly [name: string, value: string]) => number

/** Reads figures from the text for Prometheus, so that the console always agrees with the metrics. */
export function readFigures(text: string): Figures {
  const values = [...text.matchAll(/^([a-z_]+)(?:\{([^}]*)\})? (\S+)/gm)].map(
    ([, name, labels = '', value]) => ({ name, labels, value: Number(value) }),
  )
  return (name, label) =>
    values
      .filter(one => one.name === name && (!label || one.labels.includes(`${label[0]}="${label[1]}"`)))
      .reduce((sum, one) => sum + one.value, 0)
}
