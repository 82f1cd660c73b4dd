import { ConsoleRefusal, type Visit } from './screen/screen.ts'

/** The operator's reason. Throws a refusal when it is missing. */
export function reasonOf({ form }: Pick<Visit, 'form'>): string {
  const reason = (form.get('reason') ?? '').trim()
  if (reason.length >= 3 && reason.length <= 300) return reason
  throw new ConsoleRefusal(422, 'Say why', 'A reason of 3 to 300 characters is needed; it goes on record.')
}
