import {
  type Colors,
  colorNames,
  contrastProblems,
  longForm,
  ownColors,
  properties,
  type Scheme,
} from './colors.ts'

/** A partner's complete look, after it has passed the check. */
type CompleteLook = {
  readonly scheme: 'auto' | 'light' | 'dark'
  readonly light: Colors
  readonly dark: Colors
  /** Corner radius in CSS pixels, 0 to 24. */
  readonly radius: number
  /** Font families in order of preference; the system's font follows them. */
  readonly fonts: readonly string[]
  /**
   * The partner's logo, shown in place of its initial: a data address, or the address of a stored file
   * (`files/HASH/NAME`).
   */
  readonly logo: string | undefined
}

/** The result of a check: a complete look, or one sentence for each fault. */
export type CheckedLook =
  | { readonly ok: true; readonly look: CompleteLook }
  | { readonly ok: false; readonly problems: readonly string[] }

/**
 * Checks a proposed look, from a partner's settings or an address: names, forms, and contrast in
 * light and dark (4.5:1 for text, 3:1 for controls). A refusal names the pair of colors, its contrast and the
 * contrast needed.
 */
export function checkAppearance(proposed: unknown): CheckedLook {
  if (!isRecord(proposed)) return { ok: false, problems: ['appearance must be an object'] }
  const problems = [
    ...unknownNames(proposed, ['scheme', 'light', 'dark', 'radius', 'fonts', 'logo'], ''),
    ...formProblems(proposed),
    ...colorProblems(proposed, 'light'),
    ...colorProblems(proposed, 'dark'),
  ]
  if (problems.length > 0) return { ok: false, problems }
  const look = complete(proposed)
  const pairs = (['light', 'dark'] as const).flatMap(scheme => contrastProblems(scheme, look[scheme]))
  return pairs.length > 0 ? { ok: false, problems: pairs } : { ok: true, look }
}

/** The style sheet of a complete look: custom properties and the logo. It is linked after the page's own style sheet. */
export function lookCss(look: CompleteLook): string {
  const { scheme, light, dark, radius, fonts, logo } = look
  const mark = logo
    ? `.mark{background:url("${
        logo.startsWith('files/') ? '../' : ''
      }${logo}") center/contain no-repeat;font-size:0}.mark svg{display:none}`
    : ''
  const list = [...fonts.map(name => `"${name}"`), 'system-ui', 'sans-serif'].join(',')
  const common = `--radius:${radius}px;${fonts.length > 0 ? `--fonts:${list};` : ''}`
  if (scheme !== 'auto') {
    return `:root{color-scheme:${scheme};${common}${properties(scheme, look[scheme])}}${mark}`
  }
  return `:root{${common}${properties(
    'light',
    light,
  )}}@media (prefers-color-scheme:dark){:root{${properties('dark', dark)}}}${mark}`
}

/** A complete look as the query of its style sheet's address, so that the service need not store it. */
export function lookQuery(look: CompleteLook): string {
  return new URLSearchParams({ look: JSON.stringify(look) }).toString()
}

/**
 * The look in such a query. It is checked again, because anybody can write an address. Refuses as `checkAppearance`
 * does.
 */
export function parseLookQuery(query: URLSearchParams): CheckedLook {
  try {
    return checkAppearance(JSON.parse(query.get('look') ?? ''))
  } catch {
    return { ok: false, problems: ['look must be JSON'] }
  }
}

/** The complete look of a proposal that was checked: all its names are known, and all its colors are colors. */
function complete(proposed: Readonly<Record<string, unknown>>): CompleteLook {
  const colors = (scheme: Scheme): Colors => {
    const given = isRecord(proposed[scheme]) ? Object.entries(proposed[scheme]) : []
    return {
      ...ownColors[scheme],
      ...Object.fromEntries(given.map(([name, color]) => [name, longForm(String(color))])),
    }
  }
  const { scheme, radius, fonts, logo } = proposed
  return {
    scheme: scheme === 'light' || scheme === 'dark' ? scheme : 'auto',
    light: colors('light'),
    dark: colors('dark'),
    radius: typeof radius === 'number' ? radius : 12,
    fonts: Array.isArray(fonts) ? fonts.map(String) : [],
    logo: typeof logo === 'string' ? logo : undefined,
  }
}

/** The logo is part of the style sheet's address, so its length is limited. */
const LONGEST_LOGO = 3000
function isLogo(logo: unknown): boolean {
  return (
    typeof logo === 'string' &&
    logo.length <= LONGEST_LOGO &&
    /^(data:image\/(?:svg\+xml|png|webp);base64,[A-Za-z0-9+/]+={0,2}|files\/[0-9a-f]{64}\/[a-z0-9-]+\.(?:png|webp))$/.test(
      logo,
    )
  )
}

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
    problems.push(
      `logo must be data:image/svg+xml, png or webp in base64, at most ${LONGEST_LOGO} characters`,
    )
  return problems
}

function colorProblems(proposed: Readonly<Record<string, unknown>>, scheme: Scheme): readonly string[] {
  const colors = proposed[scheme]
  if (colors === undefined) return []
  if (!isRecord(colors)) return [`${scheme} must be an object of colors`]
  const wrong = Object.entries(colors)
    .filter(([, value]) => typeof value !== 'string' || !/^#([0-9a-f]{3}|[0-9a-f]{6})$/i.test(value))
    .map(([name]) => `${scheme}.${name} must be a color like #0b6650`)
  return [...unknownNames(colors, colorNames, `${scheme}.`), ...wrong]
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

/** Whether a parsed JSON value is an object with members. */
export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
