import { generateKeyPairSync, sign } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import Provider from 'oidc-provider'
import type { ProviderSettings } from '../../service/src/operators/provider-settings.ts'

type Person = {
  readonly sub: string
  readonly name: string
  readonly groups?: readonly string[]
  readonly email?: string
  readonly email_verified?: boolean
}
type Claims = Record<string, unknown>

/** A real identity provider for tests, at which every visitor is signed in as `who` without being asked. */
export type IdentityProvider = {
  readonly issuer: string
  readonly settings: ProviderSettings
  /** The person that the next browser is signed in as. */
  who: Person
  /** Changes the content of ID tokens, under the provider's own signature. */
  changes: ((claims: Claims) => Claims) | undefined
  /** Keeps the signature from before the change. */
  forges: boolean
  /** Answers requests for tokens with this status. */
  broken: number | undefined
  /** Begins to serve consoles at these addresses. */
  readonly serve: (consoles: readonly string[], options?: { groupsIn?: 'idtoken' | 'userinfo' }) => void
  readonly close: () => Promise<void>
}

const CLIENT_ID = 'benefits-console'
// With characters that must be encoded in Basic credentials.
const CLIENT_SECRET = 'not a secret: +/%&'

/** Starts it on a free port; it answers nothing before `serve`, which needs the console's address. */
export async function startIdentityProvider(more: Partial<ProviderSettings> = {}): Promise<IdentityProvider> {
  const key = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey
  let provider: Provider | undefined
  const server = createServer((request, response) => {
    void answer(request, response).catch(() => response.destroy())
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`

  const answer = async (request: IncomingMessage, response: ServerResponse) => {
    if (!provider) return response.writeHead(503).end()
    if (request.url?.startsWith('/interaction/')) {
      const login = { accountId: own.who.sub }
      return provider.interactionFinished(request, response, { login }, { mergeWithLastSubmission: false })
    }
    if (request.url === '/token' && own.broken !== undefined) return response.writeHead(own.broken).end()
    if (request.url === '/token') changeTokens(response)
    return provider.callback()(request, response)
  }
  const changeTokens = (response: ServerResponse) => {
    const end = response.end.bind(response)
    response.end = ((body: string) => {
      const { changes } = own
      const told = JSON.parse(body) as { id_token?: string }
      if (!changes || told.id_token === undefined) return end(body)
      const [head = '', claims = '', signature = ''] = told.id_token.split('.')
      const changed = changes(JSON.parse(Buffer.from(claims, 'base64url').toString()) as Claims)
      const text = `${head}.${Buffer.from(JSON.stringify(changed)).toString('base64url')}`
      const fresh = sign('sha256', Buffer.from(text), key).toString('base64url')
      const sent = JSON.stringify({ ...told, id_token: `${text}.${own.forges ? signature : fresh}` })
      response.setHeader('content-length', Buffer.byteLength(sent))
      return end(sent)
    }) as typeof response.end
  }

  const own: IdentityProvider = {
    issuer,
    settings: {
      issuer,
      clientId: CLIENT_ID,
      clientSecret: CLIENT_SECRET,
      clientAuth: 'basic',
      name: 'Harbor ID',
      scope: 'openid profile email groups',
      claim: 'groups',
      groups: [
        { group: 'call-center', role: 'support', partners: undefined },
        { group: 'look', role: 'viewer', partners: undefined },
        { group: 'run', role: 'admin', partners: undefined },
      ],
      ...more,
    },
    who: { sub: 'u-1', name: 'Grace Hopper', groups: ['call-center'] },
    changes: undefined,
    forges: false,
    broken: undefined,
    serve: (consoles, { groupsIn = 'idtoken' } = {}) => {
      provider = new Provider(issuer, {
        clients: [
          {
            client_id: CLIENT_ID,
            client_secret: CLIENT_SECRET,
            redirect_uris: consoles.map(url => `${url}/sign-in/provider/return`),
            post_logout_redirect_uris: consoles.map(url => `${url}/signed-out`),
          },
        ],
        jwks: { keys: [{ ...key.export({ format: 'jwk' }), use: 'sig', alg: 'RS256' }] },
        cookies: { keys: ['test'] },
        claims: {
          openid: ['sub'],
          profile: ['name'],
          groups: ['groups'],
          email: ['email', 'email_verified'],
        },
        conformIdTokenClaims: groupsIn === 'userinfo',
        features: { devInteractions: { enabled: false } },
        interactions: { url: (_ctx: unknown, { uid }: { uid: string }) => `/interaction/${uid}` },
        ttl: { AccessToken: 3600, IdToken: 3600, Session: 3600, Grant: 3600, Interaction: 3600 },
        findAccount: (_ctx: unknown, sub: string) => ({
          accountId: sub,
          claims: () => ({ ...own.who, sub }),
        }),
        loadExistingGrant: async (ctx: GrantContext) => {
          const { client, session } = ctx.oidc
          const grant = new ctx.oidc.provider.Grant({
            clientId: client.clientId,
            accountId: session.accountId,
          })
          grant.addOIDCScope('openid profile email groups')
          await grant.save()
          return grant
        },
      })
    },
    close: () =>
      new Promise(resolve => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
  return own
}

type GrantContext = {
  readonly oidc: {
    readonly provider: Provider
    readonly client: { readonly clientId: string }
    readonly session: { readonly accountId: string }
  }
}
