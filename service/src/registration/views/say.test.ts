import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { languages, sayIn } from './say.ts'

const folder = fileURLToPath(new URL('..', import.meta.url))

/** The sentences that the page says, with `{1}`, `{2}` … for the facts in them. */
function sentencesIn(source: string): string[] {
  const found: string[] = []
  const tag = /(?<!`)\b(?:say|later|sayIn\([\w.]+\))`/g
  while (tag.exec(source)) {
    let [sentence, facts, at] = ['', 0, tag.lastIndex]
    while (source[at] !== '`') {
      const end = source.startsWith('${', at) ? endOfFact(source, at + 2) : at + 1
      if (end > at + 1) found.push(...sentencesIn(source.slice(at + 2, end - 1)))
      if (end > at + 1) facts += 1
      sentence += end > at + 1 ? `{${facts}}` : source[at]
      at = end
    }
    found.push(sentence)
    tag.lastIndex = at + 1
  }
  return found
}

/** Where the code of a fact ends, behind its brace; it may have templates of its own. */
function endOfFact(source: string, from: number): number {
  let at = from
  for (let depth = 1; depth > 0; at += 1) {
    if (source[at] === '{') depth += 1
    else if (source[at] === '}') depth -= 1
    else if (source[at] === '`') {
      at += 1
      while (source[at] !== '`') at = source.startsWith('${', at) ? endOfFact(source, at + 2) : at + 1
    }
  }
  return at
}

const said = new Set(
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter(name => /(?<!\.test)\.ts$/.test(name) && name !== 'views/say.ts')
    .flatMap(name => sentencesIn(readFileSync(folder + name, 'utf8'))),
)

test('each language has each sentence of the page, a draft some of them, and none has another', () => {
  expect(said.size).toBeGreaterThan(400)
  for (const [locale, { sentences, draft }] of languages) {
    if (locale === 'en') continue
    const known = Object.keys(sentences)
    expect(
      known.filter(sentence => !said.has(sentence)),
      locale,
    ).toEqual([])
    if (draft) continue
    expect(
      [...said].filter(sentence => !(sentence in sentences)),
      locale,
    ).toEqual([])
  }
})

test('each sentence has the same facts in every language', () => {
  const factsIn = (text: string) => [...new Set(text.match(/\{\d\}/g))].sort()
  for (const [locale, { sentences }] of languages)
    for (const [english, other] of Object.entries(sentences))
      expect(factsIn(other), `${locale}: ${english}`).toEqual(factsIn(english))
})

test('a sentence that has the same words in Spanish is one of these', () => {
  const same = Object.entries(languages.get('es')?.sentences ?? {}).filter(([one, other]) => one === other)
  expect(same.map(([sentence]) => sentence).sort()).toEqual([
    '(PDF)',
    'Error: ',
    'Plan',
    '{1} – {2}',
    '{1}%',
    '{1}, {2} ({3})',
  ])
})

test('in a Spanish sentence a benefit stands in quotation marks or after a colon, since its article is not known', () => {
  const name = 'Seguro de vida a término'
  const say = sayIn({ locale: 'es' })
  for (const sentence of [
    say`Who receives what ${name} pays?`,
    say`Swap a benefit for ${name}`,
    say`From ${'1 de mayo'} you no longer pay ${'$5.00'} for ${name}.`,
    say`Because of this change, ${name} ends on ${'1 de mayo'}.`,
    say`Because of this change, ${name} ended on ${'1 de mayo'}.`,
    say`Because of this change, ${name} will not start.`,
    say`These have not started and will not: ${name}.`,
    say`Go on with ${name}`,
    say`Which benefit do you want to swap for ${name}?`,
  ])
    expect(sentence).toMatch(/(“|: )Seguro de vida a término/)
})
