// @prism

import { beforeAll, expect, test } from 'vitest'
import { readWholeCatalogue } from '../../service/src/catalogue/bring-files.ts'
import { forAllTests } from '../for-all-tests.ts'
import { demoCatalogue, demoCatalogueFile, startTestService } from '../rig.ts'

const service = forAllTests(() => startTestService({ basePath: '/stage' }))
let path = ''
beforeAll(async () => {
  const read = await readWholeCatalogue(demoCatalogue, `${demoCatalogueFile}/..`)
  const documents = read.ok ? (read.catalogue.benefits.get('accident')?.documents ?? []) : []
  path = documents[0]?.file ?? ''
})

test('a document is served by the hash of its bytes, can do nothing, and never changes', async () => {
  const answer = await fetch(`${service.baseUrl}/files/${path}`)
  expect(answer.status).toBe(200)
  expect(Object.fromEntries(answer.headers)).toMatchObject({
    'content-type': 'application/pdf',
    'content-security-policy': 'sandbox',
    'content-disposition': 'attachment; filename="accident-en.pdf"',
    'x-content-type-options': 'nosniff',
    'cache-control': 'public, max-age=31536000, immutable',
  })
  expect((await answer.text()).startsWith('%PDF-')).toBe(true)
})

test('an unknown hash, an ending that is not the kind of the file, and a name of another form are not found', async () => {
  const [hash = ''] = path.split('/')
  const asked = [
    `${'0'.repeat(64)}/accident-en.pdf`,
    `${hash}/accident-en.png`,
    `${hash}/accident-en.html`,
    `${hash}/..%2f..%2fetc.pdf`,
    `${hash.toUpperCase()}/accident-en.pdf`,
    hash,
  ]
  const statuses = await Promise.all(
    asked.map(async one => (await fetch(`${service.baseUrl}/files/${one}`)).status),
  )
  expect(statuses).toEqual(asked.map(() => 404))
})
