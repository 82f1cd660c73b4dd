/**
 * A partner's look: colors, fonts, corners and logo. A look is accepted only when every text in it can be read.
 */
import { OperatorError } from '../operator-error.ts'
import {
  type Colors,
  colorNames,
  contrastProblems,
  longForm,
  ownColors,
  properties,
  type Scheme,
} from './colors.ts'

/**
 * The fonts that a partner may choose. Each is a list of families that devices have installed, because the service
 * serves no font files.
 */
export const FONTS = {
  system: [],
  grotesque: ['Inter', 'Roboto', 'Helvetica Neue', 'Arial Nova', 'Nimbus Sans'],
  humanist: ['Seravek', 'Gill Sans Nova', 'Ubuntu', 'Calibri', 'DejaVu Sans'],
  geometric: ['Avenir', 'Montserrat', 'Corbel', 'URW Gothic'],
  rounded: ['Quicksand', 'Comfortaa', 'Hiragino Maru Gothic ProN', 'Arial Rounded MT Bold'],
  serif: ['Charter', 'Bitstream Charter', 'Cambria', 'Georgia', 'Times New Roman'],
} as const satisfies Readonly<Record<string, readonly string[]>>

/** A partner's look as it is stored, and in the address of its style sheet; absent parts have the service's own look. */
export type Look = {
  /** The path of a stored file below `/files/`. */
  readonly logo?: string
  readonly scheme?: 'auto' | Scheme
  readonly colors?: { readonly [scheme in Scheme]?: Readonly<Record<string, string>> }
  /** Corner radius in CSS pixels, 0 to 24. */
  readonly radius?: number
  readonly font?: keyof typeof FONTS
}

/**
 * The settings of a look as the operator writes them: an empty text removes a part, `undefined` leaves it
 * unchanged. `colors` is JSON such as `{"light":{"accent":"#0b4f9e"}}`.
 */
export type LookSettings = { readonly [part in keyof Look]?: string | undefined }

/** The result of a check: the look, or one sentence for each fault. */
type CheckedLook =
  | { readonly ok: true; readonly look: Look }
  | { readonly ok: false; readonly problems: readonly string[] }

/**
 * Checks a proposed look, from a partner's settings or an address: names, forms, and contrast in
 * light and dark (4.5:1 for text, 3:1 for controls). A refusal names the pair of colors, its contrast and the
 * contrast needed.
 */
export function checkLook(proposed: unknown): CheckedLook {
  if (!isRecord(proposed)) return { ok: false, problems: ['a look must be an object'] }
  const { colors = {} } = proposed
  const problems = [
    ...unknownNames(proposed, ['scheme', 'colors', 'radius', 'font', 'logo'], ''),
    ...formProblems(proposed),
    ...(isRecord(colors)
      ? [
          ...unknownNames(colors, ['light', 'dark'], 'colors.'),
          ...bothSchemes(one => colorProblems(colors, one)),
        ]
      : ['colors must be JSON like {"light":{"accent":"#0b4f9e"},"dark":{…}}']),
  ]
  if (problems.length > 0) return { ok: false, problems }
  const look: Look = proposed
  const pairs = bothSchemes(scheme => contrastProblems(scheme, colorsOf(look, scheme)))
  return pairs.length > 0 ? { ok: false, problems: pairs } : { ok: true, look }
}

/** The look with these settings applied. Throws OperatorError that names each fault, as `checkLook` does. */
export function withLook(known: Look, { colors, radius, ...texts }: LookSettings): Look {
  const given = {
    ...texts,
    colors: colors && parsed(colors),
    // An empty text is removed below; `Number` would make it 0.
    radius: radius && Number(radius),
  }
  const set = Object.entries(given).filter(([, value]) => value !== undefined)
  const merged = Object.entries({ ...known, ...Object.fromEntries(set) })
  const checked = checkLook(Object.fromEntries(merged.filter(([, value]) => value !== '')))
  if (!checked.ok) throw new OperatorError(`The look is refused: ${checked.problems.join('; ')}.`)
  return checked.look
}

/** The style sheet of a look: custom properties and the logo, which `mark` replaces. It is linked after the page's own. */
export function lookCss(look: Look, mark = look.logo && `../files/${look.logo}`): string {
  const { scheme = 'auto', radius = 12, font = 'system' } = look
  const logo = mark
    ? `.mark{background:url("${mark}") center/contain no-repeat;font-size:0}.mark svg{display:none}`
    : ''
  const list = [...FONTS[font].map(name => `"${name}"`), 'system-ui', 'sans-serif'].join(',')
  const common = `--radius:${radius}px;${font === 'system' ? '' : `--fonts:${list};`}`
  const of = (one: Scheme) => properties(one, colorsOf(look, one))
  if (scheme !== 'auto') return `:root{color-scheme:${scheme};${common}${of(scheme)}}${logo}`
  return `:root{${common}${of('light')}}@media (prefers-color-scheme:dark){:root{${of('dark')}}}${logo}`
}

/** A look as the query of its style sheet's address, so that the service need not store a style sheet. */
export function lookQuery(look: Look): string {
  return new URLSearchParams({ look: JSON.stringify(look) }).toString()
}

/** The look in such a query. It is checked again, because anybody can write an address. Refuses as `checkLook` does. */
export function parseLookQuery(query: URLSearchParams): CheckedLook {
  return checkLook(parsed(query.get('look') ?? ''))
}

function parsed(json: string): unknown {
  try {
    return JSON.parse(json)
  } catch {
    return json
  }
}

function bothSchemes<T>(list: (scheme: Scheme) => readonly T[]): readonly T[] {
  return [...list('light'), ...list('dark')]
}

/** All colors of a look that was checked. */
function colorsOf({ colors }: Look, scheme: Scheme): Colors {
  const given = Object.entries(colors?.[scheme] ?? {})
  return {
    ...ownColors[scheme],
    ...Object.fromEntries(given.map(([name, color]) => [name, longForm(color)])),
  }
}

function formProblems(proposed: Readonly<Record<string, unknown>>): readonly string[] {
  const { scheme, radius, font, logo } = proposed
  const problems: string[] = []
  if (scheme !== undefined && scheme !== 'auto' && scheme !== 'light' && scheme !== 'dark')
    problems.push('scheme must be auto, light or dark')
  if (radius !== undefined && !(typeof radius === 'number' && radius >= 0 && radius <= 24))
    problems.push('radius must be a number from 0 to 24')
  if (font !== undefined && !Object.keys(FONTS).includes(String(font)))
    problems.push(`font must be one of ${Object.keys(FONTS).join(', ')}`)
  if (logo !== undefined && !/^[0-9a-f]{64}\/[a-z0-9-]+\.(?:png|webp)$/.test(String(logo)))
    problems.push('logo must be the path of a stored PNG or WebP file')
  return problems
}

function colorProblems(colors: Readonly<Record<string, unknown>>, scheme: Scheme): readonly string[] {
  const { [scheme]: given = {} } = colors
  if (!isRecord(given)) return [`${scheme} must be an object of colors`]
  const wrong = Object.entries(given)
    .filter(([, value]) => typeof value !== 'string' || !/^#([0-9a-f]{3}|[0-9a-f]{6})$/i.test(value))
    .map(([name]) => `${scheme}.${name} must be a color like #0b6650`)
  return [...unknownNames(given, colorNames, `${scheme}.`), ...wrong]
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

/** Whether a parsed JSON value is an object with members. */
function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
