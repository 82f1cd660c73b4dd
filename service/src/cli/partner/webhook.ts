import {
  type Command,
  choiceOf,
  type Input,
  neededSecret,
  neededText,
  type Option,
  secretOptions,
  UsageError,
  valued,
} from '@benefit-enrolment/command'
import { eventNames, isEventName } from '@benefit-enrolment/contract/names'
import type { Executor } from '../../db/database.ts'
import { OperatorError } from '../../operator-error.ts'
import { addEndpoint, type EndpointRefusal } from '../../webhooks/endpoint/endpoints.ts'
import { inWorkspace, partnerIn, type Workspace, webhookRulesOf } from '../workspace.ts'

/** The events that `--events` names: a list, or all. Throws UsageError on an unknown name. */
export function eventsOf(input: Input): Parameters<typeof addEndpoint>[1]['events'] {
  const text = input.text('events')
  if (text === undefined) return ['offer_activiation_successful']
  if (text === 'all') return 'all'
  return text.split(',').map(name => {
    const trimmed = name.trim()
    if (!isEventName(trimmed)) {
      throw new UsageError(
        `--events: there is no event "${trimmed}"; there are ${eventNames.join(', ')}, or all; see --help.`,
      )
    }
    return trimmed
  })
}

/** Adds an endpoint for the operator. Throws OperatorError that says what is wrong with it. */
export async function addForOperator(
  tx: Executor,
  workspace: Workspace,
  asked: {
    partnerId: string
    url: string
    username: string
    password: string
    events: ReturnType<typeof eventsOf>
    ordering?: 'none' | 'user' | undefined
  },
): Promise<{ webhookid: string; webhooksecret: string }> {
  const { config, installation, real } = workspace
  const { partnerId, ...endpoint } = asked
  const wanted = { ...endpoint, partner: await partnerIn(workspace, partnerId) }
  const added = await addEndpoint(tx, wanted, { rules: webhookRulesOf(config, installation), real })
  if ('refused' in added) throw refusalOf(added, '')
  return added
}

/** A refusal in the words of the command line, whose options for an endpoint begin with `prefix`. */
export function refusalOf({ refused }: EndpointRefusal, prefix: '' | 'webhook-'): OperatorError {
  return new OperatorError(
    refused.map(({ field, message }) => `--${prefix}${field}: ${message.replace(/\.?$/, '.')}`).join('\n'),
  )
}

const endpointOptions: Readonly<Record<string, Option>> = {
  url: valued('URL', 'https address that hears of the events'),
  username: valued('NAME', 'user name, without a colon'),
  ...secretOptions('password', 'password'),
  events: valued('a,b|all', 'events it wants (default offer_activiation_successful)'),
  ordering: valued('none|user', "user keeps one user's events in order (default none)"),
}

const add: Command = {
  name: 'webhook add',
  arguments: ['PARTNER'],
  summary: 'Add a webhook endpoint; its signing secret is shown once.',
  options: endpointOptions,
  run: async input => {
    const asked = {
      partnerId: input.positionals[0] ?? '',
      url: neededText(input, 'url'),
      username: neededText(input, 'username'),
      password: neededSecret(input, 'password'),
      events: eventsOf(input),
      ordering: choiceOf(input, 'ordering', ['none', 'user']),
    }
    await inWorkspace(input, async workspace => {
      const added = await workspace.commit(tx => addForOperator(tx, workspace, asked))
      input.print(added, [
        `webhookid       ${added.webhookid}`,
        `webhooksecret   ${added.webhooksecret}`,
        '',
        'The secret is shown once.',
      ])
    })
  },
}

/** The commands about webhook endpoints. */
export const webhookCommands: readonly Command[] = [add]
