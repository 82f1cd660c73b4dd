import { isScope, scopeNames } from '@benefit-enrolment/contract/names'
import type { Offer } from '../catalogue/model.ts'
import { openPublished } from '../catalogue/published.ts'
import { claimInstallation } from '../installation.ts'
import { clientIdOf } from '../oauth/client-credentials.ts'
import { OperatorError } from '../operator-error.ts'
import {
  changePartner,
  createPartner,
  type ManageContext,
  type PartnerSettings,
  requirePartner,
  revokeKey,
  rotateKey,
} from '../partners/manage.ts'
import { listCredentials, listPartners, type PartnerRow } from '../partners/store.ts'
import { checkWebhookUrl } from '../webhooks/address.ts'
import { type Command, choiceOf, type Input, neededText, type Option, UsageError } from './command.ts'
import { addForOperator, eventsOf } from './webhook.ts'
import { inWorkspace, type Workspace, webhookRulesOf } from './workspace.ts'

const settingOptions: Readonly<Record<string, Option>> = {
  name: { type: 'string', value: 'NAME', help: 'name of the partner' },
  alias: { type: 'string', multiple: true, value: 'NAME', help: 'further name that partnername may carry' },
  timezone: { type: 'string', value: 'ZONE', help: 'IANA time zone of its dates (default America/New_York)' },
  locale: { type: 'string', value: 'en|es', help: 'language of its pages (default en)' },
  origin: { type: 'string', multiple: true, value: 'ORIGIN', help: 'web origin that may embed the page' },
  redirect: { type: 'string', multiple: true, value: 'URL', help: 'address the page may lead back to' },
  'help-phone': { type: 'string', value: 'NUMBER', help: 'where its users find help; "" takes it away' },
  'help-email': { type: 'string', value: 'ADDRESS', help: 'the same by email' },
  'help-url': { type: 'string', value: 'URL', help: 'the same on the web, an https address' },
  offer: { type: 'string', multiple: true, value: 'OFFER', help: 'offer it may give (default: all offers)' },
  scope: {
    type: 'string',
    multiple: true,
    value: 'SCOPE',
    help: 'scope it may ask for (default: all scopes)',
  },
  rate: { type: 'string', value: 'N/s', help: 'requests a second it may send (0/s takes the limit away)' },
  'api-key-optional': { type: 'boolean', help: 'x-api-key may be left out' },
  'api-key-required': { type: 'boolean', help: 'x-api-key must be sent (the default)' },
}

/** What managing partners needs, and the offers of today's catalogue. */
export const manageContextOf = async (
  workspace: Workspace,
): Promise<ManageContext & { offers: readonly Offer[] }> => {
  const { database, keyring, installation, real } = workspace
  const published = openPublished({ database, real })
  await published.prepare([])
  const offers = [...published.today().catalogue.offers.values()].sort((a, b) => a.rank - b.rank)
  const mode = installation.sandbox ? 'sandbox' : 'live'
  return { database, keyring, mode, real, offers, knownOffers: offers.map(offer => offer.offer) }
}

/** What the options set. Throws UsageError on words that no setting can have. */
const settingsOf = (input: Input): PartnerSettings => {
  const list = (name: string) => (input.list(name).length > 0 ? input.list(name) : undefined)
  const rate = input.text('rate')
  if (rate !== undefined && !/^\d{1,6}(\.\d+)?\/s$/.test(rate))
    throw new UsageError('--rate must look like 100/s; see --help.')
  const unknown = input.list('scope').find(scope => !isScope(scope))
  if (unknown !== undefined)
    throw new UsageError(`There is no scope "${unknown}"; there are ${scopeNames.join(', ')}; see --help.`)
  return {
    name: input.text('name'),
    aliases: list('alias'),
    timezone: input.text('timezone'),
    locale: choiceOf(input, 'locale', ['en', 'es']),
    origins: list('origin'),
    redirects: list('redirect'),
    help: { phone: input.text('help-phone'), email: input.text('help-email'), url: input.text('help-url') },
    offers: input.flag('all-offers') ? [] : list('offer'),
    scopes: list('scope'),
    ratePerSecond: rate === undefined ? undefined : Number(rate.slice(0, -2)),
    apiKeyOptional: input.flag('api-key-optional')
      ? true
      : input.flag('api-key-required')
        ? false
        : undefined,
    isDisabled: input.flag('enable') ? false : undefined,
  }
}

const viewPartner = (row: PartnerRow, offers: readonly Offer[]) => ({
  partnerid: row.partner_id,
  partnername: row.name,
  aliases: row.aliases,
  clientid: clientIdOf(row.partner_id),
  timezone: row.timezone,
  locale: row.locale,
  origins: row.origins,
  redirects: row.redirects,
  help: row.help,
  offers: offers
    .filter(offer => row.offers === null || row.offers.includes(offer.offer))
    .map(offer => ({ offer: offer.offer, rank: offer.rank })),
  scopes: row.scopes ?? 'all',
  apikeyoptional: row.api_key_optional,
  ratepersecond: row.rate_per_second,
  disabled: row.disabled_at !== null,
  createdat: new Date(row.created_at).toISOString(),
})

const linesOf = (view: object): string[] =>
  Object.entries(view).map(
    ([name, value]) => `${name.padEnd(16)}${typeof value === 'string' ? value : JSON.stringify(value)}`,
  )

type WebhookWish = Omit<Parameters<typeof addForOperator>[1], 'partnerId'>

