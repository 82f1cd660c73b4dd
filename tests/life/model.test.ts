import { everydayOr } from '../long.ts'
import { testSeeds } from './model-seeds.ts'

// A seed that failed once stays here or in model-other-seeds.test.ts. MODEL_SEED adds another, to look for more.
testSeeds([...everydayOr([1], [1, 20_261_101]), ...[process.env['MODEL_SEED'] ?? []].flat().map(Number)])
