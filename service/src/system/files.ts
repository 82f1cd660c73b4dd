import type { FastifyInstance } from 'fastify'
import type { Database } from '../db/database.ts'
import { ENDINGS } from '../files/file-kind.ts'
import { findFile, type NewFile } from '../files/store.ts'
import { ServiceError } from '../http/service-error.ts'

/** How many bytes of pictures stay in memory: pages show pictures again and again, but documents are read rarely. */
const MOST_KEPT = 8 * 1024 * 1024

/**
 * Mounts `/files/HASH/NAME`: documents, icons and logos by the hash of their content. NAME becomes the file name of
 * a download and must have the ending of the file's media type; otherwise, and for an unknown hash, the answer is
 * 404.
 */
export function mountFiles(
  app: FastifyInstance,
  context: { readonly database: Database; readonly basePath: string },
): void {
  const pictures = new Map<string, NewFile>()
  let kept = 0

  async function read(hash: string): Promise<NewFile | undefined> {
    const known = pictures.get(hash)
    if (known) return known
    const file = await findFile(context.database, hash)
    if (file && file.mediaType !== 'application/pdf' && kept + file.content.length <= MOST_KEPT) {
      pictures.set(hash, file)
      kept += file.content.length
    }
    return file
  }

  app.get(`${context.basePath}/files/:hash/:name`, async (request, reply) => {
    const { hash, name } = request.params as { hash: string; name: string }
    const isName = /^[0-9a-f]{64}$/.test(hash) && /^[a-z0-9][a-z0-9-]{0,99}\.[a-z]{3,4}$/.test(name)
    const file = isName ? await read(hash) : undefined
    if (!file || !name.endsWith(`.${ENDINGS[file.mediaType]}`)) throw new ServiceError('not_found')
    // Browsers do not run their PDF viewer under the `sandbox` policy, so documents are offered as downloads.
    if (file.mediaType === 'application/pdf')
      reply.header('Content-Disposition', `attachment; filename="${name}"`)
    // Browsers refuse an answer with this header in the window that a link opens out of the embed's frame.
    return reply
      .removeHeader('Cross-Origin-Opener-Policy')
      .type(file.mediaType)
      .header('Content-Security-Policy', 'sandbox')
      .header('Cross-Origin-Resource-Policy', 'cross-origin')
      .header('Cache-Control', 'public, max-age=31536000, immutable')
      .send(file.content)
  })
}
