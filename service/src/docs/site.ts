import { readFile } from 'node:fs/promises'

/** One page of the docs, as scripts/build-docs.mjs made it. */
export type DocsPage = {
  /** Below `/docs/`, without an extension. */
  readonly path: string
  readonly group: string
  /** What the menu calls it; `""` for a page that the menu leaves out. */
  readonly name: string
  readonly title: string
  readonly summary: string
  readonly html: string
  readonly markdown: string
  readonly sections: readonly Section[]
}

/** A heading, and the plain text below it. */
export type Section = {
  readonly id: string
  readonly title: string
  readonly depth: number
  readonly text: string
}

/** A section as the search reads it, its words in lower case. */
export type Entry = {
  readonly path: string
  readonly group: string
  readonly title: string
  /** What is looked for in it. */
  readonly words: readonly [title: string, heading: string, text: string]
  readonly text: string
}

/** All pages, by their paths and in their order, and their sections for the search. */
export type Site = { readonly pages: ReadonlyMap<string, DocsPage>; readonly entries: readonly Entry[] }

const built = new URL('../../dist/docs/', import.meta.url)

/** Reads the site that the build made, once; rejects when nothing was built. */
export function openSite(): () => Promise<Site> {
  let opened: Promise<Site> | undefined
  return () => {
    opened ??= readSite()
    return opened
  }
}

async function readSite(): Promise<Site> {
  const { pages } = JSON.parse(await readFile(new URL('site.json', built), 'utf8')) as { pages: DocsPage[] }
  let entries: readonly Entry[] | undefined
  return {
    pages: new Map(pages.map(page => [page.path, page])),
    // Made for the first search, because most processes are asked for none.
    get entries() {
      entries ??= pages.flatMap(entriesOf)
      return entries
    },
  }
}

function entriesOf({ path, group, title, sections }: DocsPage): Entry[] {
  const described = sections.filter(section => section.title !== 'Next')
  return described.map(section => {
    const isFirst = section.depth === 1
    return {
      path: isFirst ? path : `${path}#${section.id}`,
      group,
      title: isFirst ? title : `${title}: ${section.title}`,
      words: [title.toLowerCase(), section.title.toLowerCase(), section.text.toLowerCase()],
      text: section.text,
    }
  })
}

/** The addresses that the documents of the repository use as placeholders for the service. */
const placeholders = ['https://benefits.example.com', 'http://127.0.0.1:8080']

/** A text of the documents with the address of this service in place of the placeholders. */
export function addressed(text: string, baseUrl: string): string {
  return placeholders.reduce((done, placeholder) => done.replaceAll(placeholder, baseUrl), text)
}
