import { createInterface } from 'node:readline/promises'
import { Writable } from 'node:stream'
import { isBenefitEnrolmentError } from '@benefit-enrolment/client'
import {
  type Command,
  givenSecret,
  type Input,
  secretOptions,
  UsageError,
  valued,
} from '@benefit-enrolment/command'
import { checkedAddress, findCredentials } from './credentials.ts'
import { partnerOptions, withPartner } from './partner.ts'
import { DEFAULT_PROFILE, profileNames, profilesFile, removeProfile, saveProfile } from './profiles.ts'

/** `login`: tries a partner's credentials and stores them under a name. */
const login: Command = {
  name: 'login',
  arguments: ['[NAME]'],
  summary: 'Try your credentials and store them as a profile; asks for what you do not give.',
  options: {
    'base-url': valued('URL', 'the service'),
    'client-id': valued('ID', 'your client id'),
    ...secretOptions('client-secret', 'client secret'),
    ...secretOptions('api-key', 'API key'),
  },
  async run(input) {
    const name = profileName(input)
    const asked = openQuestions()
    try {
      const credentials = {
        baseurl: checkedAddress(
          input.text('base-url') ?? (await asked('base-url', 'Address of the service')),
        ),
        clientid: input.text('client-id') ?? (await asked('client-id', 'Client id')),
        clientsecret:
          givenSecret(input, 'client-secret') ?? (await asked('client-secret', 'Client secret', 'hidden')),
        apikey: givenSecret(input, 'api-key') ?? (await asked('api-key', 'API key', 'hidden')),
      }
      const { isSandbox } = await withPartner(credentials, async partner => {
        // It may lack the scope, but only right credentials come so far.
        await partner.client.listWebhooks({}).catch((error: unknown) => {
          if (!isBenefitEnrolmentError(error) || error.status !== 403 || error.code !== 'insufficient_scope')
            throw error
        })
        return partner
      })
      saveProfile(input.environment, name, credentials)
      const kind = isSandbox ? 'a sandbox' : 'live'
      input.print({ profile: name, baseurl: credentials.baseurl, sandbox: isSandbox }, [
        `Stored as "${name}" (${kind}, ${credentials.baseurl}) in ${profilesFile(input.environment)}.`,
      ])
    } finally {
      asked.close()
    }
  },
}

/** `logout`: forgets a profile. */
const logout: Command = {
  name: 'logout',
  arguments: ['[NAME]'],
  summary: 'Forget a profile. The credentials stay valid: the operator revokes them.',
  async run(input) {
    const name = profileName(input)
    const removed = removeProfile(input.environment, name)
    input.print({ profile: name, removed }, [
      removed ? `Removed "${name}".` : `There is no profile "${name}".`,
    ])
  },
}

/** `env`: the credentials as lines that a shell and an .env file take. */
const env: Command = {
  name: 'env',
  summary: 'Print your credentials for a shell: eval "$(benefit-enrolment env)".',
  options: partnerOptions,
  async run(input) {
    const { baseurl, clientid, clientsecret, apikey } = findCredentials(input)
    const variables = { BASE_URL: baseurl, CLIENT_ID: clientid, CLIENT_SECRET: clientsecret, API_KEY: apikey }
    input.print(
      variables,
      Object.entries(variables).map(([name, value]) => `export ${name}='${value.replaceAll("'", `'\\''`)}'`),
    )
  },
}

/** `profiles`: the stored profiles by name. */
const profiles: Command = {
  name: 'profiles',
  summary: 'List the profiles that `login` stored.',
  async run(input) {
    const names = profileNames(input.environment)
    input.print({ profiles: names, file: profilesFile(input.environment) }, names)
  },
}

/** The commands that store credentials and hand them on. */
export const profileCommands: readonly Command[] = [login, logout, profiles, env]

function profileName(input: Input): string {
  const [name = DEFAULT_PROFILE] = input.positionals
  if (!/^[\w.-]{1,40}$/.test(name) || name === '__proto__')
    throw new UsageError('NAME must be up to 40 letters, digits, points, dashes or underscores; see --help.')
  return name
}

type Questions = {
  (option: string, question: string, echo?: 'hidden'): Promise<string>
  readonly close: () => void
}

/** Asks a person at a terminal; anywhere else a missing option is a UsageError that names it. */
function openQuestions(): Questions {
  let isHidden = false
  const output = new Writable({
    write(chunk, _encoding, done) {
      if (!isHidden) process.stderr.write(chunk)
      done()
    },
  })
  const isTerminal = process.stdin.isTTY === true
  const lines = isTerminal ? createInterface({ input: process.stdin, output, terminal: true }) : undefined
  const ask = async (option: string, question: string, echo?: 'hidden') => {
    if (!lines) throw new UsageError(`--${option} is needed; see --help.`)
    process.stderr.write(`${question}: `)
    isHidden = echo === 'hidden'
    const answer = await lines.question('')
    if (isHidden) process.stderr.write('\n')
    isHidden = false
    return answer.trim()
  }
  return Object.assign(ask, { close: () => lines?.close() })
}
