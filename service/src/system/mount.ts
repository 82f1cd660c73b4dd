import {
  type InterfaceVersion,
  type LoadLimits,
  type Operation,
  operations,
  type RequestLimits,
} from '@benefit-enrolment/contract'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { shippedIcons } from '../catalogue/shipped-icons.ts'
import { keepDocuments } from '../http/public-document.ts'
import { ServiceError } from '../http/service-error.ts'
import { compileCheck, queryOf } from '../http/validation.ts'
import type { Log } from '../log.ts'
import { serviceVersion } from '../version.ts'
import { readDescription } from './description.ts'

/** What the system routes need from the rest of the service. */
type SystemContext = {
  readonly log: Log
  readonly baseUrl: () => string
  readonly basePath: string
  readonly sandbox: boolean
  readonly limits: LoadLimits & RequestLimits
  /** Rejects or resolves to false while requests cannot be served. */
  readonly isReady: () => Promise<boolean>
  /** True while this copy of the service must have no effect on the outside world. */
  readonly isQuiet: () => boolean
}

/** Mounts health, readiness, the interface description and the icons (contract §13, §14). */
export function mountSystem(app: FastifyInstance, context: SystemContext): void {
  const at = (path: string) => context.basePath + path
  const json = 'application/json; charset=utf-8'

  const alive = JSON.stringify({ status: 'ok', version: serviceVersion })
  app.get(at('/healthz'), { config: { operation: operations.getHealth } }, (_request, reply) => {
    void reply.type(json).send(alive)
  })
  let wasReady = true
  const noteReady = (isReady: boolean) => {
    if (isReady !== wasReady) context.log(isReady ? 'ready' : 'not_ready')
    wasReady = isReady
  }
  app.get(at('/readyz'), { config: { operation: operations.getReadiness } }, async (_request, reply) => {
    if (context.isQuiet())
      throw new ServiceError(
        'unavailable',
        'This copy is quiet: only reads work, until the operator runs `enrolment resume`.',
      )
    const isReady = await context.isReady().catch((error: unknown) => {
      noteReady(false)
      throw error
    })
    noteReady(isReady)
    if (!isReady) throw new ServiceError('unavailable')
    return reply.type(json).send('{"status":"ok"}')
  })

  const { query: schema } = operations.getOpenapiJson
  const checkQuery = compileCheck(schema, 'query')
  const askedIn = (request: FastifyRequest): AskedDescription => {
    const query = queryOf(request)
    checkQuery(query)
    const { version = '1.0.2', webhooks } = query as { version?: InterfaceVersion; webhooks?: 'no' }
    return webhooks === 'no' ? `${version} without webhooks` : version
  }
  const mountDescription = (form: 'json' | 'yaml', type: string, operation: Operation) => {
    const send = keepDocuments(async (asked: AskedDescription) => ({
      type,
      content: await readDescription(form, {
        ...context,
        baseUrl: context.baseUrl(),
        version: asked.startsWith('1.0.1') ? '1.0.1' : '1.0.2',
        withoutWebhooks: asked.endsWith('without webhooks'),
      }),
      headers: anyOrigin,
    }))
    app.get(at(operation.path), { config: { operation } }, async (request, reply) =>
      send(askedIn(request), request, reply),
    )
  }
  mountDescription('json', json, operations.getOpenapiJson)
  mountDescription('yaml', 'application/yaml; charset=utf-8', operations.getOpenapiYaml)

  app.get(at('/icons/:file'), async (request, reply) => {
    const { file } = request.params as { file: string }
    const icon = shippedIcons().get(file)
    if (!icon) throw new ServiceError('not_found')
    return reply
      .type('image/svg+xml; charset=utf-8')
      .header('Content-Security-Policy', "default-src 'none'; style-src 'unsafe-inline'; sandbox")
      .header('Cross-Origin-Resource-Policy', 'cross-origin')
      .header('Cache-Control', 'public, max-age=86400')
      .send(icon)
  })
}

/** One of the descriptions that can be asked for. */
type AskedDescription = InterfaceVersion | `${InterfaceVersion} without webhooks`

/** Tools that run in a browser may read the description from any site. */
const anyOrigin = { 'Access-Control-Allow-Origin': '*' } as const
