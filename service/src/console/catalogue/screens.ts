import { type Difference, differencesOf } from '../../catalogue/difference.ts'
import type { Catalogue } from '../../catalogue/model.ts'
import { listPublications, type Publication, readVersion } from '../../catalogue/published.ts'
import { storeFiles } from '../../files/store.ts'
import { html, type Slot } from '../../http/html.ts'
import { needsSecondPerson } from '../requests/ask.ts'
import { record } from '../screen/record.ts'
import {
  type Answer,
  ConsoleRefusal,
  notHere,
  onChange,
  onGet,
  onPost,
  type Screen,
  type Visit,
} from '../screen/screen.ts'
import { tokenField } from '../views/layout.ts'
import { type List, listFile, listPart, sortField } from '../views/list.ts'
import { actionForm, part, selectField } from '../views/parts.ts'
import { countingOf } from './counting.ts'
import { type Draft, openDraft, readUpload, sealDraft } from './draft.ts'
import { draftView } from './draft-view.ts'
import { benefitList, differenceList, offerList, versionList } from './lists.ts'
import { draftNow, publishDraft } from './publish.ts'

/** The versions of the catalogue, how they differ, and publishing the next one after seeing its effect. */
export const catalogueScreens: readonly Screen[] = [
  onGet('/catalogue', 'viewer', visit => list(visit)),
  onGet('/catalogue.csv', 'support', versionsFile),
  onGet('/catalogue/versions/:version', 'viewer', show),
  onGet('/catalogue/versions/:version/offers.csv', 'support', visit =>
    versionFile(visit, 'offers', offerList),
  ),
  onGet('/catalogue/versions/:version/benefits.csv', 'support', visit =>
    versionFile(visit, 'benefits', benefitList),
  ),
  onGet('/catalogue/diff', 'viewer', compare),
  onGet('/catalogue/diff.csv', 'support', differencesFile),
  { ...onChange('/catalogue/check', 'admin', check), takes: 'files' },
  { ...onPost('/catalogue/draft', 'admin', showDraft), takes: 'draft' },
  { ...onPost('/catalogue/draft.csv', 'admin', draftFile), takes: 'draft' },
  { ...onChange('/catalogue/publish', 'admin', publish), takes: 'draft' },
]

async function list(visit: Visit, notice?: Slot, status = 200): Promise<Answer> {
  const versions = await listPublications(visit.context.database)
  const mayPublish = visit.isAdmin && visit.operator.partners === undefined
  return {
    title: 'Catalogue',
    status,
    body: html`${notice}
<div class="columns"><div>${listPart(visit, 'Versions', versionList(versions))}
${versions.length > 1 && part('Compare two', compareForm(versions))}</div>
<div>${mayPublish && part('Publish the next version', uploadForm(visit))}</div></div>`,
  }
}

function compareForm(versions: readonly Publication[]): Slot {
  const choice = (name: string, label: string, chosen: number) =>
    selectField(
      name,
      label,
      versions.map(({ version }) => `${version}`),
      `${chosen}`,
    )
  const newest = versions[0]?.version ?? 1
  return html`<form method="get" action="/catalogue/diff" class="row">${choice('from', 'From', newest - 1)}${choice('to', 'To', newest)}<button class="secondary">Compare</button></form>`
}

function uploadForm(visit: Visit): Slot {
  return html`<form method="post" action="/catalogue/check" enctype="multipart/form-data" class="act">${tokenField(visit.session.formToken)}
<p class="field"><label for="catalogue">Catalogue</label><input id="catalogue" name="catalogue" type="file" accept=".yaml,.yml" required aria-describedby="catalogue-hint"><span class="hint" id="catalogue-hint">The YAML file that docs/catalogue.md explains.</span></p>
<p class="field"><label for="files">Documents and icons that are new or changed</label><input id="files" name="files" type="file" accept=".pdf,.png,.webp" multiple aria-describedby="files-hint"><span class="hint" id="files-hint">Found by their names. Those of the newest version need not be sent again. 32 MiB together; more by the command.</span></p>
<button class="primary">Check it</button></form>
<p class="hint">Checking publishes nothing. You see what it would do first.</p>`
}

async function show(visit: Visit): Promise<Answer> {
  const { version, catalogue } = await required(visit, visit.params['version'])
  return {
    title: `Version ${version}`,
    body: html`<p><a href="/catalogue">All versions</a>${version > 1 && html` · <a href="/catalogue/diff?from=${version - 1}&amp;to=${version}">What it changed</a>`}</p>
${listPart(visit, 'Offers', offerList(catalogue, version))}
${listPart(visit, 'Benefits', benefitList(catalogue, version))}`,
  }
}

async function compare(visit: Visit): Promise<Answer> {
  const list = await comparison(visit)
  const { from = '', to = '' } = list.filters
  return {
    title: `From version ${from} to ${to}`,
    body: html`<p><a href="/catalogue">All versions</a> · <a href="/catalogue/diff?from=${to}&amp;to=${from}">The other way round</a></p>
${listPart(visit, 'What differs', list)}`,
  }
}

async function comparison(visit: Visit): Promise<List<Difference>> {
  const before = await required(visit, visit.query.get('from') ?? '')
  const after = await required(visit, visit.query.get('to') ?? '')
  const differences = differencesOf(before.catalogue, after.catalogue)
  const filters = { from: String(before.version), to: String(after.version) }
  return differenceList(differences, { path: '/catalogue/diff', filters })
}

