import { readFile } from 'node:fs/promises'
import { interfaceChanges, operations, postmanCollection } from '@benefit-enrolment/contract'
import type { FastifyInstance } from 'fastify'
import type { Html } from '../http/html.ts'
import { type DocumentSource, keepDocuments } from '../http/public-document.ts'
import { ServiceError } from '../http/service-error.ts'
import { changeLogFeed, changeLogPage } from './change-log.ts'
import { assets, framed, siteName } from './layout.ts'
import { contentOf, docsHome, type Limits, llmsText, markdownOf, searchPage, welcome } from './pages.ts'
import { search } from './search.ts'
import { type DocsPage, openSite, type Site } from './site.ts'
import { apiCatalog, robotsText, securityText } from './well-known.ts'

/** What the docs need of their surroundings. */
type DocsContext = {
  readonly baseUrl: () => string
  readonly basePath: string
  readonly sandbox: boolean
  readonly limits: Limits
  /** The contact for reports of vulnerabilities, if the operator set one. */
  readonly securityContact: string | undefined
  readonly real: () => number
}

const markdown = 'text/markdown; charset=utf-8'
const plain = 'text/plain; charset=utf-8'
const json = 'application/json; charset=utf-8'
const icon = new URL('../../assets/page/icon.svg', import.meta.url)

/**
 * Mounts the pages that people and crawlers read: guides, reference, errors, search, change log, and the well-known
 * files.
 */
export function mountDocs(app: FastifyInstance, context: DocsContext): void {
  const docs: Docs = { ...context, at: path => context.basePath + path, site: openSite() }
  mountDocuments(app, docs)
  mountSearch(app, docs)
  mountFiles(app, docs)
  mountGuides(app, docs)
}

type Docs = DocsContext & {
  /** The path below the service's address. */
  readonly at: (path: string) => string
  readonly site: ReturnType<typeof openSite>
}

/** Mounts the documents that have an address of their own. */
function mountDocuments(app: FastifyInstance, context: Docs): void {
  const { at, site, basePath } = context
  const frame = async (title: string, content: (baseUrl: string) => Html): Promise<DocumentSource> =>
    framed({ title, baseUrl: context.baseUrl(), site: await site(), content: content(context.baseUrl()) })
  const documents = {
    '/': async () =>
      framed({
        title: siteName,
        baseUrl: context.baseUrl(),
        content: welcome(context.baseUrl(), context.sandbox),
      }),
    '/docs': () => frame('Documentation', docsHome),
    '/changelog': () => frame('Change log', changeLogPage),
    '/changelog.atom': async () => ({
      type: 'application/atom+xml; charset=utf-8',
      content: changeLogFeed(context.baseUrl()),
      headers: anyOrigin,
    }),
    '/changelog.json': async () => ({
      type: json,
      content: JSON.stringify({ versions: interfaceChanges }),
      headers: anyOrigin,
    }),
    '/postman.json': async () => ({
      type: json,
      content: JSON.stringify(postmanCollection({ baseUrl: context.baseUrl(), sandbox: context.sandbox })),
      headers: anyOrigin,
    }),
    '/llms.txt': async () => ({ type: plain, content: llmsText(await site(), context.baseUrl()) }),
    '/robots.txt': async () => ({ type: plain, content: robotsText(basePath) }),
    '/favicon.ico': async () => ({
      type: 'image/svg+xml',
      content: await readFile(icon),
      maxAgeSeconds: 86_400,
    }),
    '/.well-known/api-catalog': async () => ({
      type: 'application/linkset+json; profile="https://www.rfc-editor.org/info/rfc9727"',
      content: apiCatalog(context.baseUrl()),
      headers: anyOrigin,
    }),
  } satisfies Record<string, () => Promise<DocumentSource>>
  // A stage path has no slash at its end, and people type one after a folder: both forms lead to the same page.
  const addressesOf = (path: keyof typeof documents): string[] => {
    if (path === '/') return basePath === '' ? ['/'] : [basePath, at('/')]
    return path === '/docs' || path === '/changelog' ? [at(path), `${at(path)}/`] : [at(path)]
  }
  const sendFixed = keepDocuments((path: keyof typeof documents) => documents[path]())
  for (const path of Object.keys(documents) as (keyof typeof documents)[]) {
    const config = path === operations.getChangelog.path ? { operation: operations.getChangelog } : {}
    for (const address of addressesOf(path))
      app.get(address, { config }, (request, reply) => sendFixed(path, request, reply))
  }
  app.get(at('/.well-known/security.txt'), (_request, reply) => {
    const { securityContact: contact } = context
    void reply.type(plain).send(securityText({ baseUrl: context.baseUrl(), contact, now: context.real() }))
  })
}

function mountSearch(app: FastifyInstance, { at, site, baseUrl }: Docs): void {
  app.get(at('/docs/search'), async (request, reply) => {
    const question = questionOf(request.query)
    const opened = await site()
    const found = search(opened.entries, question)
    const content = searchPage(question, found, baseUrl())
    const {
      type,
      content: text,
      headers,
    } = framed({ title: 'Search', baseUrl: baseUrl(), site: opened, content, question })
    return reply
      .headers(headers ?? {})
      .header('Cache-Control', 'no-store')
      .type(type)
      .send(text)
  })
  app.get(at('/docs/search.json'), async (request, reply) => {
    const found = search((await site()).entries, questionOf(request.query))
    const results = found.map(({ path, ...rest }) => ({ ...rest, href: `${baseUrl()}/docs/${path}` }))
    return reply.type(json).header('Cache-Control', 'no-store').send(JSON.stringify(results))
  })
}

/** Mounts the style sheet and the script of the docs. */
function mountFiles(app: FastifyInstance, { at }: Docs): void {
  const sendAsset = keepDocuments((name: string) => {
    const asset = assets.get(name)
    if (!asset) throw new ServiceError('not_found')
    return { type: asset.type, content: asset.content, maxAgeSeconds: 31_536_000 }
  })
  app.get(at('/docs/assets/:name'), (request, reply) =>
    sendAsset((request.params as { name: string }).name, request, reply),
  )
}

/** Mounts the guides, the reference and the pages of errors, each as HTML and as Markdown. */
function mountGuides(app: FastifyInstance, { at, site, baseUrl, limits }: Docs): void {
  const makePage = (page: DocsPage, opened: Site) =>
    framed({
      title: page.title,
      page,
      site: opened,
      baseUrl: baseUrl(),
      content: contentOf(page, baseUrl(), limits),
    })
  const sendPage = keepDocuments(async (path: string): Promise<DocumentSource> => {
    const opened = await site()
    const isMarkdown = path.endsWith('.md')
    const page = opened.pages.get(isMarkdown ? path.slice(0, -'.md'.length) : path)
    if (!page) throw new ServiceError('not_found')
    if (!isMarkdown) return makePage(page, opened)
    return { type: markdown, content: markdownOf(page, baseUrl(), limits) }
  })
  app.get(at('/docs/*'), (request, reply) =>
    // A slash at the end leads to the same page, as at `/docs`.
    sendPage((request.params as { '*': string })['*'].replace(/\/$/, ''), request, reply),
  )
}

/** These documents are public, so browsers may read them from any site. */
const anyOrigin = { 'Access-Control-Allow-Origin': '*' } as const

function questionOf(query: unknown): string {
  const { q } = query as { q?: unknown }
  return typeof q === 'string' ? q.trim() : ''
}
