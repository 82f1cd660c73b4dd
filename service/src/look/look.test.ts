import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { contrast, ownColors } from './colors.ts'
import { checkLook, lookCss, lookQuery, parseLookQuery, withLook } from './look.ts'

const hex = fc.integer({ min: 0, max: 0xffffff }).map(value => `#${value.toString(16).padStart(6, '0')}`)

test('black on white has the greatest contrast there is, and order does not matter', () => {
  expect(contrast('#000000', '#ffffff')).toBeCloseTo(21)
  expect(contrast('#ffffff', '#000000')).toBeCloseTo(21)
  expect(contrast('#767676', '#ffffff')).toBeGreaterThan(4.5)
  expect(contrast('#777777', '#ffffff')).toBeLessThan(4.5)
})

test('our own colors pass their own check', () => {
  expect(checkLook({})).toMatchObject({ ok: true })
})

const css = readFileSync(new URL('../../assets/page/tokens.css', import.meta.url), 'utf8')

test('the dark scheme changes colors and nothing else', () => {
  const [, dark = '', ...more] = css.split('prefers-color-scheme')
  expect(more).toEqual([])
  const block = /^: dark\) \{\n {2}:root \{\n([^}]*)\n {2}\}\n\}\n/.exec(dark)?.[1] ?? 'no block'
  expect(block.split('\n').filter(line => !/^ {4}--\w+: #[0-9a-f]{6};$/.test(line))).toEqual([])
})

test('the style sheet holds the same colors as the check', () => {
  const [light = '', dark = ''] = css.split('@media (prefers-color-scheme: dark)')
  for (const [name, color] of Object.entries(ownColors.light)) expect(light).toContain(`--${name}: ${color};`)
  for (const [name, color] of Object.entries(ownColors.dark)) expect(dark).toContain(`--${name}: ${color};`)
})

test('a look that cannot be read is refused with the pair named', () => {
  const checked = checkLook({ colors: { light: { accent: '#ffd500' } } })
  expect(checked).toMatchObject({ ok: false })
  if (checked.ok) throw new Error('accepted')
  expect(checked.problems).toContain(
    'light: onaccent on accent (#ffffff and #ffd500) has a contrast of 1.42:1, it needs 4.5:1',
  )
  expect(checked.problems.every(problem => problem.startsWith('light: '))).toBe(true)
})

test('a look that fails in the dark alone is refused, too', () => {
  expect(checkLook({ colors: { dark: { text: '#333' } } })).toMatchObject({ ok: false })
})

test.each([
  [null, 'a look must be an object'],
  [{ color: 'red' }, 'color is not known'],
  [{ colors: { radius: 3 } }, 'colors.radius is not known'],
  [{ colors: { light: { accent: 'red' } } }, 'light.accent must be a color'],
  [{ colors: { light: { accent: '#fff;}body{display:none' } } }, 'light.accent must be a color'],
  [{ colors: { light: { glow: '#ffffff' } } }, 'light.glow is not known'],
  [{ radius: '4px' }, 'radius must be'],
  [{ radius: Number.NaN }, 'radius must be'],
  [{ font: 'x"; } * { display: none' }, 'font must be'],
  [{ scheme: 'sepia' }, 'scheme must be'],
  [{ logo: 'https://app.example.com/logo.png' }, 'logo must be'],
  [{ logo: `${'a'.repeat(64)}/logo.png") } * { display: none` }, 'logo must be'],
])('%j is refused in words', (proposed, words) => {
  const checked = checkLook(proposed)
  expect(checked.ok ? [] : checked.problems.join()).toContain(words)
})

test('every accepted look keeps its contrasts and survives its own address', () => {
  fc.assert(
    fc.property(hex, hex, fc.integer({ min: 0, max: 24 }), (accent, onaccent, radius) => {
      const checked = checkLook({ colors: { light: { accent, onaccent } }, radius })
      if (!checked.ok) return
      expect(contrast(onaccent, accent)).toBeGreaterThanOrEqual(4.5)
      expect(parseLookQuery(new URLSearchParams(lookQuery(checked.look)))).toEqual(checked)
      expect(lookCss(checked.look)).toMatch(/^[^<>\\]*$/)
    }),
  )
})

test('a logo stands in the place of the initial, and a copy carries it inside', () => {
  const logo = `${'0a'.repeat(32)}/logo.png`
  const look = withLook({}, { logo, font: 'grotesque', radius: '0' })
  expect(parseLookQuery(new URLSearchParams(lookQuery(look)))).toEqual({ ok: true, look })
  expect(lookCss(look)).toContain(`.mark{background:url("../files/${logo}")`)
  expect(lookCss(look, 'data:image/png;base64,AAAA')).toContain('.mark{background:url("data:image/png;')
})

test('an address that nobody of ours made is refused', () => {
  expect(parseLookQuery(new URLSearchParams('look=%7B'))).toMatchObject({ ok: false })
  expect(parseLookQuery(new URLSearchParams(''))).toMatchObject({ ok: false })
})
