import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { dirname, join } from 'node:path'
import type { Input } from '@benefit-enrolment/command'
import { CommandError } from '@benefit-enrolment/command'

/** A partner's credentials, and the service that they are for, with the names of demo.json. */
export type Credentials = {
  readonly baseurl: string
  readonly clientid: string
  readonly clientsecret: string
  /** `""` for a partner that needs none. */
  readonly apikey: string
}

/** The profile that is taken where none is named. */
export const DEFAULT_PROFILE = 'default'

type Environment = Input['environment']
type Profiles = Readonly<Record<string, Credentials>>

/** Where the profiles are: below the user's configuration folder. */
export function profilesFile(environment: Environment): string {
  const { XDG_CONFIG_HOME: configured, APPDATA: roaming, HOME: home } = environment
  const folder = configured || (process.platform === 'win32' && roaming) || join(home || homedir(), '.config')
  return join(folder, 'benefit-enrolment', 'profiles.json')
}

/** The names of all profiles. Throws CommandError on a file that is damaged. */
export function profileNames(environment: Environment): readonly string[] {
  return Object.keys(readAll(environment)).sort()
}

/** A profile; `undefined` where there is none of that name. Throws CommandError on a file that is damaged. */
export function readProfile(environment: Environment, name: string): Credentials | undefined {
  const all = readAll(environment)
  return Object.hasOwn(all, name) ? all[name] : undefined
}

/** Stores a profile, readable by its owner alone. Throws CommandError when it cannot be written. */
export function saveProfile(environment: Environment, name: string, credentials: Credentials): void {
  writeAll(environment, { ...readAll(environment), [name]: credentials })
}

/** Removes a profile; returns whether there was one. Throws CommandError when the rest cannot be written. */
export function removeProfile(environment: Environment, name: string): boolean {
  const { [name]: removed, ...others } = readAll(environment)
  if (removed === undefined) return false
  writeAll(environment, others)
  return true
}

function readAll(environment: Environment): Profiles {
  const file = profilesFile(environment)
  let text: string
  try {
    text = readFileSync(file, 'utf8')
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return {}
    throw new CommandError(`The profiles in ${file} cannot be read (${codeOf(error)}).`)
  }
  try {
    const all = JSON.parse(text) as Profiles
    if (Object.values(all).every(one => Object.values(one).every(part => typeof part === 'string')))
      return all
  } catch {
    // The same is wrong as with members that are no credentials.
  }
  throw new CommandError(`${file} is damaged: delete it, and log in again.`)
}

/** A crash in the middle of a write must not lose the other profiles. */
function writeAll(environment: Environment, profiles: Profiles): void {
  const file = profilesFile(environment)
  const unfinished = `${file}.new`
  try {
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 })
    // An earlier, broken-off write may have left it with another mode.
    rmSync(unfinished, { force: true })
    writeFileSync(unfinished, `${JSON.stringify(profiles, null, 2)}\n`, { mode: 0o600 })
    renameSync(unfinished, file)
  } catch (error) {
    throw new CommandError(`The profiles in ${file} cannot be written (${codeOf(error)}).`)
  }
}

function codeOf(error: unknown): string {
  return (error as { code?: string }).code ?? 'unknown'
}
