import type { IncomingMessage, ServerResponse } from 'node:http'
import { type Rig, reactScript } from './rig.ts'

/**
 * A partner's site under the strictest policy: only its scripts and the service's frame. `?isolated` makes it
 * cross-origin isolated, `/nested` puts it into a frame of itself, `/react` serves the React example.
 */
export function hostPage(request: IncomingMessage, response: ServerResponse, rig: Rig) {
  const url = new URL(request.url ?? '/', 'http://host')
  const send = (type: string, body: string) => response.writeHead(200, { 'content-type': type }).end(body)
  if (url.pathname === '/host.js') return send('text/javascript', script)
  if (url.pathname === '/react.js') {
    return send('text/javascript', reactScript())
  }
  const isolated = url.searchParams.has('isolated')
  const own = `http://${request.headers.host}`
  response.setHeader(
    'content-security-policy',
    `default-src 'none'; script-src 'self' ${rig.service}; frame-src ${rig.service} ${own} ${rig.hostile}; require-trusted-types-for 'script'`,
  )
  if (isolated) {
    response.setHeader('cross-origin-opener-policy', 'same-origin')
    response.setHeader('cross-origin-embedder-policy', 'require-corp')
  }
  if (url.pathname === '/nested') {
    return send(
      'text/html',
      '<!doctype html><title>Outer</title><iframe src="/" width="900" height="700"></iframe>',
    )
  }
  if (url.pathname === '/react') {
    return send(
      'text/html',
      `<!doctype html><title>React</title><div id="app"></div><script src="/react.js"></script>`,
    )
  }
  send('text/html', page(rig))
}

function page({ service, built, partner }: Rig): string {
  return `<!doctype html><html lang="en"><title>Harbor Rides</title>
<h1>Harbor Rides</h1><button id="open">My benefits</button><div id="place"></div>
<script src="${service}${built.dropIn}" data-partner="${partner.partnerId}" integrity="${built.integrity}" crossorigin="anonymous"></script>
<script src="/host.js"></script>`
}

/** Tests set `tokens` and call `make`; everything that happens is recorded. */
const script = `
globalThis.tokens = []
globalThis.heard = []
globalThis.asked = 0
globalThis.make = options => {
  globalThis.embed = BenefitEnrolment.create({
    token: async () => { asked += 1; const token = tokens.shift(); if (!token) throw new Error('no token'); return token },
    onSuccess: success => heard.push({ success }),
    onExit: exit => heard.push({ exit }),
    onEvent: event => heard.push(event),
    ...options,
    ...(options?.inline ? { container: document.getElementById('place') } : {}),
  })
}
document.getElementById('open').onclick = () => embed.open()
`
