import { OperatorError } from '../../operator-error.ts'

/** The address of the console on this machine, where no other is set for operators. */
export function ownUrlOf(host: string, port: number): string {
  const name = host === '0.0.0.0' || host === '::' ? '127.0.0.1' : host.includes(':') ? `[${host}]` : host
  return `http://${name}:${port}`
}

/** The sentence for an operator whose console cannot listen where it should. */
export function cannotListen({ host, port }: { host: string; port: number }, error: unknown): OperatorError {
  const { code = 'unknown error' } = error as { code?: string }
  return new OperatorError(
    `The console cannot listen on ${host}:${port} (${code}): give another ENROLMENT_CONSOLE_PORT, or none.`,
  )
}
