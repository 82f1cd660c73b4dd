import type { DocsPage, Section, Site } from './site.ts'

/** One section of the docs that contains the words of a search. */
export type Found = { readonly title: string; readonly path: string; readonly excerpt: string }

const MOST_FOUND = 20
/** Longer questions are cut, because each word is searched for in every section. */
const LONGEST_QUESTION = 100
const EXCERPT_LENGTH = 180

/**
 * Finds the sections that contain every word of a question, best first: words in the title of the page or the section
 * count more than words in the text. An empty question finds nothing.
 */
export function search(site: Site, question: string): Found[] {
  const words = question.slice(0, LONGEST_QUESTION).toLowerCase().split(/\s+/).filter(Boolean)
  if (words.length === 0) return []
  const found: { page: DocsPage; section: Section; score: number }[] = []
  for (const page of site.pages.values()) {
    for (const section of page.sections) {
      const score = scoreOf(page, section, words)
      if (score > 0) found.push({ page, section, score })
    }
  }
  return found
    .sort((one, other) => other.score - one.score)
    .slice(0, MOST_FOUND)
    .map(({ page, section }) => ({
      title: section.depth === 1 ? page.title : `${page.title}: ${section.title}`,
      path: section.depth === 1 ? page.path : `${page.path}#${section.id}`,
      excerpt: excerptOf(section.text, words),
    }))
}

/** 0 when a word is missing. */
function scoreOf(page: DocsPage, section: Section, words: readonly string[]): number {
  const title = page.title.toLowerCase()
  const heading = section.title.toLowerCase()
  const text = section.text.toLowerCase()
  let score = 0
  for (const word of words) {
    const inTitle = section.depth === 1 && title.includes(word)
    const points = (inTitle ? 10 : 0) + (heading.includes(word) ? 6 : 0) + (text.includes(word) ? 1 : 0)
    if (points === 0) return 0
    score += points + (heading === word ? 20 : 0)
  }
  return score
}

function excerptOf(text: string, words: readonly string[]): string {
  const at = Math.max(0, text.toLowerCase().indexOf(words[0] ?? '') - 50)
  const cut = text.slice(at, at + EXCERPT_LENGTH)
  return `${at > 0 ? '…' : ''}${cut}${at + EXCERPT_LENGTH < text.length ? '…' : ''}`
}
