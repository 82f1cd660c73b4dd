import type { Cursor } from './cursor.ts'
import { DOCUMENTS, type FileMention, isPathOf } from './file-paths.ts'
import { MAX_CENTS, MAX_DOCUMENTS } from './limits.ts'
import {
  type BenefitDocument,
  type Insurer,
  LANGUAGES,
  PRICE_SPANS,
  PRICE_TAKERS,
  type Price,
  type WaitingPeriod,
} from './model.ts'
import { readStateLists } from './read-rules.ts'
import { readBilingual } from './read-values.ts'

const MAX_WAITING_DAYS = 3650

/** What a benefit costs; how it is taken is refused where nothing is to be paid or there is no insurer to take it. */
export function readPrice(at: Cursor, hasInsurer: boolean): Price {
  const fields = at.fields({ cents: 'the cost in cents; 0 = nothing', per: 'per: month' }, ['taken'])
  const cents = fields.cents.integer(0, MAX_CENTS) ?? 0
  const per = fields.per.oneOf(PRICE_SPANS) ?? 'month'
  if (!fields.taken) return { cents, per }
  if (cents === 0) fields.taken.refuse('belongs to a benefit that costs something; delete it')
  const taken = fields.taken.fields({
    by: `who takes the price, one of ${PRICE_TAKERS.join(', ')}`,
    how: 'how it is taken, in en and es, such as "from your weekly payout"',
  })
  const by = taken.by.oneOf(PRICE_TAKERS) ?? 'partner'
  if (by === 'insurer' && !hasInsurer) taken.by.refuse('needs an insurer; add one to the benefit')
  return { cents, per, taken: { by, how: readBilingual(taken.how, 120) } }
}

/** Who carries the risk. */
export function readInsurer(at: Cursor): Insurer {
  const fields = at.fields({
    name: "the insurer's full name",
    licence: 'the line that its licence asks for, in en and es',
  })
  return { name: fields.name.text(120), licence: readBilingual(fields.licence, 500) }
}

/** How long a benefit does not pay yet. */
export function readWaitingPeriod(at: Cursor): WaitingPeriod {
  const fields = at.fields({ days: 'the number of days' }, ['text'])
  const days = fields.days.integer(1, MAX_WAITING_DAYS) ?? 1
  return { days, ...(fields.text && { text: readBilingual(fields.text, 300) }) }
}

/** The documents of a benefit; two of one title, language and state are refused, since nobody could tell them apart. */
export function readDocuments(at: Cursor, files: FileMention[]): BenefitDocument[] {
  const seen = new Set<string>()
  return at.items(MAX_DOCUMENTS).map(item => {
    const document = readDocument(item, files)
    const { title, language, states } = document
    const key = JSON.stringify([title.en, language, states])
    if (seen.has(key))
      item.refuse('has the title, language and states of an earlier one; change one of the three')
    seen.add(key)
    return document
  })
}

function readDocument(at: Cursor, files: FileMention[]): BenefitDocument {
  const fields = at.fields(
    {
      title: 'what it is, in en and es',
      language: `the language it is written in, one of ${LANGUAGES.join(', ')}`,
      file: 'the path of a PDF beside this catalogue, such as documents/accident-en.pdf',
    },
    ['states'],
  )
  const file = fields.file.textThat(
    text => isPathOf(text, DOCUMENTS),
    'is not a PDF beside this catalogue; write its path in lower case, such as documents/accident-en.pdf',
  )
  if (file !== '') files.push({ at: fields.file, path: file, use: 'document' })
  return {
    title: readBilingual(fields.title, 120),
    language: fields.language.oneOf(LANGUAGES) ?? 'en',
    file,
    ...(fields.states && { states: readStateLists(fields.states) }),
  }
}
