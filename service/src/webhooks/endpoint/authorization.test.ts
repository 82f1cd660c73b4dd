import { NewWebhook } from '@benefit-enrolment/contract'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { expect, test } from 'vitest'
import { readCredentials } from './authorization.ts'

test('which credentials need or exclude each other the schema of the request says as its reader does', () => {
  const isDescribed = new Ajv2020({ strict: false, validateFormats: false }).compile(NewWebhook)
  const fields = Object.entries({
    username: 'u',
    password: 'p',
    token: 't',
    tokenurl: 'https://id.example.com/token',
    clientid: 'c',
    clientsecret: 's',
    scope: 'hooks',
  })
  for (const authorization of [undefined, 'basic', 'bearer', 'oauth2'] as const)
    for (let chosen = 0; chosen < 2 ** fields.length; chosen++) {
      const some = Object.fromEntries(fields.filter((_, at) => chosen & (1 << at)))
      const given = { ...some, ...(authorization && { authorization }) }
      const read = readCredentials(given, undefined, { sandbox: false, allow: [] })
      const body = { url: 'https://hooks.example.com', ...given }
      expect([given, isDescribed(body)]).toEqual([given, 'credentials' in read])
    }
})
