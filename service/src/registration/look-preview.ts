import type { FastifyInstance, FastifyReply } from 'fastify'
import { queryIn } from '../http/form.ts'
import { ServiceError } from '../http/service-error.ts'
import { colorNames, ownColors } from '../look/colors.ts'
import { checkLook, FONTS, type FontName, type Look } from '../look/look.ts'
import type { PageRoutes } from './session/page-context.ts'
import { pageFor } from './session/visit.ts'
import { lookPreview } from './views/look-preview.ts'
import { SAMPLE_NAMES, sampleView } from './views/look-sample.ts'
import { renderPage } from './views/page.ts'

/** Mounts `/demo/look` of a sandbox, where a designer tries a look and copies the settings. */
export function mountLookPreview(app: FastifyInstance, { context, files }: PageRoutes): void {
  const root = `${context.basePath}/demo/look`

  app.get(root, async (request, reply) => {
    const query = queryIn(request.url)
    const { look, problems } = readLook(query)
    const { stylesheet, icon } = await files()
    setHeaders(reply, "frame-src 'self'; frame-ancestors 'none'")
    return reply.send(lookPreview({ look, problems, stylesheet, icon, root, query: query.toString() }))
  })

  app.get(`${root}/:name`, async (request, reply) => {
    const { name } = request.params as { name: string }
    const sample = SAMPLE_NAMES.find(known => known === name)
    if (!sample) throw new ServiceError('not_found')
    const { look, problems } = readLook(queryIn(request.url))
    const shown = problems.length > 0 ? {} : look
    const partner = { name: 'Your platform', help: { phone: '1-800-555-0142' }, legal: {}, look: shown }
    const page = pageFor(context, await files(), { shell: 'hosted', locale: 'en', partner })
    setHeaders(reply, "frame-ancestors 'self'")
    return reply.send(renderPage(sampleView(sample, page)))
  })
}

/** These pages run no script, and only the samples may be shown in a frame, which only this page may contain. */
function setHeaders(reply: FastifyReply, frames: string): void {
  reply
    .type('text/html; charset=utf-8')
    .header(
      'Content-Security-Policy',
      `default-src 'none'; style-src 'self'; img-src 'self'; form-action 'self'; base-uri 'none'; ${frames}`,
    )
    .header('Cache-Control', 'no-store')
    .header('Referrer-Policy', 'no-referrer')
}

/** The look in the query, without values that are empty or equal to the service's own. */
function readLook(query: URLSearchParams): { readonly look: Look; readonly problems: readonly string[] } {
  const colors = (scheme: 'light' | 'dark') =>
    Object.fromEntries(
      colorNames.flatMap(name => {
        const color = query.get(`${scheme}.${name}`)?.trim().toLowerCase() ?? ''
        return color === '' || color === ownColors[scheme][name] ? [] : [[name, color]]
      }),
    )
  const [light, dark] = [colors('light'), colors('dark')]
  const given = {
    ...(Object.keys(light).length > 0 ? { light } : {}),
    ...(Object.keys(dark).length > 0 ? { dark } : {}),
  }
  const radius = query.get('radius')?.trim() ?? ''
  const font = Object.keys(FONTS).find(name => name === query.get('font')) as FontName | undefined
  const scheme = (['auto', 'light', 'dark'] as const).find(name => name === query.get('scheme'))
  const look: Look = {
    ...(Object.keys(given).length > 0 ? { colors: given } : {}),
    ...(radius === '' ? {} : { radius: Number(radius) }),
    ...(font ? { font } : {}),
    ...(scheme ? { scheme } : {}),
  }
  const checked = checkLook(look)
  return { look, problems: checked.ok ? [] : checked.problems }
}
