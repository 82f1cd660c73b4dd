/**
 * A partner's look: colors, fonts, corners and logo. A look is accepted only when every text in it can be read.
 */
import { OperatorError } from '../operator-error.ts'
import { type CheckedLook, checkAppearance, isRecord } from './complete-look.ts'

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

/** The name of a font of the list. */
export type FontName = keyof typeof FONTS

/** A partner's look as it is stored; absent parts have the service's own look. `logo` is a path below `/files/`. */
export type Look = {
  readonly logo?: string
  readonly scheme?: 'auto' | 'light' | 'dark'
  readonly colors?: { readonly light?: ColorsGiven; readonly dark?: ColorsGiven }
  readonly radius?: number
  readonly font?: FontName
}
type ColorsGiven = Readonly<Record<string, string>>

/**
 * The settings of a look as the operator writes them: an empty text removes a part, `undefined` leaves it
 * unchanged.
 */
export type LookSettings = {
  /** The path of a stored file below `/files/`. */
  readonly logo?: string | undefined
  readonly scheme?: string | undefined
  /** JSON such as `{"light":{"accent":"#0b4f9e"}}`. */
  readonly colors?: string | undefined
  readonly radius?: string | undefined
  readonly font?: string | undefined
}

/** Checks a partner's look; refuses as `checkAppearance` does. */
export function checkLook({ logo, scheme, colors, radius, font }: Look): CheckedLook {
  return checkAppearance({
    scheme,
    light: colors?.light,
    dark: colors?.dark,
    radius,
    fonts: font && FONTS[font],
    logo: logo && `files/${logo}`,
  })
}

/**
 * The look with these settings applied. Throws OperatorError that names each fault, such as two colors with too
 * little contrast.
 */
export function withLook(known: Look, settings: LookSettings): Look {
  const { logo = known.logo, scheme = known.scheme, font = known.font } = settings
  const colors = settings.colors === undefined ? known.colors : readColors(settings.colors)
  const radius = settings.radius === undefined ? known.radius : readRadius(settings.radius)
  const look: Look = {
    ...(logo ? { logo } : {}),
    ...(scheme ? { scheme: oneOf('scheme', scheme, ['auto', 'light', 'dark'] as const) } : {}),
    ...(colors ? { colors } : {}),
    ...(radius === undefined ? {} : { radius }),
    ...(font ? { font: oneOf('font', font, Object.keys(FONTS) as FontName[]) } : {}),
  }
  const checked = checkLook(look)
  if (!checked.ok) throw new OperatorError(`The look is refused: ${checked.problems.join('; ')}.`)
  return look
}

function readColors(text: string): Look['colors'] {
  if (text === '') return undefined
  try {
    const colors: unknown = JSON.parse(text)
    const others = isRecord(colors) ? Object.keys(colors).filter(name => !/^(light|dark)$/.test(name)) : ['']
    if (others.length === 0) return colors as NonNullable<Look['colors']>
  } catch {
    // The error below says which form is right.
  }
  throw new OperatorError('--colors must be JSON like {"light":{"accent":"#0b4f9e"},"dark":{…}}.')
}

function readRadius(text: string): number | undefined {
  if (text === '') return undefined
  if (!/^\d{1,2}$/.test(text)) throw new OperatorError('--radius must be a whole number from 0 to 24.')
  return Number(text)
}

function oneOf<T extends string>(name: string, text: string, known: readonly T[]): T {
  const found = known.find(one => one === text)
  if (found === undefined) throw new OperatorError(`--${name} must be one of ${known.join(', ')}.`)
  return found
}
