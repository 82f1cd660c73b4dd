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
import type { WebhookEndpoint } from '@benefit-enrolment/contract'
import { eventNames, isEventName } from '@benefit-enrolment/contract/names'
import { timestampOrNull } from '../../calendar/calendar.ts'
import type { Executor } from '../../db/database.ts'
import { OperatorError } from '../../operator-error.ts'
import { requirePartner } from '../../partners/administer.ts'
import { partnerOf } from '../../partners/keys.ts'
import type { PartnerRow } from '../../partners/store.ts'
import { isUuid } from '../../vault/uuid.ts'
import { closedWebhookOf, webhookOf } from '../../webhooks/api/view.ts'
import {
  addEndpoint,
  disableEndpoint,
  type EndpointRefusal,
  enableEndpoint,
  getEndpoint,
} from '../../webhooks/endpoint/endpoints.ts'
import { type ListedEndpoint, listEndpoints } from '../../webhooks/endpoint/store.ts'
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

/** An endpoint as the API shows it. An endpoint whose secrets cannot be opened must still be visible here. */
function viewOf(row: ListedEndpoint, partner: PartnerRow, { keyring, real }: Workspace): WebhookEndpoint {
  try {
    return webhookOf(row, partnerOf(partner, keyring), real())
  } catch {
    return closedWebhookOf(row, real())
  }
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

const list: Command = {
  name: 'webhook list',
  arguments: ['PARTNER'],
  summary: 'List the webhook endpoints of a partner and their health.',
  run: input =>
    inWorkspace(input, async workspace => {
      const partner = await requirePartner(workspace.database, input.positionals[0] ?? '')
      const rows = await listEndpoints(workspace.database, partner.partner_id)
      const webhooks = rows.map(row => ({
        ...viewOf(row, partner, workspace),
        certificateendsattimestamp: timestampOrNull(row.certificate_ends_at),
      }))
      input.print(
        { webhooks },
        webhooks.map(
          one =>
            `${one.webhookid}  ${one.url}  ${stateOf(one)}  waiting ${one.waiting}  dead ${one.dead}${one.certificateendsattimestamp ? `  certificate until ${one.certificateendsattimestamp}` : ''}`,
        ),
      )
    }),
}

function stateOf({ status, disabledreason, failingsincetimestamp: since }: WebhookEndpoint): string {
  return status === 'disabled' ? `disabled (${disabledreason})` : since ? `failing since ${since}` : 'enabled'
}

function change(name: 'enable' | 'disable', summary: string): Command {
  return {
    name: `webhook ${name}`,
    arguments: ['PARTNER', 'ID'],
    summary,
    run: input =>
      inWorkspace(input, async workspace => {
        const { database, real, commit } = workspace
        const [partnerId = '', id = ''] = input.positionals
        const partner = await requirePartner(database, partnerId)
        const named = { partnerId: partner.partner_id, endpointId: id }
        const isDone =
          isUuid(id) &&
          (await commit(tx =>
            name === 'enable'
              ? enableEndpoint(tx, named, real())
              : disableEndpoint(tx, named, { reason: 'operator', at: real() }),
          ))
        const row = isDone ? await getEndpoint(database, partner.partner_id, id) : undefined
        if (!row)
          throw new OperatorError(
            `There is no webhook ${id} of this partner: see \`enrolment webhook list ${partnerId}\`.`,
          )
        input.print(viewOf(row, partner, workspace), [`Webhook ${id} is ${name}d.`])
      }),
  }
}

/** The commands about webhook endpoints. */
export const webhookCommands: readonly Command[] = [
  add,
  list,
  change('enable', 'Enable an endpoint: events that it missed are sent, oldest first.'),
  change('disable', 'Disable an endpoint: its events are held, nothing is lost.'),
]
