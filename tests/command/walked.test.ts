import { readdirSync } from 'node:fs'
import { appendFile, readdir } from 'node:fs/promises'
import { userInfo } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, test, vi } from 'vitest'
import { parse } from 'yaml'
import { fileOf, lifeCatalogue } from '../life/catalogue.ts'
import { ada, startTestService } from '../rig.ts'
import { expectWalked, type Walker } from '../walks.ts'
import { urlOf } from './database-url.ts'
import { newDataDir, root, runHere } from './process.ts'

/**
 * Walks of an operator and a partner in the middle of November 2026, stored in `walks/` with what each command writes: its answer, `!` before what
 * goes to standard error, and its exit code if that is not 0.
 *
 * - `NAME=value WORDS` is a command as a shell takes it; `$PARTNER` is a partner, and each id and secret that was written is called by its number;
 * - `api OPERATION {…}` is what that partner does, for somebody like Ada, `events` what it was told, `files` lists the folder, and `write FILE TEXT` adds a line to a file there;
 * - walks of `mistakes` have no database.
 */
async function operatorAt(cwd: string, env: Readonly<Record<string, string>>, api: Api): Promise<Walker> {
  const named = new Map([['$PARTNER', api.partnerId]])
  const counts = new Map<string, number>()

  /** Without what is another each time. */
  function steady(text: string): string[] {
    const secrets = /enr_\w+|whsec_[\w+/=]+|[0-9a-f]{8}-[0-9a-f-]{27}|\b[0-9a-f]{64}\b/g
    const known = text.replaceAll(api.partnerId, '$PARTNER').replace(secrets, secret => {
      const earlier = [...named].find(([, value]) => value === secret)
      if (earlier) return earlier[0]
      const [kind = ''] = /^(enr_[a-z]+|whsec)/.exec(secret) ?? ['ID']
      counts.set(kind, (counts.get(kind) ?? 0) + 1)
      const name = `$${kind.replace('enr_', '').toUpperCase()}${counts.get(kind)}`
      named.set(name, secret)
      return name
    })
    return (
      known
        // The ids of credentials: two that were made at one instant stand in any order.
        .replace(/\b(?=\d*[A-Za-z])[0-5]\w{9}\b/g, 'KEY')
        .replaceAll(cwd, '.')
        .replaceAll(root, '/')
        .replaceAll(`by ${userInfo().username}`, 'by $ME')
        .replaceAll(`"${userInfo().username}"`, '"$ME"')
        .replace(/(T\d\d:\d\d:\d\d)\.\d{3}Z/g, '$1Z')
        .split(/\r?\n/)
        .filter(Boolean)
    )
  }

  return async step => {
    const given = step.replace(/\$[A-Z]+\d*/g, name => named.get(name) ?? name)
    const [, operation, fields] = /^api (\w+) ?(\{.*\})?$/.exec(given) ?? []
    if (operation !== undefined) {
      const person = operation === 'createUser' ? ada : {}
      const given = { ...person, ...(parse(fields ?? '{}') as { userid: string }) }
      await api.client[operation as 'getUser'](given)
      return []
    }
    if (given === 'events') {
      const { events } = await api.client.listEvents({})
      return [events.map(({ eventname, userid }) => `${eventname} ${userid}`).join(', ') || 'no event']
    }
    if (given === 'files') return [(await readdir(cwd)).sort().join(' ') || 'no file']
    const [, file, text] = /^write (\S+) (.*)$/.exec(given) ?? []
    if (file !== undefined) {
      await appendFile(join(cwd, file), `${text}\n`)
      return []
    }
    const words = [...given.matchAll(/'([^']*)'|(\S+)/g)].map(([, quoted, plain = '']) => quoted ?? plain)
    const settings = words
      .filter(word => /^[A-Z_]+=/.test(word))
      .map(word => word.split(/=(.*)/s).slice(0, 2))
    const place = { cwd, env: { ...env, ...Object.fromEntries(settings) } }
    const { code, stdout, stderr } = await runHere(words.slice(settings.length), place)
    return [
      ...steady(stdout),
      ...steady(stderr).map(line => `! ${line}`),
      ...(code === 0 ? [] : [`ended with ${code}`]),
    ]
  }
}
type Api = Pick<
  Awaited<ReturnType<Awaited<ReturnType<typeof startTestService>>['newPartner']>>,
  'partnerId' | 'client'
>

beforeEach(() => void vi.useFakeTimers({ toFake: ['Date'], now: Date.parse('2026-11-12T15:00:00Z') }))
afterEach(() => void vi.useRealTimers())

const folder = new URL('walks/', import.meta.url)
const names = readdirSync(folder).flatMap(file => /^([\w-]+)\.txt$/.exec(file)?.[1] ?? [])

test.each(names)('commands answer in the walks of %s what is stored there', async name => {
  await using service = await startTestService({ clock: 'machine', catalogue: fileOf(lifeCatalogue) })
  const env =
    name === 'mistakes' ? {} : { DATABASE_URL: urlOf(service.address), ENROLMENT_ROOT_KEY: service.rootKey }
  await expectWalked(new URL(`${name}.txt`, folder), async () =>
    operatorAt(await newDataDir(), env, await service.newPartner({ name: 'Harbor Rides' })),
  )
})
