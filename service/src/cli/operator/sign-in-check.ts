import { type Command, type Finding, type Input, printFindings } from '@benefit-enrolment/command'
import { readConfig } from '../../config.ts'
import { discover } from '../../operators/provider.ts'
import { type ProviderSettings, readProviderSettings } from '../../operators/provider-settings.ts'
import { nodeEndedOn } from '../../system/node-support.ts'

/**
 * Says whether this Node.js still gets fixes and, where operators sign in at an identity provider, asks it what it offers, with
 * the settings that `console` would use. It signs nobody in. Throws OperatorError when a check failed.
 */
export const doctor: Command = {
  name: 'doctor',
  summary: 'Check this Node.js and the identity provider of the console, and say what to correct.',
  run: checkSignIn,
}

async function checkSignIn(input: Input): Promise<void> {
  const { consoleSignIn } = readConfig(input.environment)
  if (consoleSignIn === undefined) return printFindings(input, {}, [nodeFinding(), untried])
  const settings = readProviderSettings(consoleSignIn)
  printFindings(input, { issuer: settings.issuer }, [...(await examine(settings)), nodeFinding()])
}

const untried: Finding = {
  check: 'nothing else',
  result: 'ok',
  told: 'was asked for',
  remedy:
    'Set ENROLMENT_CONSOLE_SIGN_IN to try the identity provider of the console; `benefit-enrolment doctor URL` tests a receiver.',
}

function nodeFinding(): Finding {
  const endedOn = nodeEndedOn(process.version, Date.now())
  const check = 'Node.js'
  if (endedOn === undefined) return { check, result: 'ok', told: process.version }
  const told = `${process.version} gets no more fixes since ${endedOn}`
  return { check, result: 'warn', told, remedy: 'Run the service on the newest LTS of Node.js.' }
}

async function examine(settings: ProviderSettings): Promise<readonly Finding[]> {
  const { issuer, clientSecret, clientAuth, scope } = settings
  let offered: Offer
  try {
    const config = await discover(settings, { skew: 0, timeoutSeconds: 10 })
    offered = config.serverMetadata()
  } catch (error) {
    const { code, cause } = error as { code?: string; cause?: { code?: string } }
    return [
      {
        check: 'the issuer',
        result: 'fail',
        told: `${issuer} (${code ?? cause?.code ?? 'no answer'})`,
        remedy:
          'Its /.well-known/openid-configuration must answer this machine, and name the issuer to the letter as the file does.',
      },
    ]
  }
  const method =
    clientSecret === undefined
      ? 'none'
      : clientAuth === 'basic'
        ? 'client_secret_basic'
        : 'client_secret_post'
  const wanted = scope.split(' ')
  return [
    { check: 'the issuer', result: 'ok', told: `${issuer} answers` },
    finding('keys', offered.jwks_uri !== undefined, offered.jwks_uri ?? 'none', {
      result: 'fail',
      remedy: 'Without jwks_uri no ID token can be verified, so nobody is signed in.',
    }),
    finding('PKCE', isIn(['S256'], offered.code_challenge_methods_supported, false), 'S256', {
      result: 'warn',
      remedy:
        'The provider does not say that it checks PKCE. State, nonce and the secret still protect signing in.',
    }),
    finding(
      'the client',
      isIn([method], offered.token_endpoint_auth_methods_supported ?? ['client_secret_basic'], false),
      method,
      {
        result: 'fail',
        remedy: 'The provider offers another way to show the secret: set clientauth, or secretfile.',
      },
    ),
    finding('scopes', isIn(wanted, offered.scopes_supported, true), scope, {
      result: 'warn',
      remedy: 'The provider does not list all of these scopes; it may refuse the sign-in.',
    }),
    finding('sign-out', offered.end_session_endpoint !== undefined, 'also at the provider', {
      result: 'warn',
      remedy: 'The provider offers no sign-out, so only the session of the console ends.',
    }),
  ]
}

type Offer = {
  readonly jwks_uri?: string
  readonly end_session_endpoint?: string
  readonly code_challenge_methods_supported?: readonly string[]
  readonly token_endpoint_auth_methods_supported?: readonly string[]
  readonly scopes_supported?: readonly string[]
}

/** Whether all wanted values are offered; `unsaid` when the provider does not say. */
function isIn(wanted: readonly string[], offered: readonly string[] | undefined, unsaid: boolean): boolean {
  return offered === undefined ? unsaid : wanted.every(one => offered.includes(one))
}

function finding(
  check: string,
  isRight: boolean,
  told: string,
  otherwise: { result: 'warn' | 'fail'; remedy: string },
): Finding {
  return isRight ? { check, result: 'ok', told } : { check, told, ...otherwise }
}
