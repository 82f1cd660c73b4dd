import { createHash } from 'node:crypto'
import { openPublished } from '../../catalogue/published.ts'
import { html, type Slot } from '../../http/html.ts'
import { FONTS } from '../../look/look.ts'
import { OperatorError } from '../../operator-error.ts'
import { changePartner } from '../../partners/administer.ts'
import { partnerOf } from '../../partners/keys.ts'
import type { Partner } from '../../partners/partner.ts'
import type { PartnerSettings } from '../../partners/settings.ts'
import type { PartnerRow } from '../../partners/store.ts'
import { ownPartner } from '../partners.ts'
import { type Answer, type OperatorVisit, onChange, onGet, type Screen } from '../screen/screen.ts'
import { actionForm, section, selectField } from '../views/parts.ts'
import { administer } from './credentials.ts'

/** The settings of a partner that an administrator may change: names, zone, addresses, help, look and offers. */
export const partnerSettingScreens: readonly Screen[] = [
  onGet('/partners/:partnerid/settings', 'administer', visit => show(visit)),
  onChange('/partners/:partnerid/settings', 'administer', change),
]

async function show(visit: OperatorVisit, isChanged = false): Promise<Answer> {
  const partner = await ownPartner(visit)
  const { help, legal, look } = partner
  const offers = await offersToTick(visit, partner)
  return {
    title: `Settings of ${partner.name}`,
    status: isChanged ? 409 : 200,
    body: html`${
      isChanged &&
      html`<section class="notice bad" role="alert"><h2>Nothing was saved</h2>
<p>Somebody changed these settings after you had loaded the page.
They are shown here as they are now: make your change again.</p></section>`
    }
<p class="hint">The same as <code>enrolment partner update</code>, by the same checks.
Logo, scopes and how long records outlive an erasure are set by the command.</p>
${actionForm(visit, {
  action: `/partners/${partner.partnerId}/settings`,
  button: 'Save the settings',
  color: 'primary',
  fields: html`<input type="hidden" name="seen" value="${seenOf(partner)}">
${section(
  'Partner',
  html`${text('name', 'Name', partner.name)}
${lines('aliases', 'Further names, one a line', partner.aliases)}
${text('timezone', 'Time zone', partner.timezone)}
${selectField('locale', 'Language of its pages', Object.entries({ en: 'English', es: 'Spanish' }), partner.locale)}
${text('rate', 'Requests a second, empty for no limit', String(partner.ratePerSecond ?? ''))}
${selectField('apikey', 'API key', ['needed', 'optional'], partner.apiKeyOptional ? 'optional' : 'needed')}
<fieldset class="field"><legend><strong>Offers; none ticked means all</strong></legend>${offers.map(
    ([offer, label]) =>
      html`<p class="check"><input type="checkbox" id="offer-${offer}" name="offer" value="${offer}"${
        partner.offers?.includes(offer) ? html` checked` : ''
      }><label for="offer-${offer}">${label}</label></p>`,
  )}</fieldset>`,
)}
${section(
  'Addresses',
  html`${lines('origins', 'Web origins that may embed the page, one a line', partner.origins)}
${lines('redirects', 'Addresses that the page may lead back to, one a line', partner.redirects)}`,
)}
${section(
  'Help and notices',
  html`${text(
    'helpphone',
    'Help by phone',
    help.phone,
  )}${text('helpemail', 'Help by email', help.email)}${text('helpurl', 'Help on the web', help.url)}
${text('privacyurl', 'Privacy notice', legal.privacyurl)}${text('termsurl', 'Terms', legal.termsurl)}
${text(
  'operatorline',
  'Who operates the benefits, in English',
  legal.operatorline?.en,
)}${text('operatorlinees', 'The same in Spanish', legal.operatorline?.es)}`,
)}
${section(
  'Look',
  html`${selectField(
    'scheme',
    'Light or dark',
    [OWN, ['auto', 'as the device says'], 'light', 'dark'],
    look.scheme ?? '',
  )}
${text(
  'colors',
  'Colors, as JSON such as {"light":{"accent":"#0b4f9e"}}',
  look.colors ? JSON.stringify(look.colors) : '',
)}
${text('radius', 'Radius of corners, 0 to 24', look.radius === undefined ? '' : String(look.radius))}
${selectField('font', 'Font', [OWN, ...Object.keys(FONTS)], look.font ?? '')}`,
)}`,
  why: 'why-settings',
})}
<p><a href="/partners/${partner.partnerId}">Leave them as they are</a></p>`,
  }
}

