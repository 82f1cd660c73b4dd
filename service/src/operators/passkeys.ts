import { createRequire } from 'node:module'
import type { AuthenticationResponseJSON, RegistrationResponseJSON } from '@simplewebauthn/server'
import { decodeUuid, encodeUuid } from '../vault/base62.ts'
import type { Operator } from './operator.ts'
import { challengeMadeAt, makeChallenge } from './passkey-challenge.ts'
import { findPasskey, listPasskeys, type Passkey, usePasskey } from './passkey-store.ts'
import type { SignInContext } from './sign-in.ts'

/** The session that adds a passkey, and the console's address in its browser. */
type Adding = {
  readonly operator: Pick<Operator, 'operatorId' | 'name'>
  readonly sessionId: string
  readonly origin: string
}

const SIGN_IN = 'sign in'
/** ES256, EdDSA and RS256: every authenticator supports one of them. */
const algorithms = [-7, -8, -257]

/**
 * Why there can be no passkeys here: browsers make them only for host names, so not for `127.0.0.1`; and the package
 * that verifies the answers of authenticators is optional, so it is there only if it was installed beside the service.
 */
export function noPasskeysFor(origin: string): 'number' | 'package' | undefined {
  const { hostname } = new URL(origin)
  if (/^[\d.]+$|^\[/.test(hostname)) return 'number'
  return isInstalled('@simplewebauthn/server') ? undefined : 'package'
}

function isInstalled(name: string): boolean {
  try {
    createRequire(import.meta.url).resolve(name)
    return true
  } catch {
    return false
  }
}

/**
 * The options with which a browser asks its authenticator to create a passkey: one that it can find without a user
 * name, and that verifies its user.
 */
export async function optionsToAdd(context: SignInContext, adding: Adding): Promise<object> {
  const { generateRegistrationOptions } = await import('@simplewebauthn/server')
  const { operator, sessionId, origin } = adding
  const known = await listPasskeys(context.database, operator.operatorId)
  return generateRegistrationOptions({
    rpName: 'Benefits console',
    rpID: new URL(origin).hostname,
    attestationType: 'none',
    userName: operator.name,
    userDisplayName: operator.name,
    userID: new TextEncoder().encode(encodeUuid(operator.operatorId)),
    challenge: makeChallenge(context.keyring, context.real(), sessionId),
    authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
    excludeCredentials: known.map(({ id, transports }) => ({ id, transports: [...transports] })),
    supportedAlgorithmIDs: algorithms,
  })
}

/**
 * The passkey that a browser created. Rejects when the answer does not belong to a challenge of this session, or is not
 * verified.
 */
export async function madePasskey(context: SignInContext, adding: Adding, answer: string): Promise<Passkey> {
  const { verifyRegistrationResponse } = await import('@simplewebauthn/server')
  const { keyring, real } = context
  const { verified, registrationInfo } = await verifyRegistrationResponse({
    response: JSON.parse(answer) as RegistrationResponseJSON,
    expectedChallenge: text =>
      challengeMadeAt(keyring, real(), { owner: adding.sessionId, text }) !== undefined,
    expectedOrigin: adding.origin,
    expectedRPID: new URL(adding.origin).hostname,
    requireUserVerification: true,
    supportedAlgorithmIDs: algorithms,
  })
  if (!verified) throw new Error('a passkey that was made was not verified')
  const { id, publicKey, counter, transports = [] } = registrationInfo.credential
  return {
    id,
    operatorId: adding.operator.operatorId,
    counter,
    createdAt: real(),
    lastUsedAt: undefined,
    publicKey: Buffer.from(publicKey),
    // They come from the browser and are only sent back to it.
    transports: transports.filter(one => /^[a-z-]{1,20}$/.test(one)).slice(0, 8),
  }
}

/** The options with which a browser signs in, with any passkey that it has for this address. */
export function optionsToSignIn(context: SignInContext, origin: string): object {
  const challenge = makeChallenge(context.keyring, context.real(), SIGN_IN)
  return {
    challenge: Buffer.from(challenge).toString('base64url'),
    rpId: new URL(origin).hostname,
    userVerification: 'required',
    timeout: 120_000,
  }
}

/** The operator who signed in with a passkey, or who was refused although the passkey is known. */
type PasskeyAnswer = {
  readonly operator: Pick<Operator, 'operatorId' | 'name'> | undefined
  /** The reason given by the library or a rule; absent: signed in. */
  readonly fault?: unknown
}

/**
 * Checks a browser's answer to `optionsToSignIn`. A passkey answers a challenge only once, and no older challenge
 * afterwards.
 */
export async function signInWithPasskey(
  context: SignInContext,
  origin: string,
  answer: string,
): Promise<PasskeyAnswer> {
  let passkey: Awaited<ReturnType<typeof findPasskey>>
  try {
    const response = JSON.parse(answer) as AuthenticationResponseJSON
    passkey = await findPasskey(context.database, String(response.id))
    if (!passkey) return { operator: undefined, fault: new Error('an unknown passkey') }
    await verify(context, { origin, response, passkey })
    return { operator: passkey }
  } catch (fault) {
    return { operator: passkey, fault }
  }
}

async function verify(
  { database, keyring, real }: SignInContext,
  shown: { origin: string; response: AuthenticationResponseJSON; passkey: Passkey },
): Promise<void> {
  const { verifyAuthenticationResponse } = await import('@simplewebauthn/server')
  const { origin, response, passkey } = shown
  let challengedAt: number | undefined
  const { verified, authenticationInfo } = await verifyAuthenticationResponse({
    response,
    expectedChallenge: text => {
      challengedAt = challengeMadeAt(keyring, real(), { owner: SIGN_IN, text })
      return challengedAt !== undefined
    },
    expectedOrigin: origin,
    expectedRPID: new URL(origin).hostname,
    credential: { id: passkey.id, publicKey: new Uint8Array(passkey.publicKey), counter: passkey.counter },
    requireUserVerification: true,
  })
  const handle = Buffer.from(response.response.userHandle ?? '', 'base64url').toString()
  if (!verified || challengedAt === undefined) throw new Error('a passkey that was not verified')
  if (decodeUuid(handle) !== passkey.operatorId) throw new Error('a passkey of another operator')
  const counter = authenticationInfo.newCounter
  if (!(await usePasskey(database, { id: passkey.id, counter, challengedAt, at: real() })))
    throw new Error('an answer that was used, or a passkey that was copied')
}
