// @databases stock

import { isLong } from '../long.ts'
import { testSeeds } from './model-seeds.ts'

// More lives of the same kind for a long run, in a file of their own so that both files run side by side.
testSeeds(isLong ? [777, 42] : [])
