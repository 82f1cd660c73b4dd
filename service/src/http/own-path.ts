/**
 * The path and query of this text as the server itself would be asked for them; `/` for every other address. It is the
 * only judge of where a redirect by a text of the caller may lead. A path that begins with two slashes would be read as
 * the name of another host, and dots and backslashes can make such a path of one that does not look so.
 */
export function ownPath(text: string | null): string {
  const base = 'http://own.invalid'
  if (text === null || text.length > 300 || !text.startsWith('/') || !URL.canParse(text, base)) return '/'
  const { origin, pathname, search } = new URL(text, base)
  return origin === base && !pathname.startsWith('//') ? pathname + search : '/'
}
