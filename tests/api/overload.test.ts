import { expect } from 'vitest'
import { testInTime } from '../hold-users.ts'
import { newVisitor } from '../page/visitor.ts'
import { startTestService } from '../rig.ts'

testInTime(
  'what has waited too long is refused in the form of its route with Retry-After, counted, and told to the log in sums; health answers',
  async () => {
    // Nothing ever begins, so that everything is refused at the next tick.
    await using service = await startTestService({ limits: { atOnce: 0, patienceMs: 0 } })
    const ask = (path: string, method = 'GET') =>
      service.conformance.fetch(service.baseUrl + path, { method })
    const shown = await newVisitor(service.baseUrl).get('/register')
    expect(shown).toMatchObject({ status: 503, view: 'PROBLEM' })
    expect(shown.headers.get('retry-after')).toMatch(/^[123]$/)
    const token = await ask('/oauth2/token', 'POST')
    expect([token.status, await token.json()]).toMatchObject([503, { error: 'unavailable' }])
    const prefill = await ask('/user/prefill', 'POST')
    expect(await prefill.json()).toMatchObject({ status: 503, code: 'unavailable', errors: [] })
    for (const path of ['/healthz', '/readyz']) expect((await ask(path)).status).toBe(200)
    expect(await service.service().metrics()).toContain('http_requests_shed_total{reason="wait"} 3')
    await service.restart()
    const told = service.logged.filter(({ event }) => event === 'shed')
    expect(told.reduce((sum, { fields }) => sum + Number(fields['wait']), 0)).toBe(3)
    const lines = service.logged.filter(
      ({ event, fields }) => event === 'request' && fields['status'] === 503,
    )
    expect(lines).toEqual([])
  },
)
