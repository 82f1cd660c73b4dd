import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { type Html, html } from '../http/html.ts'
import type { DocumentSource } from '../http/public-document.ts'
import { serviceVersion } from '../version.ts'
import type { DocsPage, Section, Site } from './site.ts'

/** What a page's frame needs besides the content. */
export type Frame = {
  readonly title: string
  readonly content: Html
  readonly baseUrl: string
  /** The site whose pages the navigation lists; absent: a page without navigation. */
  readonly site?: Site
  /** The page that is shown, if it is one of the site. */
  readonly page?: DocsPage
  /** The text that was searched for. */
  readonly question?: string
}

/** A file that browsers load, by a name that changes with its content. */
type Asset = { readonly name: string; readonly type: string; readonly content: Buffer }

const stylesheet = readAsset('docs.css', 'text/css; charset=utf-8')
const script = readAsset('docs.js', 'text/javascript; charset=utf-8')
/** Every file that the pages load. */
export const assets: ReadonlyMap<string, Asset> = new Map(
  [stylesheet, script].map(asset => [asset.name, asset]),
)

const headers = {
  // Only files from this service.
  'Content-Security-Policy':
    "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
  'Referrer-Policy': 'no-referrer',
}

/** A whole page: header with the search, navigation and content. */
export function framed(frame: Frame): DocumentSource {
  return {
    type: 'text/html; charset=utf-8',
    content: `<!doctype html>\n${document(frame).markup}\n`,
    headers,
  }
}

function document({ title, content, baseUrl, site, page, question = '' }: Frame): Html {
  const at = (path: string) => `${baseUrl}${path}`
  const isStart = title === siteName
  return html`<html lang="en"><head><meta charset="utf-8"><meta
name="viewport" content="width=device-width, initial-scale=1">
<title>${isStart ? title : `${title} · ${siteName}`}</title>
${
  page &&
  html`<meta name="description" content="${page.summary}"><link rel="alternate" type="text/markdown" href="${at(
    `/docs/${page.path}.md`,
  )}">`
}
<link rel="alternate" type="application/atom+xml" title="Change log" href="${at('/changelog.atom')}">
<link rel="icon" type="image/svg+xml" href="${at('/favicon.ico')}">
<link rel="stylesheet" href="${at(
    `/docs/assets/${stylesheet.name}`,
  )}"><script type="module" src="${at(`/docs/assets/${script.name}`)}"></script></head>
<body><a class="skip" href="#content">Skip to content</a>
<header><a class="brand" href="${at('/docs')}">${siteName}</a>
<form role="search" action="${at('/docs/search')}"><label for="q" class="hidden">Search the docs</label>
<input id="q" name="q" type="search" value="${question}" placeholder="Search the docs" autocomplete="off"
maxlength="100"><button>Search</button>
<div id="found" role="status" aria-live="polite" data-search="${at('/docs/search.json')}" hidden></div></form>
${site && html`<a class="to-contents" href="#contents">Contents</a>`}</header>
<div class="${site ? 'columns' : 'single'}"><main id="content" tabindex="-1">${content}</main>
${page && onThisPage(page.sections)}${site && navigation(site, page, baseUrl)}</div>
<footer>Version ${serviceVersion} · <a href="${at('/docs')}">Docs</a> · <a href="${at('/changelog')}">Change log</a> ·
<a href="${at('/openapi.json')}">OpenAPI</a> · <a href="${at('/llms.txt')}">llms.txt</a>${
    page && html` · <a href="${at(`/docs/${page.path}.md`)}">This page as Markdown</a>`
  }</footer></body></html>`
}

/** The name of the site. */
export const siteName = 'Benefit Enrolment'

function navigation(site: Site, shown: DocsPage | undefined, baseUrl: string): Html {
  const listed = [...site.pages.values()].filter(({ name }) => name !== '')
  const groups = [...new Set(listed.map(({ group }) => group))]
  const item = (page: DocsPage) =>
    html`<li><a href="${baseUrl}/docs/${page.path}"${
      page === shown && html` aria-current="page"`
    }>${page.name}</a></li>`
  return html`<nav id="contents" aria-label="Docs">${groups.map(
    group => html`<h2>${group}</h2><ul>${listed.filter(page => page.group === group).map(item)}</ul>`,
  )}</nav>`
}

function onThisPage(sections: readonly Section[]): Html | false {
  const shown = sections.filter(({ depth }) => depth === 2)
  return (
    shown.length > 1 &&
    html`<aside aria-label="On this page"><h2>On this page</h2><ul>${shown.map(
      ({ id, title }) => html`<li><a href="#${id}">${title}</a></li>`,
    )}</ul></aside>`
  )
}

function readAsset(file: string, type: string): Asset {
  const content = readFileSync(new URL(`../../assets/docs/${file}`, import.meta.url))
  const hash = createHash('sha256').update(content).digest('hex').slice(0, 12)
  return { name: file.replace('.', `.${hash}.`), type, content }
}
