import fc from 'fast-check'
import { expect, test } from 'vitest'
import { html } from './html.ts'

test('text is escaped, markup stays, nothing shows nothing', () => {
  const name = '<img src=x onerror="alert(1)">'
  expect(html`<p title="${name}">${name}${html`<b>${1}</b>`}${null}${undefined}${false}</p>`.markup).toBe(
    '<p title="&lt;img src=x onerror=&quot;alert(1)&quot;&gt;">&lt;img src=x onerror=&quot;alert(1)&quot;&gt;<b>1</b></p>',
  )
})

test('lists are joined', () => {
  expect(html`${['a', ['b', html`<br>`]]}`.markup).toBe('ab<br>')
})

test('no text can open a tag or leave an attribute', () => {
  fc.assert(
    fc.property(fc.string(), text => {
      const { markup } = html`<p title="${text}">`
      expect(markup.slice('<p title="'.length, -'">'.length)).not.toMatch(/[<>"'`]/)
    }),
  )
})