async function versionsFile(visit: Visit): Promise<Answer> {
  const list = versionList(await listPublications(visit.context.database))
  return listFile(visit, list, { ...EXPORT, file: 'catalogue.csv' })
}

/** The offers or the benefits of a version as a file. */
async function versionFile<Row>(
  visit: Visit,
  name: string,
  listOf: (catalogue: Catalogue, version: number) => List<Row>,
): Promise<Answer> {
  const { version, catalogue } = await required(visit, visit.params['version'])
  return listFile(visit, listOf(catalogue, version), { ...EXPORT, file: `${name}-of-version-${version}.csv` })
}

async function differencesFile(visit: Visit): Promise<Answer> {
  const list = await comparison(visit)
  const { from, to } = list.filters
  return listFile(visit, list, { ...EXPORT, file: `catalogue-${from}-${to}.csv` })
}

const EXPORT = { action: 'export catalogue' }

async function required({ context }: Visit, text = ''): Promise<{ version: number; catalogue: Catalogue }> {
  const version = Number(text)
  const catalogue = /^[1-9]\d{0,8}$/.test(text) ? await readVersion(context.database, version) : undefined
  if (!catalogue) throw notHere('version')
  return { version, catalogue }
}

/** A catalogue concerns the users of all partners, so an operator for some of them may look, but not publish. */
async function refuseUnlessForAll(visit: Visit): Promise<void> {
  if (visit.operator.partners === undefined) return
  await record(visit, { action: 'publish catalogue', result: 'refused' })
  throw new ConsoleRefusal(
    403,
    'Not for some partners',
    'A catalogue concerns all partners, and you work for some. Somebody who works for all can publish it.',
  )
}

async function check(visit: Visit): Promise<Answer> {
  await refuseUnlessForAll(visit)
  const { database, real } = visit.context
  const read = await readUpload(database, visit.files)
  await record(visit, { action: 'check catalogue', result: 'problems' in read ? 'refused' : 'done' })
  if ('problems' in read) {
    const shown = read.problems.slice(0, 50)
    const count = read.problems.length
    return list(
      visit,
      html`<section class="notice bad" role="alert"><h2>${count === 1 ? 'One problem' : `${count} problems`} in the catalogue</h2><ul class="rules">${shown.map(line => html`<li>${line}</li>`)}</ul>${count > shown.length && html`<p>… and ${count - shown.length} more</p>`}</section>`,
      422,
    )
  }
  // Stored by the hash of their bytes; a file that no version names is never shown to anybody.
  await storeFiles(database, read.brought, { at: real(), who: visit.operator.name })
  return draftPage(visit, read.draft)
}

async function showDraft(visit: Visit): Promise<Answer> {
  await refuseUnlessForAll(visit)
  return draftPage(visit, await sentDraft(visit))
}

/** The form with the draft asks for its differences in another order, because no address can contain a draft. */
function draftList(differences: readonly Difference[]): List<Difference> {
  return differenceList(differences, { path: '/catalogue/draft', filters: {}, formId: DRAFT_FORM })
}

const DRAFT_FORM = 'draft'

async function draftFile(visit: Visit): Promise<Answer> {
  await refuseUnlessForAll(visit)
  const { differences, follows } = await sentDraft(visit)
  const file = `catalogue-draft-after-${follows}.csv`
  return listFile(visit, draftList(differences), { ...EXPORT, file })
}

async function publish(visit: Visit): Promise<Answer> {
  await refuseUnlessForAll(visit)
  return publishDraft(visit, await sentDraft(visit))
}

async function sentDraft(visit: Visit): Promise<Draft> {
  const { keyring, real } = visit.context
  const document = openDraft(keyring, visit.form.get('draft') ?? '', real())
  if (document) return draftNow(visit, document)
  throw new ConsoleRefusal(422, 'The draft is too old', 'It holds for a day. Upload the file again.')
}

async function draftPage(visit: Visit, draft: Draft): Promise<Answer> {
  const { keyring, real } = visit.context
  const sealed = sealDraft(keyring, draft, real())
  const field = html`<input type="hidden" name="draft" value="${sealed}">`
  const needsSecond = await needsSecondPerson(visit, 'publish')
  const counting = countingOf(visit.context, draft)
  return {
    title: `Version ${draft.follows + 1}, not published`,
    body: html`<p class="lead">The catalogue is right. It would follow ${draft.follows === 0 ? 'nothing' : `version ${draft.follows}`}, and nothing is published yet.</p>
${actionForm(visit, { id: DRAFT_FORM, action: '/catalogue/draft', button: 'Look again', fields: html`${field}${sortField(visit.form)}` })}
${draftView(listPart(visit, 'What it changes', draftList(draft.differences)), counting)}
${part(
  needsSecond ? 'Ask for it to be published' : 'Publish it',
  html`<p class="hint">${needsSecond ? 'A second person has to confirm it, as the policy says.' : 'Running services use it within a second. A version is never taken back: publish another in its place.'}</p>
${actionForm(visit, {
  action: '/catalogue/publish',
  button: needsSecond ? 'Ask a second person' : 'Publish',
  look: 'primary',
  fields: html`${field}<input type="hidden" name="effect" value="${draft.effect}">`,
  why: 'why-publish',
})}`,
)}`,
  }
}
