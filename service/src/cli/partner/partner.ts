import {
  type Command,
  choiceOf,
  flag,
  type Input,
  neededSecret,
  neededText,
  secretOptions,
  UsageError,
  valued,
} from '@benefit-enrolment/command'
import { formatTimestamp, timestampOrNull } from '../../calendar/calendar.ts'
import type { Offer } from '../../catalogue/model.ts'
import { openPublished } from '../../catalogue/published.ts'
import { clientIdOf } from '../../oauth/client-credentials.ts'
import {
  type AdministerContext,
  changePartner,
  createPartner,
  requirePartner,
  revokeKey,
  rotateKey,
} from '../../partners/administer.ts'
import { lastUses } from '../../partners/credential-uses.ts'
import type { PartnerSettings } from '../../partners/settings.ts'
import { listCredentials, listPartners } from '../../partners/store.ts'
import { faultsOfEndpoint } from '../../webhooks/endpoint/endpoints.ts'
import { fixKind, inWorkspace, systemUser, type Workspace, webhookRulesOf } from '../workspace.ts'
import { settingOptions, settingsOf, viewPartner } from './partner-settings.ts'
import { addForOperator, eventsOf, refusalOf } from './webhook.ts'

/** What an operator needs to create and change partners, with the offers of today's catalogue. */
async function creatingContextOf(
  workspace: Workspace,
): Promise<Omit<AdministerContext, 'alongside'> & { offers: readonly Offer[] }> {
  const { database, keyring, mode, real } = workspace
  const published = openPublished({ database, real })
  await published.prepare([])
  const offers = [...published.today().catalogue.offers.values()].sort((a, b) => a.rank - b.rank)
  const knownOffers = offers.map(offer => offer.offer)
  return { database, keyring, mode, real, by: systemUser(), offers, knownOffers }
}

/** The same for a partner that exists, with the audit entry. */
async function administerContextOf(
  workspace: Workspace,
): Promise<AdministerContext & { offers: readonly Offer[] }> {
  return { ...(await creatingContextOf(workspace)), alongside: [workspace.alongside()] }
}

function linesOf(view: object): string[] {
  return Object.entries(view).flatMap(([name, value]) =>
    wordsOf(value).map((line, index) => `${(index === 0 ? name : '').padEnd(16)}${line}`),
  )
}

/** A value in lines: words of a list in one, and each of its objects in one, as the names and values of its members. */
function wordsOf(value: unknown): string[] {
  if (typeof value !== 'object' || value === null) return [String(value ?? '–')]
  if (!Array.isArray(value))
    return [
      Object.entries(value)
        .map(([name, one]) => `${name} ${wordsOf(one).join(' ')}`)
        .join(', ') || '–',
    ]
  if (value.length > 0 && value.every(one => typeof one === 'object')) return value.flatMap(wordsOf)
  return [value.join(', ') || '–']
}

type AskedWebhook = Omit<Parameters<typeof addForOperator>[2], 'partnerId'>

/**
 * The endpoint that the options of `partner create` describe, if any. Throws UsageError when a part of one is missing.
 */
function askedWebhookOf(input: Input): AskedWebhook | undefined {
  if (input.text('webhook-url') === undefined) {
    const stray = ['webhook-username', 'webhook-password', 'webhook-password-file', 'events'].find(
      name => input.text(name) !== undefined,
    )
    if (stray !== undefined)
      throw new UsageError(`--${stray} is for an endpoint: give --webhook-url too; see --help.`)
    return undefined
  }
  return {
    url: neededText(input, 'webhook-url'),
    username: neededText(input, 'webhook-username'),
    password: neededSecret(input, 'webhook-password'),
    events: eventsOf(input),
  }
}

/** Checked before the partner is created, so that a wrong endpoint leaves nothing half-made. */
function checkWebhook(workspace: Workspace, asked: AskedWebhook): void {
  const refused = faultsOfEndpoint(asked, webhookRulesOf(workspace.config, workspace.installation))
  if (refused.length > 0) throw refusalOf({ refused }, 'webhook-')
}

async function createFor(
  input: Input,
  workspace: Workspace,
  asked: { settings: PartnerSettings; webhook: AskedWebhook | undefined },
): Promise<void> {
  const context = await creatingContextOf(workspace)
  if (asked.webhook) checkWebhook(workspace, asked.webhook)
  await fixKind(workspace)
  const { row, clientSecret, apiKey } = await createPartner(asked.settings, context, partnerId => {
    workspace.record({ partnerId })
    return workspace.alongside()
  })
  const wanted = asked.webhook && { partnerId: row.partner_id, ...asked.webhook }
  // The command is on record with its partner already.
  const webhook =
    wanted && (await workspace.database.transaction(tx => addForOperator(tx, workspace, wanted)))
  const view = {
    partnerid: row.partner_id,
    partnername: row.name,
    clientid: clientIdOf(row.partner_id),
    clientsecret: clientSecret,
    apikey: apiKey,
    ...webhook,
  }
  input.print(view, [...linesOf(view), '', 'Keep the secret and the key: they are not shown again.'])
}

