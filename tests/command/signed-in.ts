import { type Place, runJson } from './process.ts'

/** Reads a page of the console, or sends a form there. */
export type ConsoleSession = (path: string, form?: Readonly<Record<string, string>>) => Promise<Response>

/** Signs a new operator in by the printed link, at the console that runs there. */
export async function signedIn(place: Place, name: string, role: string): Promise<ConsoleSession> {
  const { url } = await runJson<{ url: string }>(['operator', 'add', name, '--role', role], place)
  const { origin } = new URL(url)
  const headers = { origin, 'content-type': 'application/x-www-form-urlencoded' }
  const answer = await fetch(url, { method: 'POST', redirect: 'manual', headers })
  const cookie = answer.headers.get('set-cookie')?.split(';')[0] ?? ''
  const sent = { redirect: 'manual', headers: { ...headers, cookie } } as const
  return (path, form) =>
    fetch(origin + path, form ? { ...sent, method: 'POST', body: new URLSearchParams(form) } : sent)
}
