// @databases stock
// @nightly

import { testSeeds } from './model-seeds.ts'

// More lives of the same kind, in a file of their own so that both files run side by side.
testSeeds([777, 42])
