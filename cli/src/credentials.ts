import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { Input } from '@benefit-enrolment/command'
import { CommandError, dataDirOf, readGiven, UsageError } from '@benefit-enrolment/command'
import { isLoopback } from './delivery.ts'
import { type Credentials, DEFAULT_PROFILE, readProfile } from './profiles.ts'

/**
 * The credentials of a command, of the nearest place that has some: --profile; CLIENT_ID, CLIENT_SECRET and API_KEY; the demo
 * partner in the data directory; the profile `default`. --base-url and BASE_URL name the service where the place does not.
 * Throws CommandError when there are none, or they cannot be used.
 */
export function findCredentials(input: Input): Credentials {
  const named = input.text('profile')
  const found = named === undefined ? unnamed(input) : profileOf(input, named)
  const baseurl = input.text('base-url') ?? found.baseurl
  return { ...found, baseurl: checkedAddress(baseurl), apikey: checkedKey(found.apikey) }
}

function unnamed(input: Input): Credentials {
  const {
    CLIENT_ID: clientid,
    CLIENT_SECRET: clientsecret,
    API_KEY: apikey = '',
    BASE_URL,
  } = input.environment
  const demo = demoOf(input)
  const baseurl = BASE_URL ?? demo?.baseurl ?? 'http://127.0.0.1:8080'
  if (clientid && clientsecret) return { baseurl, clientid, clientsecret, apikey }
  if (demo) return { ...demo, baseurl }
  const stored = readProfile(input.environment, DEFAULT_PROFILE)
  if (stored) return stored
  throw new CommandError(
    'Set CLIENT_ID, CLIENT_SECRET and API_KEY, or run `benefit-enrolment login`, ' +
      `or run this where ${demoFileOf(input)} is, which \`enrolment dev\` writes.`,
  )
}

function profileOf(input: Input, name: string): Credentials {
  const stored = readProfile(input.environment, name)
  if (stored) return stored
  throw new CommandError(`There is no profile "${name}": \`benefit-enrolment login ${name}\` stores one.`)
}

/**
 * The address of a service, to which secrets may go: https, or this machine. Throws CommandError when it cannot be one, and
 * UsageError where the secrets would be read on the way.
 */
export function checkedAddress(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (!url || !/^https?:$/.test(url.protocol) || url.username || url.search || url.hash)
    throw new CommandError('--base-url must be an address like http://127.0.0.1:8080.')
  if (url.protocol !== 'https:' && !isLoopback(url))
    throw new UsageError(
      'Your secrets would cross the network in clear: give the https address of the service; see --help.',
    )
  return text.replace(/\/+$/, '')
}

/** The value of the header that carries the key. Throws CommandError for characters that no key has. */
function checkedKey(text: string): string {
  const apikey = text.trim()
  if (/^[\x21-\x7e]*$/.test(apikey)) return apikey
  throw new CommandError(
    'API_KEY has a space, a line break or a letter that no key has: set it to the key as it was printed.',
  )
}

function demoFileOf(input: Input): string {
  return join(dataDirOf(input), 'demo.json')
}

/**
 * The demo partner of the sandbox that was last started on this data directory; `undefined` where there is none. Throws
 * CommandError on a file that cannot be read or is damaged.
 */
function demoOf(input: Input): Credentials | undefined {
  const file = demoFileOf(input)
  if (!existsSync(file)) return undefined
  const demo = credentialsIn(readGiven(file, `The file ${file}`).toString('utf8'))
  if (demo) return demo
  throw new CommandError(`${file} is damaged: delete it; the next start creates a new demo partner.`)
}

function credentialsIn(text: string): Credentials | undefined {
  try {
    const {
      baseurl = 'http://127.0.0.1:8080',
      clientid,
      clientsecret,
      apikey,
    } = JSON.parse(text) as Credentials
    if ([clientid, clientsecret, apikey, baseurl].every(one => typeof one === 'string'))
      return { baseurl, clientid, clientsecret, apikey }
  } catch {
    // The same is wrong as with members that are missing.
  }
  return undefined
}
