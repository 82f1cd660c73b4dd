import { everydayOr, isLong } from '../long.ts'
import { testSeeds } from './model-seeds.ts'

// More lives of the same kind: a figure, as the seeds of model.test.ts meet all that can be done.
testSeeds(everydayOr([], isLong ? [777, 42] : []))
