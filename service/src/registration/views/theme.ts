/** The colours a partner may set, each `#rrggbb`; what is absent is ours. */
export interface Colours {
  /** Buttons, links and marks. */
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

/** A partner's look that passed the check. */
export interface Theme {
  readonly scheme: 'auto' | 'light' | 'dark'
  readonly light: Colours
  readonly dark: Colours
  /** Corner radius in CSS pixels, 0 to 24. */
  readonly radius: number
  /** Font families in order, before our own list. */
  readonly fonts: readonly string[]
  /** The partner's mark as a data address, in the place of its initial. */
  readonly logo: string | undefined
}

/** What became of a proposed look: a theme, or one sentence for each thing that is wrong with it. */
export type CheckedTheme =
  | { readonly ok: true; readonly theme: Theme }
  | { readonly ok: false; readonly problems: readonly string[] }

/**
 * Checks a proposed look, as `appearance` of the embed or a partner's settings: names, forms, and contrast in light
 * and dark (text 4.5:1, controls 3:1). A refusal names the pair of colours, its contrast and what is needed.
 */
export function checkTheme(proposed: unknown): CheckedTheme {
  if (!isRecord(proposed)) return { ok: false, problems: ['appearance must be an object'] }
  const problems = [
    ...unknownNames(proposed, ['scheme', 'light', 'dark', 'radius', 'fonts', 'logo'], ''),
    ...formProblems(proposed),
    ...colourProblems(proposed, 'light'),
    ...colourProblems(proposed, 'dark'),
  ]
  if (problems.length > 0) return { ok: false, problems }
  const theme = complete(proposed)
  const pairs = (['light', 'dark'] as const).flatMap(scheme => contrastProblems(scheme, theme[scheme]))
  return pairs.length > 0 ? { ok: false, problems: pairs } : { ok: true, theme }
}

/** The style sheet of a theme: custom properties and the mark, to be linked after the page's own. */
export function themeCss(theme: Theme): string {
  const { scheme, light, dark, radius, fonts, logo } = theme
  const mark = logo
    ? `.mark{background:url("${logo}") center/contain no-repeat;font-size:0}.mark svg{display:none}`
    : ''
  const list = [...fonts.map(name => `"${name}"`), 'system-ui', 'sans-serif'].join(',')
  const common = `--radius:${radius}px;${fonts.length > 0 ? `--fonts:${list};` : ''}`
  if (scheme !== 'auto') {
    return `:root{color-scheme:${scheme};${common}${properties(scheme, theme[scheme])}}${mark}`
  }
  return `:root{${common}${properties('light', light)}}@media (prefers-color-scheme:dark){:root{${properties('dark', dark)}}}${mark}`
}

/** A theme as the query of the address that serves its style sheet, so that nothing has to be stored. */
export function themeQuery(theme: Theme): string {
  return new URLSearchParams({ theme: JSON.stringify(theme) }).toString()
}

/** The theme of such a query, checked anew, since an address can be written by anyone. Refuses as `checkTheme` does. */
export function parseThemeQuery(query: URLSearchParams): CheckedTheme {
  try {
    return checkTheme(JSON.parse(query.get('theme') ?? ''))
  } catch {
    return { ok: false, problems: ['theme must be JSON'] }
  }
}

/** The contrast of two colours as WCAG defines it, 1 to 21. */
export function contrast(one: string, other: string): number {
  const [dark = 0, light = 0] = [luminance(one), luminance(other)].sort((a, b) => a - b)
  return (light + 0.05) / (dark + 0.05)
}

/** Our own colours, which also stand in the style sheet. */
export const ownColours: Readonly<Record<'light' | 'dark', Colours>> = {
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

/** Colours with a meaning that no partner changes; they have to be readable on its surfaces all the same. */
const fixed = {
  light: { danger: '#a8201a', warn: '#7a4a00' },
  dark: { danger: '#ffb3a9', warn: '#f2c46d' },
} as const

const colourNames = ['accent', 'onaccent', 'background', 'surface', 'text', 'muted', 'line'] as const

type Scheme = 'light' | 'dark'

interface Pair {
  readonly front: string
  readonly back: string
  readonly names: string
  readonly needs: 3 | 4.5
}

function contrastProblems(scheme: Scheme, colours: Colours): readonly string[] {
  return pairsOf(scheme, colours)
    .filter(pair => contrast(pair.front, pair.back) < pair.needs)
    .map(
      ({ front, back, names, needs }) =>
        `${scheme}: ${names} (${front} and ${back}) has a contrast of ${floor(contrast(front, back))}:1, it needs ${needs}:1`,
    )
}

function pairsOf(scheme: Scheme, colours: Colours): readonly Pair[] {
  const { background, surface, accent, onaccent, text, muted, line } = colours
  const { danger, warn } = fixed[scheme]
  const soft = softOf(colours)
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
    pair('the error colour on surface', danger, surface),
    pair('the error colour on background', danger, background),
    pair('the error colour on its own tint', danger, dangersoft),
    pair('the warning colour on surface', warn, surface),
    pair('text on a panel tinted with the error colour', text, dangersoft),
  ]
}

function properties(scheme: Scheme, colours: Colours): string {
  const { text, surface } = colours
  const { danger, warn } = fixed[scheme]
  const derived = {
    soft: softOf(colours),
    hair: mix(text, surface, 0.14),
    danger,
    ondanger: scheme === 'light' ? '#ffffff' : '#3b0905',
    dangersoft: mix(danger, surface, 0.08),
    warn,
  }
  return Object.entries({ ...colours, ...derived })
    .map(([name, value]) => `--${name}:${value};`)
    .join('')
}

function complete(proposed: Readonly<Record<string, unknown>>): Theme {
  const colours = (scheme: Scheme): Colours => {
    const own: Record<string, string> = { ...ownColours[scheme] }
    const given = isRecord(proposed[scheme]) ? proposed[scheme] : {}
    for (const name of colourNames) {
      const colour = given[name]
      if (typeof colour === 'string') own[name] = longForm(colour)
    }
    return { ...ownColours[scheme], ...own }
  }
  const { scheme, radius, fonts, logo } = proposed
  return {
    scheme: scheme === 'light' || scheme === 'dark' ? scheme : 'auto',
    light: colours('light'),
    dark: colours('dark'),
    radius: typeof radius === 'number' ? radius : 12,
    fonts: Array.isArray(fonts) ? fonts.map(String) : [],
    logo: typeof logo === 'string' ? logo : undefined,
  }
}

/** It travels in the address of the style sheet, with the rest of the look. */
const longestLogo = 3000
const isLogo = (logo: unknown): boolean =>
  typeof logo === 'string' &&
  logo.length <= longestLogo &&
  /^data:image\/(?:svg\+xml|png|webp);base64,[A-Za-z0-9+/]+={0,2}$/.test(logo)

function formProblems(proposed: Readonly<Record<string, unknown>>): readonly string[] {
  const { scheme, radius, fonts, logo } = proposed
  const problems: string[] = []
  if (scheme !== undefined && scheme !== 'auto' && scheme !== 'light' && scheme !== 'dark')
    problems.push('scheme must be auto, light or dark')
  if (radius !== undefined && !(typeof radius === 'number' && radius >= 0 && radius <= 24))
    problems.push('radius must be a number from 0 to 24')
  if (fonts !== undefined && !(Array.isArray(fonts) && fonts.length <= 6 && fonts.every(isFontName)))
    problems.push('fonts must be at most 6 family names of letters, digits, spaces and hyphens')
  if (logo !== undefined && !isLogo(logo))
    problems.push(`logo must be data:image/svg+xml, png or webp in base64, at most ${longestLogo} characters`)
  return problems
}

function colourProblems(proposed: Readonly<Record<string, unknown>>, scheme: Scheme): readonly string[] {
  const colours = proposed[scheme]
  if (colours === undefined) return []
  if (!isRecord(colours)) return [`${scheme} must be an object of colours`]
  const wrong = Object.entries(colours)
    .filter(([, value]) => typeof value !== 'string' || !/^#([0-9a-f]{3}|[0-9a-f]{6})$/i.test(value))
    .map(([name]) => `${scheme}.${name} must be a colour like #0b6650`)
  return [...unknownNames(colours, colourNames, `${scheme}.`), ...wrong]
}

function unknownNames(
  given: Readonly<Record<string, unknown>>,
  known: readonly string[],
  prefix: string,
): readonly string[] {
  return Object.keys(given)
    .filter(name => !known.includes(name))
    .map(name => `${prefix}${name.slice(0, 40)} is not known; known are ${known.join(', ')}`)
}

function isFontName(name: unknown): boolean {
  return typeof name === 'string' && /^[A-Za-z0-9][A-Za-z0-9 -]{0,39}$/.test(name)
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function softOf(colours: Colours): string {
  return mix(colours.accent, colours.surface, 0.1)
}

function luminance(colour: string): number {
  const [red = 0, green = 0, blue = 0] = channels(colour).map(value => {
    const share = value / 255
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4
  })
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue
}

function mix(front: string, back: string, share: number): string {
  const below = channels(back)
  const mixed = channels(front).map((value, at) => Math.round(value * share + (below[at] ?? 0) * (1 - share)))
  return `#${mixed.map(value => value.toString(16).padStart(2, '0')).join('')}`
}

function channels(colour: string): readonly number[] {
  return [1, 3, 5].map(at => Number.parseInt(colour.slice(at, at + 2), 16))
}

function longForm(colour: string): string {
  const small = colour.toLowerCase()
  return small.length === 7 ? small : `#${[...small.slice(1)].map(digit => digit + digit).join('')}`
}

/** Rounded down, so that a contrast just below the need is never told as the need. */
function floor(ratio: number): number {
  return Math.floor(ratio * 100) / 100
}