const create: Command = {
  name: 'partner create',
  summary: 'Make a partner with a client secret and an API key; both are shown once.',
  options: {
    ...settingOptions,
    'webhook-url': valued('URL', 'https address that hears of its events'),
    'webhook-username': valued('NAME', 'user name of the webhook, without a colon'),
    ...secretOptions('webhook-password', 'password of the webhook'),
    events: valued('a,b|all', 'events it wants (default offer_activiation_successful)'),
  },
  run: async input => {
    neededText(input, 'name')
    const asked = { settings: await settingsOf(input), webhook: askedWebhookOf(input) }
    await inWorkspace(input, workspace => createFor(input, workspace, asked), { schema: 'make' })
  },
}

const list: Command = {
  name: 'partner list',
  summary: 'List the partners.',
  run: input =>
    inWorkspace(input, async ({ database }) => {
      const partners = (await listPartners(database)).map(row => ({
        partnerid: row.partner_id,
        partnername: row.name,
        timezone: row.timezone,
        disabled: row.disabled_at !== null,
      }))
      input.print(
        { partners },
        partners.map(
          one => `${one.partnerid}  ${one.partnername}  ${one.timezone}${one.disabled ? '  disabled' : ''}`,
        ),
      )
    }),
}

const show: Command = {
  name: 'partner show',
  arguments: ['ID'],
  summary: 'Show a partner, its settings and its credentials (never the secrets).',
  run: input =>
    inWorkspace(input, async workspace => {
      const { offers } = await administerContextOf(workspace)
      const row = await requirePartner(workspace.database, input.positionals[0] ?? '')
      const uses = await lastUses(workspace.database, row.partner_id)
      const listed = await listCredentials(workspace.database, row.partner_id)
      const credentials = listed
        .toSorted((a, b) => a.kind.localeCompare(b.kind))
        .map(one => ({
          id: one.credential_id,
          kind: one.kind,
          createdat: formatTimestamp(one.created_at),
          createdby: one.made_by,
          live: one.revoked_at === null,
          lastusedat: timestampOrNull(uses.get(one.credential_id)),
        }))
      const view = { ...viewPartner(row, offers), credentials }
      input.print(view, linesOf(view))
    }),
}

const update: Command = {
  name: 'partner update',
  arguments: ['ID'],
  summary: 'Change the given settings of a partner; a repeatable option replaces the whole list.',
  options: {
    ...settingOptions,
    'all-offers': flag('it may give all offers again'),
    enable: flag('enable it again after `partner disable`'),
  },
  run: async input => {
    const settings = await settingsOf(input)
    await inWorkspace(input, async workspace => {
      const context = await administerContextOf(workspace)
      const row = await changePartner(input.positionals[0] ?? '', settings, context)
      const view = viewPartner(row, context.offers)
      input.print(view, linesOf(view))
    })
  },
}

const disable: Command = {
  name: 'partner disable',
  arguments: ['ID'],
  summary: 'Refuse all calls of a partner within a second; none of its data is deleted.',
  run: input =>
    inWorkspace(input, async workspace => {
      const context = await administerContextOf(workspace)
      const row = await changePartner(input.positionals[0] ?? '', { isDisabled: true }, context)
      input.print({ partnerid: row.partner_id, disabled: true }, [
        `Partner ${row.partner_id} is disabled; \`enrolment partner update ${row.partner_id} --enable\` admits it again.`,
      ])
    }),
}

const rotate: Command = {
  name: 'key rotate',
  arguments: ['PARTNER'],
  summary: 'Make a second live client secret or API key; revoke the older once the partner uses the new one.',
  options: { kind: valued('KIND', 'client_secret (default) or api_key') },
  run: async input => {
    const kind = choiceOf(input, 'kind', ['client_secret', 'api_key']) ?? 'client_secret'
    await inWorkspace(input, async workspace => {
      const [partner = ''] = input.positionals
      const { id, secret, live } = await rotateKey(partner, kind, await administerContextOf(workspace))
      const older = live.filter(one => one !== id)
      const name = kind === 'api_key' ? 'apikey' : 'clientsecret'
      input.print({ kind, [name]: secret, secret, id, live, older }, [
        `${name.padEnd(16)}${secret}`,
        `${'id'.padEnd(16)}${id}`,
        '',
        'Keep it: it is not shown again.',
        ...older.map(
          one =>
            `Once the partner uses it, revoke the older one: \`enrolment key revoke ${partner} ${one}\`.`,
        ),
      ])
    })
  },
}

const revoke: Command = {
  name: 'key revoke',
  arguments: ['PARTNER', 'ID'],
  summary: 'Revoke a client secret or API key by its id; tokens issued from it end within a second.',
  run: input =>
    inWorkspace(input, async workspace => {
      const [partner = '', id = ''] = input.positionals
      await revokeKey(partner, id, await administerContextOf(workspace))
      input.print({ id, revoked: true }, [`Credential ${id} is revoked.`])
    }),
}

/** The commands about partners and their credentials. */
export const partnerCommands: readonly Command[] = [create, list, show, update, disable, rotate, revoke]
