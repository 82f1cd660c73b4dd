/**
 * TypeBox, which declares the schemas and their types. The build makes one file of it (`scripts/build-bundles.mjs`): its 373 modules
 * were a fifth of the processor time of a start.
 */
export {
  type Static,
  type TNull,
  type TObject,
  type TProperties,
  type TSchema,
  type TUnion,
  Type,
} from 'typebox'
