import { DAY_MS } from '../calendar/time.ts'

/** Crawlers may read the pages for people, and nothing that a person's link opens. */
export function robotsText(basePath: string): string {
  return `User-agent: *\nAllow: ${basePath}/$\nAllow: ${basePath}/docs\nAllow: ${basePath}/changelog\nDisallow: /\n`
}

const SECURITY_TEXT_DAYS = 180

/** The contact for reports of vulnerabilities (RFC 9116). */
export function securityText(options: { baseUrl: string; contact: string | undefined; now: number }): string {
  const { baseUrl, contact, now } = options
  const expires = new Date(now + SECURITY_TEXT_DAYS * DAY_MS).toISOString().replace(/\.\d+Z$/, 'Z')
  return [
    `Contact: ${contact ?? `${baseUrl}/docs/security`}`,
    `Expires: ${expires}`,
    `Canonical: ${baseUrl}/.well-known/security.txt`,
    `Policy: ${baseUrl}/docs/security`,
    'Preferred-Languages: en, es',
    '',
  ].join('\n')
}

/** The addresses of the interface's description (RFC 9727). */
export function apiCatalog(baseUrl: string): string {
  return JSON.stringify({
    linkset: [
      {
        anchor: baseUrl,
        'service-desc': [
          { href: `${baseUrl}/openapi.json`, type: 'application/json' },
          { href: `${baseUrl}/openapi.yaml`, type: 'application/yaml' },
        ],
        'service-doc': [{ href: `${baseUrl}/docs`, type: 'text/html' }],
        'service-meta': [{ href: `${baseUrl}/changelog.json`, type: 'application/json' }],
        status: [{ href: `${baseUrl}/readyz`, type: 'application/json' }],
      },
    ],
  })
}
