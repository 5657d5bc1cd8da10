/** The library's face: what `import ... from 'webgemm'` gives. */
export { GemmError, type GemmErrorCode } from './errors.ts';
export {
  describeProfile,
  type MatrixConfig,
  type Profile,
  type ProfileLimits,
  profileOf,
  type Scalar,
} from './profile.ts';
