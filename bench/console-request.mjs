import { request } from 'node:http'

/**
 * Sends a request and returns its status, its text and the milliseconds until its first byte. An answer longer than `most`
 * is broken off there.
 */
export function send(url, { method = 'GET', headers = {}, body, most = Number.POSITIVE_INFINITY } = {}) {
  return new Promise((resolve, reject) => {
    const begun = performance.now()
    const outgoing = request(url, { method, headers, agent: false }, incoming => {
      const ms = performance.now() - begun
      let text = ''
      incoming.setEncoding('utf8')
      const end = () => resolve({ status: incoming.statusCode, headers: incoming.headers, text, ms })
      incoming.on('data', chunk => {
        text += chunk
        if (text.length < most) return
        end()
        incoming.destroy()
      })
      incoming.on('end', end)
      incoming.on('error', reject)
    })
    outgoing.on('error', reject)
    outgoing.end(body)
  })
}
