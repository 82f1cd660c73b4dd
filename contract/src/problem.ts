import { type Static, Type } from 'typebox'

/** One field or reason of a problem (contract §12). Values are never echoed. */
export const FieldProblem = Type.Object(
  {
    field: Type.String({
      description: 'Where, as a path such as `address.zipcode`; "" for the whole request',
    }),
    code: Type.String({
      description: 'A stable code, for example `required`, `format` or the code of a catalogue rule',
    }),
    message: Type.String({ description: 'What is wrong and what would be right' }),
  },
  { additionalProperties: false, title: 'FieldProblem' },
)

/** The body of every error except those of the token endpoint: `application/problem+json`, RFC 9457 (contract §12). */
export const Problem = Type.Object(
  {
    type: Type.String({ description: "The address of the code's page in the docs" }),
    title: Type.String(),
    status: Type.Integer(),
    detail: Type.String(),
    instance: Type.String({ description: '`urn:uuid:<requestid>`' }),
    code: Type.String(),
    requestid: Type.String(),
    errors: Type.Array(FieldProblem),
    usermessage: Type.String({
      description: 'A sentence for the person, in the language of Accept-Language',
    }),
  },
  { additionalProperties: false, title: 'Problem' },
)

/** The shape of {@link Problem}. */
export type Problem = Static<typeof Problem>
/** The shape of {@link FieldProblem}. */
export type FieldProblem = Static<typeof FieldProblem>

/** The error body of the token endpoint (RFC 6749 §5.2). */
export const OAuthError = Type.Object(
  { error: Type.String(), error_description: Type.Optional(Type.String()) },
  { additionalProperties: false, title: 'OAuthError' },
)
