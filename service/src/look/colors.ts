/** The colors that a partner may set, each `#rrggbb`; absent ones are the service's own. */
export type Colors = {
  /** The color of buttons, links and marks. */
  readonly accent: string
  /** Text on the accent. */
  readonly onaccent: string
  readonly background: string
  /** Cards, inputs and the sheet of a form. */
  readonly surface: string
  readonly text: string
  /** Less important text. */
  readonly muted: string
  /** The borders of controls. */
  readonly line: string
}

/** A color scheme of the page. */
export type Scheme = 'light' | 'dark'

/** The names of the colors that a look can set. */
export const colorNames = ['accent', 'onaccent', 'background', 'surface', 'text', 'muted', 'line'] as const

/** The service's own colors; the page's style sheet holds the same ones. */
export const ownColors: Readonly<Record<Scheme, Colors>> = {
  light: {
    accent: '#0b6650',
    onaccent: '#ffffff',
    background: '#f4f5f1',
    surface: '#ffffff',
    text: '#17201d',
    muted: '#55615c',
    line: '#76827c',
  },
  dark: {
    accent: '#74d3b2',
    onaccent: '#06241b',
    background: '#0f1513',
    surface: '#182020',
    text: '#e9efec',
    muted: '#a5b2ac',
    line: '#82908a',
  },
}

/** Colors whose meaning no partner may change; they must be readable on the partner's surfaces all the same. */
const fixed = {
  light: { danger: '#a8201a', warn: '#7a4a00' },
  dark: { danger: '#ffb3a9', warn: '#f2c46d' },
} as const

/** The contrast of two colors as WCAG defines it, from 1 to 21. */
export function contrast(one: string, other: string): number {
  const [dark = 0, light = 0] = [luminance(one), luminance(other)].sort((a, b) => a - b)
  return (light + 0.05) / (dark + 0.05)
}

type Pair = {
  readonly front: string
  readonly back: string
  readonly names: string
  readonly needs: 3 | 4.5
}

/** One sentence for each pair of colors of which one could not be read on the other. */
export function contrastProblems(scheme: Scheme, colors: Colors): readonly string[] {
  return pairsOf(scheme, colors)
    .filter(pair => contrast(pair.front, pair.back) < pair.needs)
    .map(
      ({ front, back, names, needs }) =>
        `${scheme}: ${names} (${front} and ${back}) has a contrast of ${floor(
          contrast(front, back),
        )}:1, it needs ${needs}:1`,
    )
}

function pairsOf(scheme: Scheme, colors: Colors): readonly Pair[] {
  const { background, surface, accent, onaccent, text, muted, line } = colors
  const { danger, warn } = fixed[scheme]
  const soft = softOf(colors)
  const dangersoft = mix(danger, surface, 0.08)
  const pair = (names: string, front: string, back: string, needs: 3 | 4.5 = 4.5): Pair => {
    return { names, front, back, needs }
  }
  return [
    pair('text on background', text, background),
    pair('text on surface', text, surface),
    pair('text on a panel tinted with accent', text, soft),
    pair('muted on background', muted, background),
    pair('muted on surface', muted, surface),
    pair('accent on background', accent, background),
    pair('accent on surface', accent, surface),
    pair('accent on a panel tinted with it', accent, soft),
    pair('onaccent on accent', onaccent, accent),
    pair('line on background', line, background, 3),
    pair('line on surface', line, surface, 3),
    pair('the error color on surface', danger, surface),
    pair('the error color on background', danger, background),
    pair('the error color on its own tint', danger, dangersoft),
    pair('the warning color on surface', warn, surface),
    pair('text on a panel tinted with the error color', text, dangersoft),
  ]
}

function softOf(colors: Colors): string {
  return mix(colors.accent, colors.surface, 0.1)
}

function mix(front: string, back: string, share: number): string {
  const below = channels(back)
  const mixed = channels(front).map((value, at) => Math.round(value * share + (below[at] ?? 0) * (1 - share)))
  return `#${mixed.map(value => value.toString(16).padStart(2, '0')).join('')}`
}

function luminance(color: string): number {
  const [red = 0, green = 0, blue = 0] = channels(color).map(value => {
    const share = value / 255
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4
  })
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue
}

function channels(color: string): readonly number[] {
  return [1, 3, 5].map(at => Number.parseInt(color.slice(at, at + 2), 16))
}

/** A color like `#abc` or `#aabbcc` in its long form. */
export function longForm(color: string): string {
  const small = color.toLowerCase()
  return small.length === 7 ? small : `#${[...small.slice(1)].map(digit => digit + digit).join('')}`
}

/** Rounds down, so that a contrast just below the limit is never reported as the limit. */
function floor(ratio: number): number {
  return Math.floor(ratio * 100) / 100
}

/** The colors as custom properties of a style sheet, with those that follow from them. */
export function properties(scheme: Scheme, colors: Colors): string {
  const { text, surface } = colors
  const { danger, warn } = fixed[scheme]
  const derived = {
    soft: softOf(colors),
    hair: mix(text, surface, 0.14),
    danger,
    ondanger: scheme === 'light' ? '#ffffff' : '#3b0905',
    dangersoft: mix(danger, surface, 0.08),
    warn,
  }
  return Object.entries({ ...colors, ...derived })
    .map(([name, value]) => `--${name}:${value};`)
    .join('')
}
