import { readFile } from 'node:fs/promises'

/** One page of the docs, as scripts/build-docs.mjs made it. */
export type DocsPage = {
  /** Below `/docs/`, without an extension. */
  readonly path: string
  readonly group: string
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

/** All pages, by their paths and in their order. */
export type Site = { readonly pages: ReadonlyMap<string, DocsPage> }

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
  return { pages: new Map(pages.map(page => [page.path, page])) }
}

/** The addresses that the documents of the repository use as placeholders for the service. */
const placeholders = ['https://benefits.example.com', 'http://127.0.0.1:8080']

/** A text of the documents with the address of this service in place of the placeholders. */
export function addressed(text: string, baseUrl: string): string {
  return placeholders.reduce((done, placeholder) => done.replaceAll(placeholder, baseUrl), text)
}
