import { randomUUID } from 'node:crypto'
import type { Role } from '../../service/src/operators/operator.ts'
import { mintLink } from '../../service/src/operators/sign-in.ts'
import { findOperator, insertOperator } from '../../service/src/operators/store.ts'
import type { TestService } from '../rig.ts'

/** An answer of the console as a browser without script has it. */
export type Shown = {
  readonly status: number
  readonly headers: Headers
  readonly text: string
  /** Where it ended, after the redirects that a form leads to. */
  readonly path: string
}

/** A browser of one operator, signed in. */
export type OperatorBrowser = {
  readonly operatorId: string
  readonly cookie: string
  readonly get: (path: string) => Promise<Shown>
  /** Sends a form with the session's token, as its pages do. */
  readonly post: (path: string, fields?: Readonly<Record<string, string>>) => Promise<Shown>
}

/** Where the console of a service under test listens. */
export function consoleOf(service: TestService): string {
  const { consoleUrl } = service.service()
  if (consoleUrl === undefined) throw new Error('this service was started without a console')
  return consoleUrl
}

/** Makes an operator and gives the path of its sign-in link. */
export async function newOperator(
  service: TestService,
  role: Role,
  partners?: readonly string[],
): Promise<{ name: string; operatorId: string; path: string }> {
  const name = `${role}-${randomUUID().slice(0, 8)}`
  const operatorId = randomUUID()
  await insertOperator(service.database, {
    operatorId,
    name,
    role,
    partners,
    createdAt: service.now(),
    disabledAt: undefined,
  })
  return { name, operatorId, path: await newLink(service, name) }
}

/** Gives the path of a fresh sign-in link. */
export async function newLink(service: TestService, name: string): Promise<string> {
  const operator = await findOperator(service.database, name)
  if (!operator) throw new Error('there is no such operator')
  const { database, keyring, manage } = service
  return `/sign-in/${await mintLink({ database, keyring, mode: manage.mode, real: service.now }, operator)}`
}

/** Signs a new operator in. */
export async function signIn(
  service: TestService,
  role: Role,
  partners?: readonly string[],
): Promise<OperatorBrowser> {
  const { path, operatorId } = await newOperator(service, role, partners)
  const base = consoleOf(service)
  const answer = await fetch(base + path, {
    method: 'POST',
    redirect: 'manual',
    headers: { origin: base, 'content-type': 'application/x-www-form-urlencoded' },
  })
  const cookie = answer.headers.get('set-cookie')?.split(';')[0] ?? ''
  if (answer.status !== 303 || cookie === '') throw new Error(`not signed in: ${answer.status}`)
  let token = ''
  const follow = async (answer: Response, path: string): Promise<Shown> => {
    const location = answer.headers.get('location')
    if (answer.status === 303 && location !== null) {
      await answer.text()
      return get(location.replace(/#.*/, ''))
    }
    const text = await answer.text()
    token = /name="token" value="([^"]+)"/.exec(text)?.[1] ?? token
    return { status: answer.status, headers: answer.headers, text, path }
  }
  const get = async (path: string): Promise<Shown> =>
    follow(await fetch(base + path, { redirect: 'manual', headers: { cookie } }), path)
  await get('/')
  return {
    operatorId,
    cookie,
    get,
    post: async (path, fields = {}) =>
      follow(
        await fetch(base + path, {
          method: 'POST',
          redirect: 'manual',
          headers: { cookie, origin: base, 'content-type': 'application/x-www-form-urlencoded' },
          body: new URLSearchParams({ token, ...fields }),
        }),
        path,
      ),
  }
}