async function change(visit: OperatorVisit): Promise<Answer> {
  // The directory's copy may be a second old.
  visit.context.directory.forget(visit.params['partnerid'] ?? '')
  const partner = await ownPartner(visit)
  // The form has every setting, so from a page that was loaded earlier it would take back what somebody else has changed since.
  const isSeen = (now: Partner) => visit.form.get('seen') === seenOf(now)
  if (!isSeen(partner)) return show(visit, true)
  const knownOffers = [...(await todaysOffers(visit)).keys(), ...(partner.offers ?? [])]
  // Of two forms that are sent at once, the second finds what the first has saved.
  const check = (row: PartnerRow) => {
    if (!isSeen(partnerOf(row, visit.context.keyring)))
      throw new OperatorError('Somebody changed these settings after you had loaded the page.')
  }
  await administer(visit, { partner, action: 'change partner' }, context =>
    changePartner(partner.partnerId, settingsOf(visit.form), { ...context, knownOffers, check }),
  )
  return { to: `/partners/${partner.partnerId}` }
}

/** The settings that a page showed, as its form sends them back. */
function seenOf(partner: Partner): string {
  const { name, aliases, timezone, locale, origins, redirects, help, legal, look } = partner
  const { offers, apiKeyOptional, ratePerSecond } = partner
  const shown = [name, aliases, timezone, locale, origins, redirects, help, legal, look]
  const all = JSON.stringify([...shown, offers, apiKeyOptional, ratePerSecond])
  return createHash('sha256').update(all).digest('hex')
}

/** Requests a second; 0: no limit. No number at all for what is neither empty nor such as `100` or `100/s`. */
function rateOf(text: string | undefined): number | undefined {
  if (text === undefined) return undefined
  return text === '' ? 0 : Number(/^(\d{1,6}(?:\.\d+)?)(?:\/s)?$/.exec(text)?.[1])
}

function settingsOf(form: URLSearchParams): PartnerSettings {
  const given = (name: string) => form.get(name)?.trim()
  const list = (name: string) =>
    given(name)
      ?.split(/\s*\n\s*/)
      .filter(line => line !== '')
  return {
    name: given('name'),
    aliases: list('aliases'),
    timezone: given('timezone'),
    locale: given('locale'),
    origins: list('origins'),
    redirects: list('redirects'),
    ratePerSecond: rateOf(given('rate')),
    apiKeyOptional: form.has('apikey') ? form.get('apikey') === 'optional' : undefined,
    // Browsers do not send unticked boxes, so a form without any offer means all offers.
    offers: form.has('name') ? form.getAll('offer') : undefined,
    help: { phone: given('helpphone'), email: given('helpemail'), url: given('helpurl') },
    legal: {
      privacyUrl: given('privacyurl'),
      termsUrl: given('termsurl'),
      operatorLine: given('operatorline'),
      operatorLineEs: given('operatorlinees') || undefined,
    },
    look: { scheme: given('scheme'), colors: given('colors'), radius: given('radius'), font: given('font') },
  }
}

/**
 * The offers of today's catalogue by rank, then those that the partner has and that have left it: without their boxes, a
 * partner that has no others would be given all offers by saving.
 */
async function offersToTick(visit: OperatorVisit, partner: Partner): Promise<(readonly [string, string])[]> {
  const today = await todaysOffers(visit)
  const ranked = [...today.values()].sort((a, b) => a.rank - b.rank)
  const left = (partner.offers ?? []).filter(offer => !today.has(offer))
  return [
    ...ranked.map(({ offer, displayname }) => [offer, displayname.en] as const),
    ...left.map(offer => [offer, `${offer}, which the catalogue no longer has`] as const),
  ]
}

/** The offers of today's catalogue. */
async function todaysOffers({ context }: OperatorVisit) {
  const published = openPublished(context)
  await published.prepare([])
  return published.today().catalogue.offers
}

const OWN = ['', 'as the service has it'] as const

function text(name: string, label: string, value: string | undefined): Slot {
  return html`<p class="field"><label for="${name}">${label}</label><input id="${name}"
name="${name}" value="${value ?? ''}" autocomplete="off"></p>`
}

function lines(name: string, label: string, values: readonly string[]): Slot {
  return html`<p class="field"><label for="${name}">${label}</label><textarea id="${name}" name="${name}"
rows="3">${values.join('\n')}</textarea></p>`
}
