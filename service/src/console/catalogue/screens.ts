import { differencesOf } from '../../catalogue/difference.ts'
import type { Catalogue } from '../../catalogue/model.ts'
import { listPublications, type Publication, readVersion } from '../../catalogue/published.ts'
import { html, type Slot } from '../../http/html.ts'
import { type Answer, notHere, type OperatorVisit, onGet, type Screen } from '../screen/screen.ts'
import { listScreens, type OpenList } from '../views/declared-list.ts'
import { listPart } from '../views/list.ts'
import { section, selectField } from '../views/parts.ts'
import { benefitList, differenceList, offerList, versionList } from './lists.ts'

/** The versions of the catalogue, and how they differ; `enrolment catalogue publish` makes the next one. */
export const catalogueScreens: readonly Screen[] = [
  ...listScreens({ path: '/catalogue', role: 'viewer', exported: 'export catalogue', open }),
  onGet('/catalogue/versions/:version', 'viewer', show),
  onGet('/catalogue/diff', 'viewer', compare),
]

async function open({ context, zone }: OperatorVisit): Promise<OpenList<Publication>> {
  const versions = await listPublications(context.database)
  return {
    ...versionList(versions, zone),
    title: 'Catalogue',
    heading: 'Versions',
    file: 'catalogue.csv',
    filters: [],
    around: () => ({
      below: html`${versions.length > 1 && section('Compare two', compareForm(versions))}
<p class="hint">The next version is checked, weighed and published by <code>enrolment catalogue check</code>,
<code>impact</code> and <code>publish</code>.</p>`,
    }),
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
  return html`<form method="get" action="/catalogue/diff"
class="row">${choice('from', 'From', newest - 1)}${choice('to', 'To', newest)}<button
class="secondary">Compare</button></form>`
}

async function show(visit: OperatorVisit): Promise<Answer> {
  const { version, catalogue } = await required(visit, visit.params['version'])
  return {
    title: `Version ${version}`,
    body: html`<p><a href="/catalogue">All versions</a>${
      version > 1 &&
      html` · <a href="/catalogue/diff?from=${version - 1}&amp;to=${version}">What it changed</a>`
    }</p>
${listPart('Offers', offerList(catalogue))}
${listPart('Benefits', benefitList(catalogue))}`,
  }
}

async function compare(visit: OperatorVisit): Promise<Answer> {
  const { version: from, catalogue: before } = await required(visit, visit.query.get('from') ?? '')
  const { version: to, catalogue: after } = await required(visit, visit.query.get('to') ?? '')
  return {
    title: `From version ${from} to ${to}`,
    body: html`<p><a href="/catalogue">All versions</a> · <a
href="/catalogue/diff?from=${to}&amp;to=${from}">The other way round</a></p>
${listPart('What differs', differenceList(differencesOf(before, after)))}`,
  }
}

async function required(
  { context }: OperatorVisit,
  text = '',
): Promise<{ version: number; catalogue: Catalogue }> {
  const version = Number(text)
  const catalogue = /^[1-9]\d{0,8}$/.test(text) ? await readVersion(context.database, version) : undefined
  if (!catalogue) throw notHere('version')
  return { version, catalogue }
}
