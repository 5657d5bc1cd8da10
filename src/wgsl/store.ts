/**
 * What becomes of a finished sum on its way into C: `storeC`, for single cells or for four neighbours of a row at once. Four
 * at once are one store of 8 or 16 bytes in place of four with a bounds check each.
 */
import type { Activation, Problem } from '../problem.ts';
import { vectorizes } from './vectors.ts';

/** Cells of C that `storeC` takes at once. */
export type WidthC = 1 | 4;

/** The most cells of a row that can be stored at once: 4 where every row of C is whole, aligned vectors. */
export const widthC = ({ n, c }: Problem): WidthC => (vectorizes(c, n, 4) ? 4 : 1);

/** The same of the bare sums in frame()'s `partial`, which are dense. */
export const widthPartial = ({ n }: Problem): WidthC => (n % 4 === 0 ? 4 : 1);

/** The same of whichever a kernel stores, that cuts K into so many slices. */
export const widthStored = (problem: Problem, slices: number): WidthC =>
  slices > 1 ? widthPartial(problem) : widthC(problem);

/** The WGSL type of so many elements. */
export const cells = (type: string, width: WidthC): string => (width === 4 ? `vec4<${type}>` : type);

/** WGSL, to stand behind an index that is a multiple of the width: the index of a whole vector. */
const inVectors = (width: WidthC) => (width === 4 ? ' / 4' : '');

/** WGSL for `storeC` of a part of K: a reduction adds the parts up and finishes them. */
export const storePartial = (width: WidthC): string => /* wgsl */ `// \`slice\` is this workgroup's part of K.
fn storeC(batch: u32, row: u32, col: u32, sum: ${cells('Sum', width)}, slice: u32) {
  if (row < params.m && col < params.n) {
    let index = ((slice * params.batch + batch) * params.m + row) * params.n + col;
    partial[index${inVectors(width)}] = sum;
  }
}`;

/** Names of the operands that finishing needs beside C. */
export function epilogueOperands(problem: Problem): string[] {
  return [...(problem.bias === 'none' ? [] : ['bias']), ...(problem.residual ? ['residual'] : [])];
}

/** WGSL: their declarations, at the bindings from `first` on. */
export function declareEpilogue(problem: Problem, first: number, width: WidthC): string {
  return epilogueOperands(problem)
    .map((name, i) => {
      // A bias for each row is read one at a time.
      const type = cells(problem.c.type, name === 'bias' && problem.bias === 'column' ? 1 : width);
      return `@group(0) @binding(${first + i}) var<storage, read> ${name}: array<${type}>;\n`;
    })
    .join('');
}

/** WGSL for `storeC`: alpha, beta, bias, activation, residual and the caller's expression, in that order. */
export function storeFinished(problem: Problem, width: WidthC): string {
  const { c, beta, bias, activation, residual, epilogue, alpha } = problem;
  const Sums = cells('Sum', width);
  const at = `index${inVectors(width)}`;
  const steps = [
    `var value = ${alpha === 1 ? 'sum' : 'params.alpha * sum'};`,
    // beta = 0 must not read C: it may hold anything, NaN too.
    ...(beta === 0 ? [] : [`value += params.beta * ${Sums}(c[${at}]);`]),
    ...(bias === 'row' ? [`value += ${Sums}(bias[col${inVectors(width)}]);`] : []),
    ...(bias === 'column' ? ['value += Sum(bias[row]);'] : []),
    ...(activation === 'none' ? [] : ['value = activate(value);']),
    ...(residual ? [`value += ${Sums}(residual[${at}]);`] : []),
    ...(epilogue ? [callCustom(width)] : []),
    `c[${at}] = ${cells(c.type, width)}(value);`,
  ];
  return /* wgsl */ `${activation === 'none' ? '' : `${activate(activation, Sums)}\n\n`}${
    epilogue
      ? `fn custom(value: Sum, row: u32, col: u32, batch: u32) -> Sum {\n  return ${epilogue};\n}\n\n`
      : ''
  }fn storeC(batch: u32, row: u32, col: u32, sum: ${Sums}) {
  if (row < params.m && col < params.n) {
    let index = params.offsetC + batch * params.strideC + row * params.ldc + col;
    ${steps.join('\n    ')}
  }
}`;
}

/** The caller's expression is about one cell. */
function callCustom(width: WidthC): string {
  if (width === 1) return 'value = custom(value, row, col, batch);';
  return `value = ${cells('Sum', width)}(
      custom(value.x, row, col, batch), custom(value.y, row, col + 1, batch),
      custom(value.z, row, col + 2, batch), custom(value.w, row, col + 3, batch),
    );`;
}

/**
 * WGSL: the activation of a value of type `T`, a scalar or a vector of them. Comparisons instead of min, max and clamp: those
 * may turn a NaN into a number.
 */
function activate(activation: Exclude<Activation, 'none'>, T: string): string {
  if (typeof activation !== 'string') {
    return /* wgsl */ `fn activate(x: ${T}) -> ${T} {
  let low = ${T}(Sum(params.clipMin));
  let high = ${T}(Sum(params.clipMax));
  return select(select(x, low, x < low), high, x > high);
}`;
  }
  return {
    relu: `fn activate(x: ${T}) -> ${T} { return select(x, ${T}(), x < ${T}()); }`,
    sigmoid: `fn activate(x: ${T}) -> ${T} { return 1.0 / (1.0 + exp(-x)); }`,
    silu: `fn activate(x: ${T}) -> ${T} { return x / (1.0 + exp(-x)); }`,
    tanh: `${tanh(T)}
fn activate(x: ${T}) -> ${T} { return tanhOf(x); }`,
    'gelu-tanh': `${tanh(T)}
fn activate(x: ${T}) -> ${T} {
  return 0.5 * x * (1.0 + tanhOf(0.7978845608028654 * (x + 0.044715 * x * x * x)));
}`,
    gelu: gelu(T),
  }[activation];
}

/** Some drivers' tanh overflows to NaN; beyond ±15 it is ±1 in f32. */
const tanh = (T: string) => /* wgsl */ `fn tanhOf(x: ${T}) -> ${T} {
  return select(tanh(x), sign(x), abs(x) > ${T}(15.0));
}`;

/** x·Φ(x) with erf from Abramowitz and Stegun, Handbook of Mathematical Functions, 7.1.26: absolute error below 1.5e-7. */
const gelu = (T: string) => /* wgsl */ `fn activate(x: ${T}) -> ${T} {
  let z = abs(x) * 0.7071067811865476;
  let t = 1.0 / (1.0 + 0.3275911 * z);
  let polynomial = t * (0.254829592 + t * (-0.284496736 + t * (1.421413741 + t * (-1.453152027 + t * 1.061405429))));
  let erf = sign(x) * (1.0 - polynomial * exp(-z * z));
  return 0.5 * x * (1.0 + erf);
}`;
