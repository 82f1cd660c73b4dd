import { type KeyObject, randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { OperatorError } from '../../operator-error.ts'
import { signingKey } from '../../webhooks/egress/envelope.ts'
import { type Command, UsageError, valued } from '../command.ts'
import { printFindings } from '../findings.ts'
import { checkSignIn } from '../operator/sign-in-check.ts'
import { isLoopback } from './delivery.ts'
import { examine } from './examine.ts'
import { eventsOf } from './logged-events.ts'
import { openSandboxApi, type PartnerApi, partnerOptions } from './partner-api.ts'
import { progressFile, readProgress } from './progress.ts'
import { create, erase, prefill } from './user-changes.ts'

/** `enrolment doctor`: tests a receiver with every kind of delivery, and says what to correct. */
export const doctor: Command = {
  name: 'doctor',
  arguments: ['[URL]'],
  summary:
    'Test your webhook receiver and say what to correct; without URL, this Node.js and the identity provider of the console.',
  options: {
    ...partnerOptions,
    username: valued('NAME', 'user name of the Basic credentials (default: HOOK_USERNAME, or enrolment)'),
    cursor: valued(
      'FILE',
      'the file of `listen`, whose secret is taken without HOOK_SECRET (default ./.enrolment-listen.json)',
    ),
  },
  run: async input => {
    if (input.positionals.length === 0) return checkSignIn(input)
    const api = openSandboxApi(input)
    const target = await targetOf(api, input.positionals[0] ?? '')
    const { environment } = input
    const file = input.text('cursor') ?? progressFile
    if (environment['HOOK_SECRET'] === undefined && !existsSync(file))
      throw new UsageError(
        `Set HOOK_SECRET and HOOK_PASSWORD as your receiver has them, or run this where ${file} is, which \`enrolment listen\` writes; see --help.`,
      )
    const secret = environment['HOOK_SECRET'] ?? readProgress(file).secret
    const credentials = {
      key: keyOf(secret),
      username: input.text('username') ?? environment['HOOK_USERNAME'] ?? 'enrolment',
      password: environment['HOOK_PASSWORD'] ?? secret,
    }
    const userid = `doctor-${randomBytes(4).toString('hex')}`
    const longNamed = `${userid}-`.padEnd(128, 'x')
    try {
      await prefill(api, userid)
      await create(api, userid)
      await prefill(api, longNamed)
      const events = await eventsOf(api, userid)
      const [long] = await eventsOf(api, longNamed)
      const first = events[0]
      const last = events.at(-1)
      if (!first || !last || !long)
        throw new OperatorError(
          'This partner may not read events: ask the operator for the scope events:read.',
        )
      const findings = await examine(target, { first, last, long }, credentials)
      printFindings(input, { url: target, userid }, findings)
    } finally {
      for (const name of [userid, longNamed]) await erase(api, name).catch(() => undefined)
    }
  },
}

function keyOf(secret: string): KeyObject {
  try {
    return signingKey(secret)
  } catch {
    throw new UsageError('HOOK_SECRET must be the whsec_… that your receiver verifies with; see --help.')
  }
}

/** An address of this machine, or one that is an endpoint of the partner. Throws UsageError on any other. */
async function targetOf(api: PartnerApi, text: string): Promise<string> {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url && isLoopback(url)) return url.href
  if (url?.protocol === 'https:') {
    const { webhooks } = (await api.call('GET', '/webhooks')) as { webhooks: { url: string }[] }
    if (webhooks.some(one => new URL(one.url).href === url.href)) return url.href
  }
  throw new UsageError(
    'URL must be an address of this machine, like http://127.0.0.1:3000/hook, or an endpoint of yours; see --help.',
  )
}
