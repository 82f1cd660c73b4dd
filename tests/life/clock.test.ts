import { expect, test } from 'vitest'
import { startTestService } from '../rig.ts'
import { lives, newStagePartner } from './stage.ts'

test('moves forward only, per partner, and applies everything due on the way', async () => {
  await using service = await startTestService(lives)
  const [one, two] = [await newStagePartner(service), await newStagePartner(service)]
  for (const partner of [one, two]) {
    await partner.create('u', { offername: 'mid', benefits: ['art'] })
    await partner.client.changeOffer({ userid: 'u', offername: 'low' })
  }
  expect(await one.client.advanceClock({ advanceto: '2026-11-15T00:00:00.000Z' })).toEqual({
    now: '2026-11-15T00:00:00.000Z',
  })
  expect(await one.get('u')).toMatchObject({
    currentofferdetails: { offer: 'low', updatedat: '2026-11-01T04:00:00.000Z' },
  })
  expect(await two.get('u')).toMatchObject({
    currentofferdetails: { offer: 'mid' },
    pendingoffer: { offer: 'low' },
  })
  const back = (advanceto: string) => one.client.advanceClock({ advanceto })
  await expect(back('2026-11-14T00:00:00.000Z')).rejects.toMatchObject({
    code: 'bad_request',
    errors: [{ field: 'advanceto', code: 'past' }],
  })
  await expect(back('2060-01-01T00:00:00.000Z')).rejects.toMatchObject({ errors: [{ code: 'toofar' }] })
  for (const text of ['tomorrow', '2026-11-20', ''])
    await expect(back(text)).rejects.toMatchObject({ status: 400, errors: [{ field: 'advanceto' }] })
})

test('in production it does not exist', async () => {
  await using service = await startTestService({ ...lives, sandbox: false })
  const partner = await newStagePartner(service)
  const answer = await fetch(`${service.baseUrl}/sandbox/clock`, {
    method: 'POST',
    headers: { authorization: `Bearer ${await partner.token()}`, 'x-api-key': partner.apiKey },
    body: JSON.stringify({ advanceto: '2026-11-15T00:00:00.000Z' }),
  })
  expect(answer.status).toBe(404)
  expect(await answer.json()).toMatchObject({ code: 'not_found' })
})
