import type { Entry } from './site.ts'

/** One section of the docs that contains words of a search. */
export type Found = { readonly title: string; readonly path: string; readonly excerpt: string }

const MOST_FOUND = 20
/** The rest of a longer question is not looked for, because each word is searched for in every section. */
const LONGEST_QUESTION = 100
const MOST_WORDS = 8
const EXCERPT_LENGTH = 180

/** Beginnings of words that people may ask for, and what the docs call the same. */
const synonyms: Readonly<Record<string, readonly string[]>> = {
  delet: ['eras'],
  forget: ['eras'],
  gdpr: ['eras'],
  unsubscrib: ['cancel'],
  terminat: ['cancel'],
  leav: ['cancel'],
  callback: ['webhook'],
  notif: ['webhook'],
  cost: ['amount', 'cents'],
  pric: ['amount', 'cents'],
  fee: ['amount', 'cents'],
  deduct: ['deduct'],
  bill: ['statement'],
  invoic: ['statement'],
  signup: ['enroll', 'registration'],
  regist: ['enroll', 'registration'],
  login: ['access token'],
  oauth: ['access token'],
  retry: ['repeat'],
  throttl: ['limits', 'too_many_requests'],
  import: ['move in', 'bulk'],
  migrat: ['move in', 'bulk'],
  upload: ['bulk'],
  iframe: ['embed'],
  widget: ['embed'],
  plan: ['offer'],
  heir: ['beneficiar'],
  sdk: ['client'],
  librar: ['client'],
  stag: ['sandbox'],
}

/** Guides explain, so they come before what only lists or promises; the page of an error comes first if its code is asked for. */
const weights: Readonly<Record<string, number>> = { Reference: 0.6, Promises: 0.4, Errors: 0.05 }

/**
 * Finds the sections that contain any word of a question, those with more and rarer words first: words in the title of the
 * page or the section count more than words in the text. A status such as 409 finds its errors. An empty question finds
 * nothing.
 */
export function search(entries: readonly Entry[], question: string): Found[] {
  const asked = question
    .slice(0, LONGEST_QUESTION)
    .toLowerCase()
    .replace(/\b(?:sign|log)[ -]?(in|up)\b/g, (_, way) => (way === 'in' ? 'login' : 'signup'))
    .split(/[\s,.;:?!"'()]+/)
    .filter(Boolean)
  const words = [...new Set(asked.map(stemOf))]
    .slice(0, MOST_WORDS)
    .map(word => ({ word, also: alsoCalled(word) }))
  const counted = words.map(word => ({ ...word, rarity: rarityOf(word, entries) }))
  return entries
    .map(entry => ({ entry, score: scoreOf(entry, counted) }))
    .filter(({ score }) => score > 0)
    .sort((one, other) => other.score - one.score)
    .slice(0, MOST_FOUND)
    .map(({ entry: { title, path, text } }) => ({ title, path, excerpt: excerptOf(text, words) }))
}

/** A word without its English ending, so that "swaps" and "swapping" find "swap". */
function stemOf(word: string): string {
  if (!/^[a-z]{5,}$/.test(word)) return word
  return word.replace(/(?:ing|ly|ed|es|s)$/, '').replace(/(?:pp|tt|nn)$/, double => double.charAt(0))
}

/** A word of the question, and the words of the docs for it. */
type Word = { readonly word: string; readonly also: readonly string[] }

function alsoCalled(word: string): readonly string[] {
  return Object.entries(synonyms).find(([begins]) => word.startsWith(begins))?.[1] ?? []
}

function isIn(text: string, { word, also }: Word): boolean {
  return text.includes(word) || also.some(one => text.includes(one))
}

/** From 0 for a word of every section to 7 for one of a single section among a thousand. */
function rarityOf(word: Word, entries: readonly Entry[]): number {
  const having = entries.filter(({ words }) => words.some(text => isIn(text, word))).length
  return Math.log((entries.length + 1) / (having + 1))
}

function scoreOf(
  { path, group, words: [title, heading, text] }: Entry,
  asked: readonly (Word & { readonly rarity: number })[],
): number {
  const isFirst = !path.includes('#')
  let score = 0
  let met = 0
  let weight = weights[group] ?? 1
  for (const { rarity, ...word } of asked) {
    const points =
      (isIn(title, word) ? (isFirst ? 10 : 3) : 0) +
      (isIn(heading, word) ? 6 : 0) +
      (isIn(text, word) ? 1 : 0)
    if (points > 0) met += 1
    score += points * rarity
    const isItself = title === word.word || text.startsWith(`status ${word.word}:`)
    if (group === 'Errors' && isFirst && isItself) weight = 1000
  }
  return score * weight * (met / asked.length) ** 2
}

function excerptOf(text: string, words: readonly Word[]): string {
  const lower = text.toLowerCase()
  const places = words
    .flatMap(({ word, also }) => [word, ...also])
    .map(word => lower.indexOf(word))
    .filter(place => place >= 0)
  const at = Math.max(0, Math.min(...(places.length > 0 ? places : [0])) - 50)
  const cut = text.slice(at, at + EXCERPT_LENGTH)
  return `${at > 0 ? '…' : ''}${cut}${at + EXCERPT_LENGTH < text.length ? '…' : ''}`
}
