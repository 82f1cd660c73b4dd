// Pages for people and files for crawlers, for which the client has no methods.
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { beforeAll, describe, expect, test } from 'vitest'
import { errors, eventNames, type Operation, operations, scopeNames } from '../../contract/src/index.ts'
import { send } from '../api/raw.ts'
import { forAllTests } from '../for-all-tests.ts'
import { startTestService } from '../rig.ts'

const service = forAllTests(() => startTestService({ sandbox: false }))

function get(path: string) {
  return send(service, 'GET', path)
}

async function page(path: string): Promise<string> {
  const answer = await get(path)
  expect([path, answer.status]).toEqual([path, 200])
  expect(answer.headers.get('content-type')).toBe('text/html; charset=utf-8')
  expect(answer.headers.get('content-security-policy')).toMatch(
    /^default-src 'none'; style-src 'self'; script-src 'self';/,
  )
  return answer.text
}

/** Every address of the service that links lead to, starting at `/`. */
async function crawl(): Promise<Map<string, string>> {
  const texts = new Map<string, string>()
  const open = ['/']
  for (let path = open.pop(); path !== undefined; path = open.pop()) {
    if (texts.has(path)) continue
    const answer = await get(path)
    expect([path, answer.status]).toEqual([path, 200])
    texts.set(path, answer.text)
    if (!answer.headers.get('content-type')?.startsWith('text/html')) continue
    for (const [, address = ''] of answer.text.matchAll(/(?:href|src)="([^"#]+)/g)) {
      if (address.startsWith(service.baseUrl)) open.push(address.slice(service.baseUrl.length) || '/')
    }
  }
  return texts
}

let reached: Map<string, string>
beforeAll(async () => {
  reached = await crawl()
})

test('from the root every page can be reached, and every link leads somewhere', () => {
  for (const path of ['/docs', '/docs/quick-start', '/docs/idempotency', '/docs/contract', '/changelog'])
    expect([...reached.keys()]).toContain(path)
  for (const code of Object.keys(errors)) expect([...reached.keys()]).toContain(`/docs/errors/${code}`)
})

test('every link to a section meets one', () => {
  const idsOf = (path: string) =>
    new Set([...(reached.get(path) ?? '').matchAll(/ id="([^"]+)"/g)].map(([, id]) => id))
  const wrong: string[] = []
  for (const [from, text] of reached) {
    for (const [, address = '', id = ''] of text.matchAll(/href="([^"#]*)#([^"]+)"/g)) {
      if (address !== '' && !address.startsWith(service.baseUrl)) continue
      const target = address === '' ? from : address.slice(service.baseUrl.length)
      if (!idsOf(target).has(id)) wrong.push(`${from}: ${address}#${id}`)
    }
  }
  expect(wrong).toEqual([])
})

test('no link is named after a file', () => {
  const named = [...reached].flatMap(([path, text]) =>
    [...text.matchAll(/<a [^>]*>([^<]*\.md)<\/a>/g)].map(([, name]) => `${path}: ${name}`),
  )
  expect(named).toEqual([])
})

test('samples are folded only where one stands for another, never steps in one language', () => {
  const quickStart = reached.get('/docs/quick-start') ?? ''
  expect(quickStart).toContain('user/prefill')
  expect(quickStart).not.toContain('<details')
  for (const [path, text] of reached)
    for (const [group] of text.matchAll(/(?:<details class="sample"[\s\S]*?<\/details>\n)+/g)) {
      const languages = [...group.matchAll(/<summary>([^<]+)<\/summary>/g)].map(([, name]) => name)
      expect([path, languages]).toEqual([path, [...new Set(languages)]])
    }
})

test('no space stands before a comma, as where a comment was left out', () => {
  for (const [path, text] of reached) {
    if (!path.startsWith('/docs')) continue
    const prose = text.replace(/<pre[\s\S]*?<\/pre>|<code>[\s\S]*?<\/code>/g, '…')
    expect([path, /[\w…] [,;.](?=[\s<])/.exec(prose)?.[0]]).toEqual([path, undefined])
  }
})

test('no address of email leads to a mailbox', () => {
  for (const [path, text] of reached)
    if (path.startsWith('/docs')) expect([path, text.includes('mailto:')]).toEqual([path, false])
})

test('a drawing of states is a table of its moves, without an empty column', () => {
  const states = reached.get('/docs/states') ?? ''
  expect(states).toContain('<td><em>beginning</em></td><td><code>prefilled</code></td></tr>')
  expect(reached.get('/docs/webhooks')).toContain('<th scope="col">when</th>')
  expect(states).not.toContain('<td></td>')
})

test('the reference names every operation, event and scope, with samples in curl, TypeScript and Python', () => {
  const reference = [...reached].filter(([path]) => path.startsWith('/docs/reference'))
  const text = reference.map(([, content]) => content).join('\n')
  for (const operation of Object.values(operations) as Operation[]) {
    expect(text).toContain(`<code>${operation.method} ${operation.path}</code>`)
    const section =
      text.split('<h2 ').find(one => one.includes(`<p><code>${operation.method} ${operation.path}</code>`)) ??
      ''
    const languages = [...section.matchAll(/<summary>(\w+)<\/summary>/g)].map(([, name]) => name)
    expect({ id: operation.id, languages: languages.slice(0, 3) }).toEqual({
      id: operation.id,
      languages: operation.caller === 'partner' ? ['Shell', 'TypeScript', 'Python'] : languages.slice(0, 3),
    })
    expect(languages).toEqual(expect.arrayContaining(['Shell', 'Python']))
  }
  // The answer is a JSON string, so its quotes belong to it.
  expect(text).toContain('<code>&quot;prefill saved&quot;</code>')
  for (const name of [...eventNames, ...scopeNames]) expect(text).toContain(`<code>${name}</code>`)
})

test('the reference calls operations by what they do, and lists the errors of every operation once', () => {
  const users = reached.get('/docs/reference/users') ?? ''
  expect(users).toContain('<h2 id="create-user"><a class="anchor" href="#create-user">Create user</a></h2>')
  expect(reached.get('/docs/reference/benefits')).toContain('>Swap benefits</a></h2>')
  expect(users).not.toContain('errors/malformed_json')
  expect(reached.get('/docs/reference')).toContain(`href="${service.baseUrl}/docs/errors/malformed_json"`)
})

test('each guide begins with when you need it and ends with what is next', () => {
  const guides = [...reached].filter(
    ([path]) =>
      /^\/docs\/[\w-]+$/.test(path) && !/\/(?:contract|interface|states|reference|search)$/.test(path),
  )
  expect(guides.length).toBeGreaterThan(20)
  for (const [path, text] of guides) {
    const [, first, last] =
      /<main[^>]*><h1>[\s\S]*?<p>([\s\S]*?)<\/p>[\s\S]*<h2 id="([^"]+)">[\s\S]*<\/main>/.exec(text) ?? []
    expect([path, first?.slice(0, 18), last]).toEqual([path, 'You need this when', 'next'])
  }
})

test('the menu has plain names, and one entry for all that is promised', async () => {
  const [, menu = ''] = /<nav([\s\S]*)<\/nav>/.exec(await page('/docs')) ?? []
  const names = [...menu.matchAll(/<a [^>]*>([^<]+)<\/a>/g)].map(([, name]) => name)
  expect(names).toEqual(
    expect.arrayContaining(['Swap a benefit', 'Run a month', 'Move in', 'What you can rely on']),
  )
  expect(names.length).toBeLessThan(45)
  expect(menu.split('<h2>Promises</h2>')[1]?.match(/<li>/g)).toHaveLength(1)
})

test('the first call on the first page succeeds as it stands, with the caller’s credentials', async () => {
  const [, sample = ''] = /<pre[^>]*><code>([\s\S]*?)<\/code>/.exec(await page('/docs')) ?? []
  const script = sample.replaceAll('&quot;', '"').replaceAll('&#39;', "'").replaceAll('&amp;', '&')
  const { clientId, clientSecret, apiKey } = await service.newPartner()
  const given = `CLIENT_ID='${clientId}' CLIENT_SECRET='${clientSecret}' API_KEY='${apiKey}'`
  const { stdout } = await promisify(execFile)('sh', [
    '-c',
    script.replace('CLIENT_ID=… CLIENT_SECRET=… API_KEY=…', given),
  ])
  expect(stdout).toBe('"prefill saved"')
})

test('the reference and the description say of every field what it means', () => {
  for (const [path, text] of reached)
    if (path.startsWith('/docs/reference'))
      expect([path, text.includes('<td></td></tr>')]).toEqual([path, false])
  const { components } = JSON.parse(reached.get('/openapi.json') ?? '') as {
    components: { schemas: Record<string, { properties?: Record<string, Record<string, unknown>> }> }
  }
  const silent = Object.entries(components.schemas).flatMap(([name, { properties = {} }]) =>
    Object.entries(properties)
      .filter(([, field]) => !['$ref', 'description', 'x-rule'].some(word => word in field))
      .map(([field]) => `${name}.${field}`),
  )
  expect(silent).toEqual([])
})

test('each error has a page at the address of its problem, with cause, remedy and an example', () => {
  for (const [code, { status, title, remedy }] of Object.entries(errors)) {
    const text = reached.get(`/docs/errors/${code}`) ?? ''
    for (const id of ['cause', 'remedy', 'example']) expect(text).toContain(`<h2 id="${id}">`)
    expect(text).toContain(`HTTP/1.1 ${status}`)
    expect(text).toContain(`&quot;title&quot;: &quot;${title}&quot;`)
    expect(reached.get('/docs/errors')).toContain(`href="${service.baseUrl}/docs/errors/${code}"`)
    expect(remedy.length).toBeGreaterThan(10)
  }
})

test('each page is there as Markdown too, which llms.txt lists', async () => {
  const index = (await get('/llms.txt')).text
  const pages = [...reached.keys()].filter(path => /^\/docs\/(?!assets|search)[^.]+$/.test(path))
  expect(pages.length).toBeGreaterThan(60)
  for (const path of pages) {
    const answer = await get(`${path}.md`)
    expect([path, answer.status]).toEqual([path, 200])
    expect(answer.headers.get('content-type')).toBe('text/markdown; charset=utf-8')
    expect(answer.text).toMatch(/^# /)
    expect(index).toContain(`(${service.baseUrl}${path}.md)`)
    expect(reached.get(path)).toContain(`href="${service.baseUrl}${path}.md"`)
  }
})

test('nothing published cites a file that partners do not have, nor another address than ours', () => {
  const published = [...reached].filter(
    ([path]) => /^\/(docs|llms|changelog)?/.test(path) && !/assets|openapi/.test(path),
  )
  for (const [path, text] of published) {
    expect([
      path,
      /\b(?:service|tests|contract|bench|scripts|examples)\/[\w-]+[/.]|ARCHITECTURE|CONTRIBUTING|operating\.md|catalogue\.md/.exec(
        text,
      )?.[0],
    ]).toEqual([path, undefined])
    expect([path, /benefits\.example\.com|127\.0\.0\.1:8080/.exec(text)?.[0]]).toEqual([path, undefined])
  }
})

describe('the search', () => {
  test('finds a section by its words, in the page and for the script alike', async () => {
    const results = (await get('/docs/search.json?q=prefill_superseded')).body as {
      href: string
      title: string
    }[]
    expect(results[0]?.href).toBe(`${service.baseUrl}/docs/errors/prefill_superseded`)
    const text = await page('/docs/search?q=prefill_superseded')
    for (const { href } of results) expect(text).toContain(`href="${href}"`)
  })

  test('shows words, never the marks of Markdown', async () => {
    for (const word of ['rotated', 'idempotency', 'retries', 'verification'])
      for (const { excerpt } of (await get(`/docs/search.json?q=${word}`)).body as { excerpt: string }[])
        expect(excerpt).not.toMatch(/\]\(/)
  })

  const pathsOf = async (question: string) =>
    ((await get(`/docs/search.json?q=${encodeURIComponent(question)}`)).body as { href: string }[]).map(
      ({ href }) => href.slice(`${service.baseUrl}/docs/`.length),
    )

  test('takes any word, guides before the pages of errors', async () => {
    expect((await pathsOf('how do I swap a zebra'))[0]).toBe('swap')
    const found = await pathsOf('idempotency')
    expect(found[0]).toBe('idempotency')
    const isError = found.map(path => path.startsWith('errors/'))
    expect(isError).toEqual(isError.toSorted())
  })

  test('finds what people call by another name', async () => {
    const asked = {
      'delete user': 'reference/users#erase-user',
      unsubscribe: 'lifecycle',
      notifications: 'webhooks',
      'sign up': 'embed',
      'log in': 'authentication',
      price: 'month',
      invoice: 'reference/statements',
      migrate: 'moving-in',
      SDK: 'client',
    }
    for (const [question, path] of Object.entries(asked))
      expect((await pathsOf(question)).slice(0, 3), question).toContain(path)
  })

  test('a status leads to its errors', async () => {
    const codes = Object.entries(errors).flatMap(([code, { status }]) => (status === 409 ? [code] : []))
    expect((await pathsOf('409')).slice(0, codes.length).sort()).toEqual(
      codes.map(code => `errors/${code}`).sort(),
    )
  })

  test('says so when nothing has the words', async () => {
    expect(await page('/docs/search?q=zebra')).toContain('Nothing was found.')
    expect((await get('/docs/search.json')).body).toEqual([])
  })

  test('shows what was asked as text, whatever it holds', async () => {
    const text = await page(`/docs/search?q=${encodeURIComponent('"><script>alert(1)</script>')}`)
    expect(text).not.toContain('<script>alert')
  })
})

describe('what crawlers and tools look for', () => {
  test('robots.txt leaves the docs open and everything else alone', async () => {
    expect((await get('/robots.txt')).text.trim().split('\n')).toEqual(
      expect.arrayContaining(['User-agent: *', 'Allow: /docs', 'Disallow: /']),
    )
  })

  test('security.txt names a contact and expires later than today', async () => {
    const { text, headers } = await get('/.well-known/security.txt')
    expect(headers.get('content-type')).toBe('text/plain; charset=utf-8')
    expect(text).toContain(`Contact: ${service.baseUrl}/docs/security\n`)
    const expires = Date.parse(/^Expires: (.+)$/m.exec(text)?.[1] ?? '')
    expect(expires).toBeGreaterThan(service.now())
    expect(expires).toBeLessThan(service.now() + 366 * 86_400_000)
  })

  test('the API catalog leads to the description and the docs', async () => {
    const { text, headers } = await get('/.well-known/api-catalog')
    expect(headers.get('content-type')).toContain('application/linkset+json')
    const { linkset } = JSON.parse(text) as { linkset: Record<string, { href: string }[]>[] }
    for (const links of linkset.flatMap(({ anchor, ...rest }) => Object.values(rest)))
      for (const { href } of links) expect((await get(href.slice(service.baseUrl.length))).status).toBe(200)
  })

  test.each(['/docs', '/docs/quick-start', '/changelog'])(
    '%s leads to the same page with a slash behind it',
    async path => {
      expect(await page(`${path}/`)).toBe(await page(path))
    },
  )

  test('the favicon is a picture', async () => {
    expect((await get('/favicon.ico')).headers.get('content-type')).toBe('image/svg+xml')
  })

  test.each([
    '/openapi.json',
    '/openapi.yaml',
    '/changelog.json',
    '/changelog.atom',
    '/.well-known/api-catalog',
    '/.well-known/oauth-authorization-server',
  ])('%s may be read by a script of any site', async path => {
    expect((await get(path)).headers.get('access-control-allow-origin')).toBe('*')
  })
})

test.each([
  '/docs/nothing',
  '/docs/nothing.md',
  '/docs/errors/nothing',
  '/docs/assets/nothing.css',
  '/docs/assets/..%2Fsite.json',
])('%s is not found', async path => {
  expect((await get(path)).status).toBe(404)
})

test('behind a stage path every link has it', async () => {
  await using staged = await startTestService({ basePath: '/stage' })
  const { text } = await send(staged, 'GET', '/docs')
  const links = [...text.matchAll(/(?:href|src|action)="(http[^"]+)"/g)].map(
    ([, address = '']) => new URL(address).pathname,
  )
  expect(links.length).toBeGreaterThan(20)
  expect(links.filter(path => !path.startsWith('/stage/'))).toEqual([])
  expect((await send(staged, 'GET', '/docs/quick-start')).text).toContain('/stage/docs/idempotency')
})
