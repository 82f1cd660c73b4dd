import { everydayOr } from '../long.ts'
import { testSeeds } from './model-seeds.ts'

testSeeds(everydayOr([], [777, 42]))
