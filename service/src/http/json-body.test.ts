import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { readJson } from './json-body.ts'
import { ServiceError } from './service-error.ts'

type Read = { ok: true; value: unknown } | { ok: false }

function readFast(text: string): Read {
  try {
    return { ok: true, value: readJson(Buffer.from(text), 8) }
  } catch (error) {
    const isRefusal = error instanceof ServiceError && ['malformed_json', 'bad_request'].includes(error.code)
    if (isRefusal) return { ok: false }
    throw error
  }
}

function refusalOf(text: string): unknown {
  try {
    return readJson(Buffer.from(text), 8)
  } catch (error) {
    return error
  }
}

/** The same rules in a parser that reads one character after the other and uses JSON.parse only for strings. */
function readSlowly(text: string): Read {
  let at = 0
  const fail = (): never => {
    throw new SyntaxError()
  }
  const skip = () => {
    while (/[ \t\r\n]/.test(text[at] ?? '')) at += 1
  }
  const take = (form: RegExp): string => {
    const sticky = new RegExp(form.source, 'y')
    sticky.lastIndex = at
    const taken = sticky.exec(text)?.[0] ?? fail()
    at += taken.length
    return taken
  }
  const string = (): string => {
    const value = JSON.parse(
      // biome-ignore lint/suspicious/noControlCharactersInRegex: JSON strings hold none.
      take(/"(?:[^"\\\u0000-\u001f]|\\(?:["\\/bfnrt]|u[\da-fA-F]{4}))*"/),
    ) as string
    return value.includes('\0') || !value.isWellFormed() ? fail() : value
  }
  const list = <T>(close: string, item: () => T): T[] => {
    const items: T[] = []
    at += 1
    skip()
    if (text[at] !== close) {
      items.push(item())
      skip()
      while (text[at] === ',') {
        at += 1
        items.push(item())
        skip()
      }
    }
    if (text[at] !== close) fail()
    at += 1
    return items
  }
  const value = (depth: number): unknown => {
    skip()
    const sign = text[at]
    if ((sign === '{' || sign === '[') && depth === 8) fail()
    if (sign === '[') return list(']', () => value(depth + 1))
    if (sign === '"') return string()
    if (sign !== '{') return JSON.parse(take(/true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/))
    const names = new Set<string>()
    const members = list('}', (): [string, unknown] => {
      skip()
      const name = string()
      if (names.has(name) || name === '__proto__') fail()
      names.add(name)
      skip()
      if (text[at] !== ':') fail()
      at += 1
      return [name, value(depth + 1)]
    })
    return Object.fromEntries(members)
  }
  try {
    const read = value(0)
    skip()
    return at === text.length ? { ok: true, value: read } : { ok: false }
  } catch {
    return { ok: false }
  }
}

const string = fc.oneof(
  fc.constantFrom('"a"', '"b"', '"\\u0061"', '"\\u0000"', '"\\ud800"', '"\\ud83d\\ude00"', '"\\\\"', '"\\""'),
  fc.constantFrom('"{"', '"a,b"', '"]"', '"__proto__"', '"\\\\u0000"', '"\\/"', '""', '"é😀"'),
  fc.string().map(text => JSON.stringify(text)),
)
/**
 * No name ends in a backslash: after Node 26 has seen such a name, its JSON.parse takes the text `\"` in the same place
 * for the end of that name. No field of the interface has such a name.
 */
const name = string.filter(text => !text.endsWith('\\\\"'))
const space = fc.constantFrom('', '', '', ' ', '\n', '\t ')
/** JSON text that is mostly valid, and likely to have repeated members, escapes and deep nesting. */
const { document } = fc.letrec<{ document: string }>(tie => ({
  document: fc.oneof(
    { depthSize: 'large', withCrossShrink: true },
    fc.oneof(string, fc.constantFrom('0', '-1.5e3', 'true', 'null', '01', '+1', 'NaN', '')),
    fc
      .tuple(space, fc.array(tie('document'), { maxLength: 3 }))
      .map(([gap, items]) => `[${gap}${items.join(',')}]`),
    fc
      .tuple(space, fc.array(fc.tuple(name, tie('document')), { maxLength: 3 }))
      .map(([gap, members]) => `{${members.map(([key, item]) => `${gap}${key}${gap}:${item}`).join(',')}}`),
  ),
}))
const nested = fc
  .tuple(fc.integer({ min: 5, max: 11 }), document)
  .map(([depth, inner]) => `${'['.repeat(depth)}${inner}${']'.repeat(depth)}`)
const damaged = fc
  .tuple(document, fc.nat(), fc.constantFrom('"', '\\', '{', ']', ',', ':', '\0', '1', ' ', '\uFEFF'))
  .map(([text, place, sign]) => {
    const at = text.length === 0 ? 0 : place % text.length
    return text.slice(0, at) + sign + text.slice(at)
  })

describe('readJson', () => {
  test.each([
    ['{"userid":"a\\u0000"}', 'userid'],
    ['{"address":{"city":"\\u0000"}}', 'address.city'],
    ['{"benefits":["a",["\\u0000b"]]}', 'benefits[1][0]'],
    ['{"consents":[{"name":"x"},{"name":"\\u0000"}]}', 'consents[1].name'],
    ['{"not a name":"\\u0000"}', '(unnamed)'],
    ['"\\u0000"', 'body'],
  ])('names the field of a text with NUL: %s', (text, field) => {
    const fault = { field, code: 'nul', message: `${field} must not hold the character NUL` }
    expect(refusalOf(text)).toMatchObject({ code: 'bad_request', errors: [fault] })
  })

  test('a NUL in the name of a member is no JSON of ours', () => {
    expect(refusalOf('{"user\\u0000id":"a"}')).toMatchObject({ code: 'malformed_json' })
  })

  test('takes and refuses the same texts as a slow parser of the same rules, and reads the same values', () => {
    let taken = 0
    fc.assert(
      fc.property(fc.oneof(document, nested, damaged, fc.json({ maxDepth: 6 })), damagedText => {
        // Bytes on the wire cannot contain half of a surrogate pair: the encoder would replace it.
        const text = damagedText.toWellFormed()
        const slow = readSlowly(text)
        if (slow.ok) taken += 1
        expect(readFast(text)).toEqual(slow)
      }),
      { numRuns: 3000 },
    )
    // Both outcomes occurred.
    expect(taken).toBeGreaterThan(300)
    expect(taken).toBeLessThan(2900)
  })

  test('refuses bytes that are not UTF-8, wherever they stand', () => {
    fc.assert(
      fc.property(
        fc.constantFrom([0xff], [0xc3], [0xed, 0xa0, 0x80], [0xc0, 0xaf], [0xf4, 0x90, 0x80, 0x80], [0x80]),
        fc.string(),
        fc.string(),
        (bytes, before, after) => {
          const text = [JSON.stringify(before).slice(0, -1), JSON.stringify(after).slice(1)]
          const body = Buffer.concat([
            Buffer.from(text[0] ?? ''),
            Buffer.from(bytes),
            Buffer.from(text[1] ?? ''),
          ])
          expect(() => readJson(body, 8)).toThrow(ServiceError)
        },
      ),
    )
  })
})
