import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A request as it arrived. */
export type Received = { line: string; headers: IncomingHttpHeaders; body: string }

/** One step of a script: answers a request, or does something worse to it. */
export type Step = (response: ServerResponse, received: Received) => void

/** Answers JSON. */
export function json(status: number, value: unknown, headers: Record<string, string> = {}): Step {
  return response => {
    response.writeHead(status, { 'content-type': 'application/json; charset=utf-8', ...headers })
    response.end(JSON.stringify(value))
  }
}

/** Answers a problem as the service does. */
export function problem(status: number, code: string, headers: Record<string, string> = {}): Step {
  return response => {
    response.writeHead(status, {
      'content-type': 'application/problem+json',
      'request-id': 'r-1',
      ...headers,
    })
    const errors = [{ field: 'zipcode', code: 'pattern', message: 'zipcode must be 5 or 9 digits' }]
    response.end(
      JSON.stringify({
        type: `http://docs/${code}`,
        title: code,
        status,
        detail: `About ${code}.`,
        instance: 'urn:uuid:r-1',
        code,
        requestid: 'r-1',
        errors,
        usermessage: 'Please try again.',
      }),
    )
  }
}

/** Answers as a proxy does that knows nothing of the service. */
export function html(status: number, headers: Record<string, string> = {}): Step {
  return response => {
    response.writeHead(status, { 'content-type': 'text/html', ...headers })
    response.end('<h1>Gateway</h1>')
  }
}

/** Takes the request and closes the connection without an answer: the answer is lost. */
export function lose(): Step {
  return response => {
    response.socket?.destroy()
  }
}

/** Begins an answer and breaks off in its body. */
export function breakOff(): Step {
  return response => {
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': '1000' })
    response.write('"prefill', () => response.socket?.destroy())
  }
}

/** Takes the request and never answers. */
export function hang(): Step {
  return () => {}
}

/** Answers with a token of its own number. */
export function token(name: string, seconds = 3600): Step {
  return response =>
    json(200, { access_token: name, token_type: 'Bearer', expires_in: seconds, scope: 'prefill:write' })(
      response,
      { line: '', headers: {}, body: '' },
    )
}

/**
 * A real HTTP server that follows a script: for each request line one step a request, in order. Tokens are issued
 * as `token-1`, `token-2`, … unless the script says otherwise. A request that no step is left for gets a 418.
 */
export async function startScriptedServer(script: Record<string, Step[]>) {
  const received: Received[] = []
  const left = new Map(Object.entries(script).map(([line, steps]) => [line, [...steps]]))
  let tokens = 0
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const line = `${request.method} ${request.url}`
    const arrived = { line, headers: request.headers, body: Buffer.concat(chunks).toString() }
    received.push(arrived)
    const step = left.get(line)?.shift()
    if (step !== undefined) step(response, arrived)
    else if (line === tokenLine) token(`token-${++tokens}`)(response, arrived)
    else html(418)(response, arrived)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    /** All requests but those for a token, in order. */
    calls: () => received.filter(({ line }) => line !== tokenLine),
    /** All requests for a token, in order. */
    tokenRequests: () => received.filter(({ line }) => line === tokenLine),
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

const tokenLine = 'POST /oauth2/token'