/** The endpoint that the options of `partner create` describe, if any. Throws UsageError where one lacks a part. */
const webhookWishOf = (input: Input): WebhookWish | undefined => {
  if (input.text('webhook-url') === undefined) {
    const stray = ['webhook-username', 'webhook-password', 'events'].find(
      name => input.text(name) !== undefined,
    )
    if (stray !== undefined)
      throw new UsageError(`--${stray} is for an endpoint: give --webhook-url too; see --help.`)
    return undefined
  }
  return {
    url: neededText(input, 'webhook-url'),
    username: neededText(input, 'webhook-username'),
    password: neededText(input, 'webhook-password'),
    events: eventsOf(input),
  }
}

/** Checked before the partner is made, so that a wrong endpoint leaves nothing half-made. */
const checkWebhook = (workspace: Workspace, { url, username }: WebhookWish): void => {
  const checked = checkWebhookUrl(url, webhookRulesOf(workspace.config, workspace.installation))
  if (!checked.ok) throw new OperatorError(`--webhook-url: ${checked.reason}`)
  if (username.includes(':')) throw new OperatorError('--webhook-username must not have a colon.')
}

const createFor = async (
  input: Input,
  workspace: Workspace,
  wish: { settings: PartnerSettings; webhook: WebhookWish | undefined },
): Promise<void> => {
  const context = await manageContextOf(workspace)
  if (wish.webhook) checkWebhook(workspace, wish.webhook)
  // Its secrets say what kind of database they are for: from here on that is settled.
  const wanted = workspace.installation.sandbox ? 'sandbox' : 'live'
  await claimInstallation(workspace.database, {
    keyring: workspace.keyring,
    wanted,
    now: workspace.real(),
  })
  const { row, clientSecret, apiKey } = await createPartner(wish.settings, context)
  const webhook = wish.webhook
    ? await addForOperator(workspace, { partnerId: row.partner_id, ...wish.webhook })
    : {}
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
  arguments: [],
  summary: 'Make a partner with a client secret and an API key; both are shown once.',
  options: {
    ...settingOptions,
    'webhook-url': { type: 'string', value: 'URL', help: 'https address that hears of its events' },
    'webhook-username': { type: 'string', value: 'NAME', help: 'user name of the webhook, without a colon' },
    'webhook-password': { type: 'string', value: 'PASSWORD', help: 'password of the webhook' },
    events: {
      type: 'string',
      value: 'a,b|all',
      help: 'events it wants (default offer_activiation_successful)',
    },
  },
  run: async input => {
    neededText(input, 'name')
    const wish = { settings: settingsOf(input), webhook: webhookWishOf(input) }
    await inWorkspace(input, workspace => createFor(input, workspace, wish), { mayMake: true })
  },
}

const list: Command = {
  name: 'partner list',
  arguments: [],
  summary: 'List the partners.',
  options: {},
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
  options: {},
  run: input =>
    inWorkspace(input, async workspace => {
      const { offers } = await manageContextOf(workspace)
      const row = await requirePartner(workspace.database, input.positionals[0] ?? '')
      const credentials = (await listCredentials(workspace.database, row.partner_id)).map(one => ({
        id: one.credential_id,
        kind: one.kind,
        createdat: new Date(one.created_at).toISOString(),
        live: one.revoked_at === null,
      }))
      const view = { ...viewPartner(row, offers), credentials }
      input.print(view, linesOf(view))
    }),
}

const update: Command = {
  name: 'partner update',
  arguments: ['ID'],
  summary: 'Change settings of a partner; a repeatable option replaces the whole list.',
  options: {
    ...settingOptions,
    'all-offers': { type: 'boolean', help: 'it may give all offers again' },
    enable: { type: 'boolean', help: 'enable it again after `partner disable`' },
  },
  run: async input => {
    const settings = settingsOf(input)
    await inWorkspace(input, async workspace => {
      const context = await manageContextOf(workspace)
      const row = await changePartner(input.positionals[0] ?? '', settings, context)
      const view = viewPartner(row, context.offers)
      input.print(view, linesOf(view))
    })
  },
}

const disable: Command = {
  name: 'partner disable',
  arguments: ['ID'],
  summary: 'Refuse all calls of a partner within a second; nothing of it is deleted.',
  options: {},
  run: input =>
    inWorkspace(input, async workspace => {
      const context = await manageContextOf(workspace)
      const row = await changePartner(input.positionals[0] ?? '', { isDisabled: true }, context)
      input.print({ partnerid: row.partner_id, disabled: true }, [`Partner ${row.partner_id} is disabled.`])
    }),
}

const rotate: Command = {
  name: 'key rotate',
  arguments: ['PARTNER'],
  summary: 'Make a second live client secret or API key; revoke the older once the partner uses the new one.',
  options: { kind: { type: 'string', value: 'KIND', help: 'client_secret (default) or api_key' } },
  run: async input => {
    const kind = choiceOf(input, 'kind', ['client_secret', 'api_key']) ?? 'client_secret'
    await inWorkspace(input, async workspace => {
      const { secret, live } = await rotateKey(
        input.positionals[0] ?? '',
        kind,
        await manageContextOf(workspace),
      )
      input.print({ kind, secret, live }, [
        `${kind.padEnd(16)}${secret}`,
        '',
        `Shown once. Live now: ${live.join(', ')}. Revoke the older with \`enrolment key revoke\`.`,
      ])
    })
  },
}

const revoke: Command = {
  name: 'key revoke',
  arguments: ['PARTNER', 'ID'],
  summary: 'Revoke a client secret or API key by its id; tokens issued from it end within a second.',
  options: {},
  run: input =>
    inWorkspace(input, async workspace => {
      const [partner = '', id = ''] = input.positionals
      await revokeKey(partner, id, await manageContextOf(workspace))
      input.print({ id, revoked: true }, [`Credential ${id} is revoked.`])
    }),
}

/** The commands about partners and their credentials. */
export const partnerCommands: readonly Command[] = [create, list, show, update, disable, rotate, revoke]
