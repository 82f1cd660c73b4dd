import type { CatalogueDocument } from '../../catalogue/document.ts'
import { listVersions, publishVersion } from '../../catalogue/published.ts'
import { checkSuccession } from '../../catalogue/succession.ts'
import type { Query } from '../../db/sql.ts'
import { operatorNames } from '../../operators/store.ts'
import { askSecondPerson, needsSecondPerson } from '../requests/ask.ts'
import type { RequestKind } from '../requests/request.ts'
import { recordAlongside } from '../screen/record.ts'
import { type Answer, ConsoleRefusal, reasonOf, type Visit } from '../screen/screen.ts'
import { listTable } from '../views/list.ts'
import { part } from '../views/parts.ts'
import { countingOf } from './counting.ts'
import { type Draft, draftOf } from './draft.ts'
import { draftView } from './draft-view.ts'
import { differenceList } from './lists.ts'

/**
 * A document as a draft that follows the present versions. Throws a refusal for a document that contradicts a version
 * published since it was checked.
 */
export async function draftNow(visit: Visit, document: CatalogueDocument): Promise<Draft> {
  const draft = await draftOrRefusal(visit, document)
  if ('refused' in draft) throw new ConsoleRefusal(409, 'It can no longer be published', draft.refused)
  return draft
}

/** The same, with the refusal as a value: the page of a request shows it and lets the request be refused or withdrawn. */
async function draftOrRefusal(
  { context }: Visit,
  document: CatalogueDocument,
): Promise<Draft | { readonly refused: string }> {
  const versions = await listVersions(context.database)
  const newest = versions.at(-1)
  const draft = draftOf(document, { version: newest?.version ?? 0, catalogue: newest?.catalogue })
  const names = [...draft.catalogue.benefits.keys(), ...draft.catalogue.offers.keys()]
  const positions = new Map(names.map(path => [path, { line: 1, column: 1, path }]))
  const [problem] = checkSuccession(
    { catalogue: draft.catalogue, positions },
    versions.map(one => one.catalogue),
  )
  return problem ? { refused: problem.message } : draft
}

/** Publishes a draft, or requests a second person's confirmation, as the policy requires. */
export async function publishDraft(visit: Visit, draft: Draft): Promise<Answer> {
  const reason = reasonOf(visit)
  // Only what was shown may be published; a newer version in between would change its effect.
  if (visit.form.get('effect') !== draft.effect)
    throw new ConsoleRefusal(
      409,
      'Another version was published meanwhile',
      'Nothing was done. Upload the file again and look at what it would do now.',
    )
  if (draft.differences.length === 0)
    throw new ConsoleRefusal(409, 'Nothing to publish', `Version ${draft.follows} says the same already.`)
  if (await needsSecondPerson(visit, 'publish')) {
    const { document, effect } = draft
    return askSecondPerson(visit, {
      action: 'publish',
      partner: undefined,
      serviceId: undefined,
      reason,
      effect,
      payload: { document },
    })
  }
  const done = await publish(visit, draft, {
    by: visit.operator.name,
    also: [recordAlongside(visit, { action: 'publish catalogue', reason })],
  })
  if ('refused' in done) throw new ConsoleRefusal(409, 'Nothing was published', done.refused)
  return done
}

async function publish(
  { context }: Visit,
  { document, follows }: Draft,
  { by, also }: { by: string; also: readonly Query[] },
): Promise<{ to: string } | { refused: string }> {
  const fresh = { document, follows, files: [], at: context.real(), by }
  const { version, isNew } = await publishVersion(context.database, fresh, also)
  return isNew
    ? { to: `/catalogue/versions/${version}` }
    : { refused: 'Another version was published meanwhile, or the newest says the same.' }
}

/** The request that a second person confirms when an operator wants to publish a catalogue. */
export const publishKind: RequestKind = {
  action: 'publish',
  title: 'Publish a catalogue',
  role: 'admin',
  preview: async (visit, { requestId, payload }) => {
    const draft = await draftOrRefusal(visit, payload['document'] as CatalogueDocument)
    if ('refused' in draft) return draft
    const { effect, differences } = draft
    const list = differenceList(differences, { path: `/requests/${requestId}`, filters: {} })
    const changes = part('What it changes', listTable(list, visit.query))
    return { shown: draftView(changes, countingOf(visit.context, draft)), effect }
  },
  perform: async (visit, { payload, effect, askedBy }, decision) => {
    const draft = await draftOrRefusal(visit, payload['document'] as CatalogueDocument)
    if ('refused' in draft) return draft
    if (draft.effect !== effect)
      return { refused: 'Another version was published since this was asked for. Ask for it again.' }
    const names = await operatorNames(visit.context.database)
    const by = `${names.get(askedBy) ?? askedBy}, confirmed by ${visit.operator.name}`
    return publish(visit, draft, { by, also: decision })
  },
}
