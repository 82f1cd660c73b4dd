import { createClient, isBenefitEnrolmentError, type PartnerClient } from '@benefit-enrolment/client'
import { CommandError, type Input, type Option, valued } from '@benefit-enrolment/command'
import { findCredentials } from './credentials.ts'
import type { Credentials } from './profiles.ts'

/** The API as one partner calls it. */
export type Partner = {
  readonly client: PartnerClient
  readonly baseUrl: string
  readonly isSandbox: boolean
}

/** The options of every command that calls the API. */
export const partnerOptions: Readonly<Record<string, Option>> = {
  'base-url': valued(
    'URL',
    'the service (default: BASE_URL, that of the profile, or where the demo was last started)',
  ),
  profile: valued('NAME', 'the credentials that `login` stored under this name'),
  data: valued(
    'DIR',
    'directory of a sandbox on this machine, for the credentials of its demo partner (default ./data)',
  ),
}

/** The service cannot answer now but may a little later: it is being restarted, or has too much to do. */
export class ServiceAway extends CommandError {
  override name = 'ServiceAway'
}

/**
 * Runs work with the credentials that `findCredentials` finds. Throws CommandError when there are none, and for each
 * refusal of the service, with its words; ServiceAway when the same may succeed a little later.
 */
export function asPartner<T>(input: Input, work: (partner: Partner) => Promise<T>): Promise<T> {
  return withPartner(findCredentials(input), work)
}

/**
 * The same in a sandbox. Throws CommandError for live credentials, because commands that change users as a trial must
 * not run there.
 */
export function inSandbox<T>(input: Input, work: (partner: Partner) => Promise<T>): Promise<T> {
  return asPartner(input, partner => {
    if (!partner.isSandbox)
      throw new CommandError(
        `\`${input.program} ${input.command}\` is for a sandbox: these credentials are live.`,
      )
    return work(partner)
  })
}

/** Runs work with these credentials. Throws as `asPartner` does. */
export async function withPartner<T>(
  { baseurl, clientid, clientsecret, apikey }: Credentials,
  work: (partner: Partner) => Promise<T>,
): Promise<T> {
  const client = createClient({
    baseUrl: baseurl,
    clientId: clientid,
    clientSecret: clientsecret,
    ...(apikey === '' ? {} : { apiKey: apikey }),
  })
  try {
    return await work({ client, baseUrl: baseurl, isSandbox: clientsecret.includes('_sandbox_') })
  } catch (error) {
    throw explained(error, baseurl)
  }
}

const passing = new Set([408, 429, 500, 502, 503, 504])

/** An error of the client as a sentence for the person at the command line; every other error as it is. */
export function explained(error: unknown, baseUrl: string): unknown {
  if (!isBenefitEnrolmentError(error)) return error
  const { code, status, detail, errors, message } = error
  if (code === 'network' || code === 'timeout')
    return new ServiceAway(`Nothing answers at ${baseUrl}: start it, or name its address with --base-url.`)
  if (code === 'protocol' && !passing.has(status))
    return new CommandError(
      `Another program answers at ${baseUrl}: name the service's address with --base-url.`,
    )
  if (code === 'invalid_client')
    return new CommandError(
      `${baseUrl} refused the credentials (${status}): give those of this service, or its address.`,
    )
  const Refusal = passing.has(status) ? ServiceAway : CommandError
  // The detail points at `errors`, which the person who reads the sentence does not see.
  const why = errors.length > 0 ? errors.map(one => one.message.replace(/\.?$/, '.')).join(' ') : detail
  return new Refusal(`${message.split(':', 1)[0]} was refused: ${code}. ${why}`.trim())
}
