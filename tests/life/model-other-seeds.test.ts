import { testSeeds } from './model-seeds.ts'

testSeeds([777, 42])
