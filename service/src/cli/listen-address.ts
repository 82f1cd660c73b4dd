import { once } from 'node:events'
import { createServer } from 'node:net'
import { type Input, UsageError } from '@benefit-enrolment/command'
import { type Config, isPort } from '../config.ts'
import { isLoopback } from '../http/failed-authentications.ts'
import { OperatorError } from '../operator-error.ts'

/** Where the service listens. */
export type ListenAddress = { readonly host: string; readonly port: number }

/** The address to listen at. Throws UsageError on an invalid port. */
export function listenAddressOf(input: Input, config: Config): ListenAddress {
  const text = input.text('port')
  if (text !== undefined && !isPort(text))
    throw new UsageError('--port must be a port number from 0 to 65535; see --help.')
  return {
    host: input.text('host') ?? config.host ?? '127.0.0.1',
    port: text === undefined ? (config.port ?? 8080) : Number(text),
  }
}

/**
 * Throws OperatorError when this machine cannot listen at the host. The port is not tried, as a service that is being
 * replaced may still use it.
 */
export async function checkHost({ host, port }: ListenAddress): Promise<void> {
  const trial = createServer()
  try {
    await once(trial.listen({ host, port: 0 }), 'listening')
  } catch (error) {
    throw listenErrorOf(error, { host, port })
  }
  trial.close()
  await once(trial, 'close')
}

/** The sentence about an address at which nobody can listen; any other error is returned as it is. */
export function listenErrorOf(error: unknown, { host, port }: ListenAddress): unknown {
  const code = (error as { code?: string }).code ?? ''
  if (code === 'EADDRINUSE')
    return new OperatorError(
      `Port ${port} is taken: stop what listens there, or give another --port (0 picks a free one).`,
    )
  if (['EADDRNOTAVAIL', 'EACCES', 'ENOTFOUND', 'EAI_AGAIN'].includes(code))
    return new OperatorError(`It cannot listen on ${host}:${port} (${code}): give another --host or --port.`)
  return error
}

/**
 * Links and cookies are made from the base address, so with plain http they travel unencrypted. Throws OperatorError
 * when other machines could reach the service like that, unless the operator says that this is intended.
 */
export function checkBaseUrl({ host }: ListenAddress, config: Config, isInsecureMeant: boolean): void {
  if (isSecure(config) || isInsecureMeant || isLoopbackName(host)) return
  throw new OperatorError(
    'ENROLMENT_BASE_URL must be the https address by which people and partners reach the service, because links and cookies are made from it; to start without it, give --insecure-http.',
  )
}

/** Whether people and partners reach the service by https. */
export function isSecure({ baseUrl }: Config): boolean {
  return baseUrl?.startsWith('https:') ?? false
}

/** Whether a host, given by name or address, is reached from this machine only. */
export function isLoopbackName(host: string): boolean {
  return host === 'localhost' || isLoopback(host)
}
