import { everydayOr } from '../long.ts'
import { givenSeed } from '../seeds.ts'
import { testSeeds } from './model-seeds.ts'

// The seed of a failed run stays here or in model-other-seeds.test.ts. TEST_SEED adds another one, to search for more
// failures.
testSeeds([...everydayOr([1], [1, 20_261_101]), ...[givenSeed ?? []].flat()])
