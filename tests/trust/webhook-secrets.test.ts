// @whole

import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, onTestFinished } from 'vitest'
import { clientsOf, openStage } from '../command/keyring-stage.ts'
import { runJson } from '../command/process.ts'
import { CERTIFICATES } from '../egress/certificates.ts'
import { wholeRunTest } from '../long.ts'
import { type Delivery, startReceiver } from '../webhooks/receiver.ts'
import { checkLogs, checkTables } from './canaries.ts'

const secrets = {
  token: 'bearer.token.canary',
  clientsecret: 'client secret canary',
  header: 'gateway key canary',
  issued: 'issued.token.canary',
}
const { cert: clientcertificate, key: clientkey } = CERTIFICATES.wrong
const canaries = [...Object.values(secrets), clientkey.split('\n')[1] ?? '']

/** A token endpoint that issues the same token to whoever has the client's secret. */
async function startTokens(): Promise<string> {
  const server = createServer((request, response) => {
    const [, pair = ''] = (request.headers.authorization ?? '').split(' ')
    const isRight =
      Buffer.from(pair, 'base64').toString().replaceAll('+', ' ') === `c:${secrets.clientsecret}`
    const answer = { access_token: secrets.issued, token_type: 'bearer', expires_in: 3600 }
    response.writeHead(isRight ? 200 : 400, { 'content-type': 'application/json' })
    response.end(JSON.stringify(isRight ? answer : { error: 'invalid_client' }))
  })
  await new Promise<void>(listening => server.listen(0, '127.0.0.1', listening))
  onTestFinished(() => void server.close().closeAllConnections())
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/token`
}

wholeRunTest(
  'what gateways want of us stands nowhere in clear, is sent as before after the root key was replaced, and goes with the partner',
  async () => {
    const stage = await openStage()
    onTestFinished(() => stage.close())
    const receiver = await startReceiver()
    onTestFinished(() => receiver.close())
    const partner = await stage.newPartner()
    const [client] = clientsOf(stage, partner)
    const endpoint = { url: receiver.url, events: ['all'] as ['all'] }
    await client.createWebhook({
      ...endpoint,
      authorization: 'bearer',
      token: secrets.token,
      headers: { 'x-gateway-key': secrets.header },
    })
    await client.createWebhook({
      ...endpoint,
      authorization: 'oauth2',
      tokenurl: await startTokens(),
      clientid: 'c',
      clientsecret: secrets.clientsecret,
    })
    await client.createWebhook({
      ...endpoint,
      url: 'https://127.0.0.1:9/hook',
      username: 'u',
      password: 'p',
      clientcertificate,
      clientkey,
    })
    const sentFor = (userid: string) =>
      receiver.deliveries
        .filter(delivery => delivery.userid === userid)
        .map(({ authorization, headers }: Delivery) => [authorization, headers['x-gateway-key']])
        .toSorted()
    const asTheyWant = [
      [`Bearer ${secrets.token}`, secrets.header],
      [`Bearer ${secrets.issued}`, undefined],
    ]
    const deliver = async (userid: string) => {
      await client.prefillUser({ userid })
      await expect.poll(() => sentFor(userid)).toEqual(asTheyWant)
      checkLogs(stage.written(), canaries)
      await checkTables(stage.database, canaries)
    }
    await deliver('before')
    await runJson(['keyring', 'rotate'], stage.place)
    await stage.restart()
    await clientsOf(stage, partner)[0].prefillUser({ userid: 'after' })
    await expect.poll(() => sentFor('after')).toEqual(asTheyWant)
    await runJson(['partner', 'disable', partner.partnerid], stage.place)
    await runJson(
      ['partner', 'delete', partner.partnerid, '--name', 'Partner', '--reason', 'it left'],
      stage.place,
    )
    const rows = await stage.database.query({
      name: '',
      text: 'select 1 from webhook_endpoints where partner_id = $1',
      values: [partner.partnerid],
    })
    expect(rows).toEqual([])
  },
)
