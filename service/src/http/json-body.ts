import { ServiceError } from './service-error.ts'

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/**
 * Reads a JSON body as contract §2 wants it: valid UTF-8 without a byte order mark, no NUL and no lone surrogate in
 * any string, no member twice, nested `maxDepth` deep at most. Refuses with `malformed_json`.
 */
export const readJson = (bytes: Buffer, maxDepth: number): unknown => {
  let text: string
  try {
    text = decoder.decode(bytes)
  } catch {
    throw malformed('The body must be valid UTF-8.')
  }
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    throw malformed('The body must be one JSON value.')
  }
  scan(text, maxDepth)
  return value
}

const malformed = (detail: string) => new ServiceError('malformed_json', detail)

/** What JSON.parse lets through: depth, double members, NUL, lone surrogates. The text is known to be JSON. */
const scan = (text: string, maxDepth: number): void => {
  const members: (Set<string> | undefined)[] = []
  let expectsName = false
  for (let at = 0; at < text.length; at += 1) {
    const char = text.charCodeAt(at)
    if (char === 0x22) {
      const end = endOfString(text, at)
      const raw = text.slice(at, end + 1)
      if (raw.includes('\\u') || raw.includes('\0')) checkString(JSON.parse(raw) as string)
      if (expectsName)
        noteMember(members.at(-1), raw.includes('\\') ? (JSON.parse(raw) as string) : raw.slice(1, -1))
      expectsName = false
      at = end
    } else if (char === 0x7b || char === 0x5b) {
      members.push(char === 0x7b ? new Set() : undefined)
      if (members.length > maxDepth) throw malformed(`The body must not be nested deeper than ${maxDepth}.`)
      expectsName = char === 0x7b
    } else if (char === 0x7d || char === 0x5d) {
      members.pop()
      expectsName = false
    } else if (char === 0x2c) {
      expectsName = members.at(-1) !== undefined
    }
  }
}

const endOfString = (text: string, start: number): number => {
  let at = start + 1
  while (text.charCodeAt(at) !== 0x22) at += text.charCodeAt(at) === 0x5c ? 2 : 1
  return at
}

const checkString = (value: string): void => {
  if (value.includes('\0')) throw malformed('The body must not hold NUL characters.')
  if (!value.isWellFormed()) throw malformed('The body must not hold lone surrogates.')
}

const noteMember = (known: Set<string> | undefined, name: string): void => {
  if (!known) return
  if (known.has(name)) throw malformed('The body must not name a member twice.')
  if (name === '__proto__') throw malformed('The body must not name a member __proto__.')
  known.add(name)
}
