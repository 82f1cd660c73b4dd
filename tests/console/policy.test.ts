import { expect, test } from 'vitest'
import {
  needsSecond,
  readPolicy,
  SECOND_PERSON_ACTIONS,
  writePolicy,
} from '../../service/src/console/requests/store.ts'
import { startTestService } from '../rig.ts'

test('each action needs a second person until it is set off, and one that is set off leaves the others as they are', async () => {
  await using service = await startTestService()
  const { database } = service
  const stated = async () => {
    const policy = await readPolicy(database)
    return SECOND_PERSON_ACTIONS.filter(action => needsSecond(policy, action))
  }
  expect(await stated()).toEqual(['void', 'move', 'erase', 'dateandlink', 'credentials', 'release'])
  await writePolicy(database, 'erase', false)
  await writePolicy(database, 'void', false)
  expect(await stated()).toEqual(['move', 'dateandlink', 'credentials', 'release'])
  await writePolicy(database, 'erase', true)
  expect(await stated()).toEqual(['move', 'erase', 'dateandlink', 'credentials', 'release'])
})
