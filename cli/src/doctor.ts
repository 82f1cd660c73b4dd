import { randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import type { PartnerClient } from '@benefit-enrolment/client'
import {
  type Command,
  CommandError,
  type Input,
  printFindings,
  UsageError,
  valued,
} from '@benefit-enrolment/command'
import { checkedUsername, isLoopback, isSigningSecret } from './delivery.ts'
import { examine } from './examine.ts'
import { eventsOf } from './found.ts'
import { inSandbox, partnerOptions } from './partner.ts'
import { progressFile, readProgress } from './progress.ts'
import { create, erase, prefill } from './user-changes.ts'

/** `doctor`: tests a receiver with every kind of delivery, and says what to correct. */
export const doctor: Command = {
  name: 'doctor',
  arguments: ['URL'],
  summary: 'Test your webhook receiver with every kind of delivery, and say what to correct.',
  options: {
    ...partnerOptions,
    username: valued('NAME', 'user name of the Basic credentials (default: HOOK_USERNAME, or enrolment)'),
    cursor: valued(
      'FILE',
      'the file of `listen`, whose secret is taken without HOOK_SECRET (default ./.enrolment-listen.json)',
    ),
  },
  run: input =>
    inSandbox(input, async ({ client }) => {
      const target = await targetOf(client, input.positionals[0] ?? '')
      const credentials = secretsOf(input)
      const userid = `doctor-${randomBytes(4).toString('hex')}`
      const longNamed = `${userid}-`.padEnd(128, 'x')
      try {
        await prefill(client, userid)
        await create(client, userid)
        await prefill(client, longNamed)
        const events = await eventsOf(client, userid)
        const [long] = await eventsOf(client, longNamed)
        const first = events[0]
        const last = events.at(-1)
        if (!first || !last || !long)
          throw new CommandError(
            'This partner may not read events: ask the operator for the scope events:read.',
          )
        const findings = await examine(target, { first, last, long }, credentials)
        printFindings(input, { url: target, userid }, findings)
      } finally {
        for (const name of [userid, longNamed]) await erase(client, name).catch(() => undefined)
      }
    }),
}

/** The secrets of the receiver: of the environment, or of the file of `listen`. Throws UsageError where there are none. */
function secretsOf(input: Input) {
  const { HOOK_SECRET, HOOK_USERNAME, HOOK_PASSWORD } = input.environment
  const file = input.text('cursor') ?? progressFile
  if (HOOK_SECRET === undefined && !existsSync(file))
    throw new UsageError(
      `Set HOOK_SECRET and HOOK_PASSWORD as your receiver has them, or run this where ${file} is, ` +
        `which \`${input.program} listen\` writes; see --help.`,
    )
  const secret = HOOK_SECRET ?? readProgress(file).secret
  if (!isSigningSecret(secret))
    throw new UsageError('HOOK_SECRET must be the whsec_… that your receiver verifies with; see --help.')
  const username = checkedUsername(input.text('username') ?? HOOK_USERNAME ?? 'enrolment')
  return { secret, username, password: HOOK_PASSWORD ?? secret }
}

/** An address of this machine, or one that is an endpoint of the partner. Throws UsageError on any other. */
async function targetOf(client: PartnerClient, text: string): Promise<string> {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url && isLoopback(url)) return url.href
  if (url?.protocol === 'https:') {
    const { webhooks } = await client.listWebhooks({})
    if (webhooks.some(one => new URL(one.url).href === url.href)) return url.href
  }
  throw new UsageError(
    'URL must be an address of this machine, like http://127.0.0.1:3000/hook, or an endpoint of yours; see --help.',
  )
}
