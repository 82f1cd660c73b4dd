import type { FastifyInstance } from 'fastify'
import { openBrowserFiles } from './browser-files.ts'
import { mountEmbed } from './embed-routes.ts'
import { mountPages } from './pages.ts'
import type { PageContext } from './session/page-context.ts'

/** Mounts the registration page, the embed's frame, and what browsers load for them. */
export function mountRegistration(app: FastifyInstance, context: PageContext): void {
  const { files, mount } = openBrowserFiles(context.basePath)
  mount(app)
  mountPages(app, { context, files })
  mountEmbed(app, { context, files })
}
