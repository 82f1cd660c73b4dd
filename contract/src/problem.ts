import { type ErrorCode, type ErrorEntry, errors, type Locale } from './errors.ts'
import { described, shape, string } from './shape.ts'
import { type Static, Type } from './typebox.ts'

/** One field or reason of a problem (contract §12). Values are never echoed. */
export const FieldProblem = shape('FieldProblem', {
  field: Type.String({
    description: 'Where, as a path such as `address.zipcode`; "" for the whole request',
  }),
  code: Type.String({
    description: 'A stable code, for example `required`, `format` or the code of a catalogue rule',
  }),
  message: Type.String({ description: 'What is wrong and what would be right' }),
  dependantid: Type.Optional(Type.String({ description: 'The dependant whom it is about' })),
})

/** The body of every error except those of the token endpoint: `application/problem+json`, RFC 9457 (contract §12). */
export const Problem = shape('Problem', {
  type: Type.String({ description: "The address of the code's page in the docs" }),
  title: string('What the code means'),
  status: described(Type.Integer(), 'The HTTP status again'),
  detail: string('What to do about it, for developers'),
  instance: Type.String({ description: '`urn:uuid:<requestid>`' }),
  code: string('The stable code, by which a program decides'),
  requestid: string("Names this request in the operator's logs; also the header `Request-Id`"),
  errors: described(Type.Array(FieldProblem), 'Each wrong field, or each reason of a refusal'),
  usermessage: Type.String({
    description: 'A sentence for the person, in the language of Accept-Language',
  }),
})

/** The shape of {@link Problem}. */
export type Problem = Static<typeof Problem>
/** The shape of {@link FieldProblem}. */
export type FieldProblem = Static<typeof FieldProblem>

/** The error body of the token endpoint (RFC 6749 §5.2). */
export const OAuthError = shape('OAuthError', {
  error: string('The code, in the words of RFC 6749'),
  error_description: described(Type.Optional(Type.String()), 'What to do about it'),
})

/** A realistic problem of one code, for examples. */
export function exampleProblem(code: ErrorCode, baseUrl: string): Problem {
  const entry: ErrorEntry = errors[code]
  const requestid = '019abc12-3456-7def-8123-456789abcded'
  return {
    type: `${baseUrl}/docs/errors/${code}`,
    title: entry.title,
    status: entry.status,
    detail: entry.remedy,
    instance: `urn:uuid:${requestid}`,
    code,
    requestid,
    errors:
      code === 'bad_request'
        ? [{ field: 'zipcode', code: 'pattern', message: 'zipcode must be 5 or 9 digits, like 33101' }]
        : [],
    usermessage: userMessage(code, 'en'),
  }
}
const personTexts = {
  asksupport: {
    en: 'Something went wrong. Please try again, or contact support and read out the request number.',
    es: 'Algo salió mal. Inténtelo de nuevo o comuníquese con la asistencia y lea el número de solicitud.',
  },
  tryagain: {
    en: 'We are very busy. Please try again in a moment.',
    es: 'Hay mucha actividad en este momento. Inténtelo de nuevo en un momento.',
  },
  cannotnow: {
    en: 'This change is not possible right now.',
    es: 'Este cambio no es posible en este momento.',
  },
  donealready: {
    en: 'This was done already. There is nothing more to do.',
    es: 'Esto ya se hizo. No hay nada más que hacer.',
  },
  asksender: {
    en: 'We could not process your information. Please contact the company that sent you here.',
    es: 'No pudimos procesar su información. Comuníquese con la empresa que le envió aquí.',
  },
} as const

/** A sentence for the person being enrolled, without any value of theirs. */
export function userMessage(code: ErrorCode, locale: Locale): string {
  const entry: ErrorEntry = errors[code]
  return personTexts[entry.person ?? 'asksender'][locale]
}
