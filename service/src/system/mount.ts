import { readFile } from 'node:fs/promises'
import {
  describeInterface,
  errors,
  type InterfaceVersion,
  interfaceChanges,
  isErrorCode,
  type LoadLimits,
  operations,
  type RequestLimits,
} from '@benefit-enrolment/contract'
import type { FastifyInstance } from 'fastify'
import { stringify } from 'yaml'
import { type Html, html } from '../http/html.ts'
import { ServiceError } from '../http/service-error.ts'
import { compileCheck, queryOf } from '../http/validation.ts'
import { changeLogFeed, changeLogPage } from './change-log.ts'
import { sendPage } from './page.ts'
import { referencePage } from './reference.ts'

/** What the system routes need of their surroundings. */
export type SystemContext = {
  readonly baseUrl: () => string
  readonly basePath: string
  readonly sandbox: boolean
  readonly limits: LoadLimits & RequestLimits
  /** Rejects, or gives false, when requests cannot be served. */
  readonly isReady: () => Promise<boolean>
}

/** Mounts health, readiness, the interface description, the reference, the change log and the icons (contract §12–14). */
export const mountSystem = (app: FastifyInstance, context: SystemContext): void => {
  const at = (path: string) => context.basePath + path
  const json = 'application/json; charset=utf-8'

  app.get(at('/healthz'), { config: { operation: operations.getHealth } }, (_request, reply) => {
    void reply.type(json).send('{"status":"ok"}')
  })
  app.get(at('/readyz'), { config: { operation: operations.getReadiness } }, async (_request, reply) => {
    if (!(await context.isReady())) throw new ServiceError('unavailable')
    return reply.type(json).send('{"status":"ok"}')
  })

  const checkQuery = compileCheck(operations.getOpenapiJson.query, 'query')
  const described = new Map<string, { json: string; yaml: string }>()
  const describe = (sent: unknown) => {
    const query = queryOf(sent)
    checkQuery(query)
    const version = (query as { version?: InterfaceVersion }).version ?? '1.0.2'
    const known = described.get(version)
    if (known) return known
    const { sandbox, limits } = context
    const description = describeInterface({ baseUrl: context.baseUrl(), version, sandbox, limits })
    const made = {
      json: JSON.stringify(description),
      yaml: stringify(description, { aliasDuplicateObjects: false }),
    }
    described.set(version, made)
    return made
  }
  app.get(at('/openapi.json'), { config: { operation: operations.getOpenapiJson } }, async (request, reply) =>
    reply.type(json).header('Cache-Control', 'no-cache').send(describe(request.query).json),
  )
  app.get(at('/openapi.yaml'), { config: { operation: operations.getOpenapiYaml } }, async (request, reply) =>
    reply
      .type('application/yaml; charset=utf-8')
      .header('Cache-Control', 'no-cache')
      .send(describe(request.query).yaml),
  )

  app.get(at('/docs'), (_request, reply) => {
    const content = referencePage({ ...context, baseUrl: context.baseUrl() })
    void sendPage(reply, { title: 'Reference', content })
  })
  app.get(at('/docs/errors/:code'), async (request, reply) => {
    const { code } = request.params as { code: string }
    if (!isErrorCode(code)) throw new ServiceError('not_found')
    return sendPage(reply, { title: code, content: errorPage(code, context.baseUrl()) })
  })

  app.get(at('/changelog'), (_request, reply) => {
    void sendPage(reply, { title: 'Change log', content: changeLogPage(context.baseUrl()) })
  })
  app.get(at('/changelog.json'), { config: { operation: operations.getChangelog } }, (_request, reply) => {
    void reply.type(json).header('Cache-Control', 'no-cache').send({ versions: interfaceChanges })
  })
  app.get(at('/changelog.atom'), (_request, reply) => {
    void reply
      .type('application/atom+xml; charset=utf-8')
      .header('Cache-Control', 'no-cache')
      .send(changeLogFeed(context.baseUrl()))
  })

  app.get(at('/icons/:file'), async (request, reply) => {
    const { file } = request.params as { file: string }
    const icon = await readIcon(file)
    if (!icon) throw new ServiceError('not_found')
    return reply
      .type('image/svg+xml; charset=utf-8')
      .header('Content-Security-Policy', "default-src 'none'; style-src 'unsafe-inline'; sandbox")
      .header('X-Content-Type-Options', 'nosniff')
      .header('Cross-Origin-Resource-Policy', 'cross-origin')
      .header('Cache-Control', 'public, max-age=86400')
      .send(icon)
  })
}

const iconFolder = new URL('../../assets/icons/', import.meta.url)
const icons = new Map<string, Buffer>()

/** An icon by its file name; names are checked before they meet the file system. */
const readIcon = async (file: string): Promise<Buffer | undefined> => {
  if (!/^[a-z0-9][a-z0-9-]{0,63}\.svg$/.test(file)) return undefined
  const known = icons.get(file)
  if (known) return known
  try {
    const icon = await readFile(new URL(file, iconFolder))
    icons.set(file, icon)
    return icon
  } catch {
    return undefined
  }
}

const errorPage = (code: keyof typeof errors, baseUrl: string): Html => {
  const { status, title, remedy } = errors[code]
  return html`<h1>${code}</h1><p>Status ${status}. ${title}.</p><p>${remedy}</p>
<p><a href="${baseUrl}/docs">The reference</a></p>`
}
