import { eventNames, isEventName } from '@benefit-enrolment/contract/names'
import { OperatorError } from '../operator-error.ts'
import { partnerOf } from '../partners/keys.ts'
import { requirePartner } from '../partners/manage.ts'
import { addEndpoint, disableEndpoint, enableEndpoint, listEndpoints } from '../webhooks/endpoints.ts'
import type { ListedEndpoint } from '../webhooks/store.ts'
import { type Command, type Input, type Option, UsageError } from './command.ts'
import { inWorkspace, type Workspace, webhookRulesOf } from './workspace.ts'

/** The events that an option names: a list, or all. Throws OperatorError on an unknown one. */
export const eventsOf = (text: string | undefined): Parameters<typeof addEndpoint>[1]['events'] => {
  if (text === undefined) return ['offer_activiation_successful']
  if (text === 'all') return 'all'
  return text.split(',').map(name => {
    const trimmed = name.trim()
    if (!isEventName(trimmed)) {
      throw new OperatorError(`There is no event "${trimmed}"; there are ${eventNames.join(', ')}, or all.`)
    }
    return trimmed
  })
}

/** Adds an endpoint for the operator. Throws OperatorError that says what is wrong with it. */
export const addForOperator = async (
  workspace: Workspace,
  wish: {
    partnerId: string
    url: string
    username: string
    password: string
    events: string | undefined
    ordering?: string | undefined
  },
): Promise<{ webhookid: string; webhooksecret: string }> => {
  const { database, keyring, config, installation, real } = workspace
  if (wish.ordering !== undefined && wish.ordering !== 'none' && wish.ordering !== 'user') {
    throw new OperatorError('--ordering must be none or user.')
  }
  const added = await addEndpoint(
    database,
    {
      partner: partnerOf(await requirePartner(database, wish.partnerId), keyring),
      url: wish.url,
      username: wish.username,
      password: wish.password,
      events: eventsOf(wish.events),
      ...(wish.ordering === undefined ? {} : { ordering: wish.ordering }),
    },
    { rules: webhookRulesOf(config, installation), real },
  )
  if ('refused' in added) {
    throw new OperatorError(added.refused.map(fault => `webhook ${fault.field}: ${fault.message}`).join('\n'))
  }
  return added
}

const needed = (input: Input, name: string): string => {
  const value = input.text(name)
  if (!value) throw new UsageError(`\`enrolment webhook add\` needs --${name}; see --help.`)
  return value
}

const endpointOptions: Readonly<Record<string, Option>> = {
  url: { type: 'string', value: 'URL', help: 'https address that hears of the events' },
  username: { type: 'string', value: 'NAME', help: 'user name, without a colon' },
  password: { type: 'string', value: 'PASSWORD', help: 'password' },
  events: {
    type: 'string',
    value: 'a,b|all',
    help: 'events it wants (default offer_activiation_successful)',
  },
  ordering: {
    type: 'string',
    value: 'none|user',
    help: "user keeps one user's events in order (default none)",
  },
}

const viewEndpoint = (row: ListedEndpoint) => ({
  webhookid: row.endpoint_id,
  url: row.url,
  username: row.username,
  events: row.all_events ? 'all' : row.events,
  ordering: row.ordering,
  enabled: row.disabled_at === null,
  disabledreason: row.disabled_reason,
  failingsince: row.failing_since === null ? null : new Date(row.failing_since).toISOString(),
  waiting: row.waiting,
  dead: row.dead,
  createdat: new Date(row.created_at).toISOString(),
})

const add: Command = {
  name: 'webhook add',
  arguments: ['PARTNER'],
  summary: 'Add a webhook endpoint; its signing secret is shown once.',
  options: endpointOptions,
  run: input =>
    inWorkspace(input, async workspace => {
      const added = await addForOperator(workspace, {
        partnerId: input.positionals[0] ?? '',
        url: needed(input, 'url'),
        username: needed(input, 'username'),
        password: needed(input, 'password'),
        events: input.text('events'),
        ordering: input.text('ordering'),
      })
      input.print(added, [
        `webhookid       ${added.webhookid}`,
        `webhooksecret   ${added.webhooksecret}`,
        '',
        'The secret is shown once.',
      ])
    }),
}

const list: Command = {
  name: 'webhook list',
  arguments: ['PARTNER'],
  summary: 'List the webhook endpoints of a partner and how they do.',
  options: {},
  run: input =>
    inWorkspace(input, async ({ database }) => {
      const row = await requirePartner(database, input.positionals[0] ?? '')
      const endpoints = (await listEndpoints(database, row.partner_id)).map(viewEndpoint)
      input.print(
        { webhooks: endpoints },
        endpoints.map(one => {
          const state = one.enabled
            ? one.failingsince
              ? `failing since ${one.failingsince}`
              : 'enabled'
            : `disabled (${one.disabledreason})`
          return `${one.webhookid}  ${one.url}  ${state}  waiting ${one.waiting}  dead ${one.dead}`
        }),
      )
    }),
}

const change = (name: 'enable' | 'disable', summary: string): Command => ({
  name: `webhook ${name}`,
  arguments: ['PARTNER', 'ID'],
  summary,
  options: {},
  run: input =>
    inWorkspace(input, async ({ database, real }) => {
      const [partner = '', id = ''] = input.positionals
      const row = await requirePartner(database, partner)
      const named = { partnerId: row.partner_id, endpointId: id }
      const isUuid = /^[0-9a-f-]{36}$/.test(id)
      const isDone =
        isUuid &&
        (await database.transaction(tx =>
          name === 'enable'
            ? enableEndpoint(tx, named, real())
            : disableEndpoint(tx, named, { reason: 'operator', at: real() }),
        ))
      if (!isDone)
        throw new OperatorError(
          `There is no webhook ${id} of this partner: see \`enrolment webhook list ${partner}\`.`,
        )
      input.print({ webhookid: id, enabled: name === 'enable' }, [`Webhook ${id} is ${name}d.`])
    }),
})

/** The commands about webhook endpoints. */
export const webhookCommands: readonly Command[] = [
  add,
  list,
  change('enable', 'Enable an endpoint: what it missed is sent, oldest first.'),
  change('disable', 'Disable an endpoint: its events are held, nothing is lost.'),
]
