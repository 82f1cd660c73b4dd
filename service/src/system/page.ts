import { createHash } from 'node:crypto'
import type { FastifyReply } from 'fastify'
import { Html, html } from '../http/html.ts'

const style = `
:root{color-scheme:light dark;--ink:#1d2733;--soft:#5a6675;--line:#d9dfe6;--paper:#fff;--tint:#f4f6f9;--link:#0b5cad}
@media(prefers-color-scheme:dark){:root{--ink:#e7ecf2;--soft:#a3afbd;--line:#36414e;--paper:#141a21;--tint:#1d252e;--link:#7db8f5}}
*{box-sizing:border-box}
body{margin:0;background:var(--paper);color:var(--ink);font:1rem/1.6 system-ui,sans-serif}
main{max-width:60rem;margin:0 auto;padding:2rem 1.25rem 6rem}
h1{font-size:1.9rem;line-height:1.2;margin:0 0 1rem}
h2{font-size:1.4rem;margin:3.5rem 0 1rem;padding-top:1rem;border-top:1px solid var(--line)}
h3{font-size:1.05rem;margin:2.5rem 0 .5rem}
a{color:var(--link)}
code,pre{font:.875rem/1.5 ui-monospace,monospace}
code{overflow-wrap:anywhere}
pre{background:var(--tint);border:1px solid var(--line);border-radius:.5rem;padding:.9rem 1rem;overflow-x:auto;margin:.75rem 0}
.soft{color:var(--soft);white-space:nowrap}
.wide{overflow-x:auto}
table{border-collapse:collapse;width:100%;margin:.25rem 0 .75rem}
th,td{text-align:left;vertical-align:top;padding:.4rem .75rem .4rem 0;border-bottom:1px solid var(--line)}
th{font-weight:600;white-space:nowrap}
h4{font-size:.95rem;margin:1.25rem 0 0}
nav>ul{columns:18rem;padding:0;margin:1.5rem 0;list-style:none}
nav>ul>li{break-inside:avoid;margin-bottom:1rem}
nav li ul{padding:0;margin:.25rem 0;list-style:none}
nav code{font-size:.8rem}
summary{cursor:pointer}
:target{scroll-margin-top:1rem}
`
const styleMarkup = new Html(style)
const styleHash = createHash('sha256').update(style).digest('base64')

/** Sends a page that has no script and loads nothing; its one style is allowed by its hash. */
export const sendPage = (reply: FastifyReply, page: { title: string; content: Html }): FastifyReply =>
  reply
    .type('text/html; charset=utf-8')
    .header(
      'Content-Security-Policy',
      `default-src 'none'; style-src 'sha256-${styleHash}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
    )
    .header('X-Content-Type-Options', 'nosniff')
    .header('Referrer-Policy', 'no-referrer')
    .header('Cache-Control', 'no-cache')
    .send(`<!doctype html>${layout(page).markup}\n`)

// The style stands between the tags exactly as it was hashed.
const layout = ({ title, content }: { title: string; content: Html }): Html =>
  html`<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><title>${title}</title><style>${styleMarkup}</style></head><body><main>${content}</main></body></html>`
