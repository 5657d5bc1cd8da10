/**
 * Models of one node for ONNX Runtime, written straight from the schema (onnx.proto3): a protobuf message is a list of
 * fields, each a key (number · 8 + wire type) and a value, which is a varint (type 0) or bytes with their length (2).
 */
import type { PeerProblem } from '../../src/bench/peer.ts';

/** TensorProto.DataType */
const TYPES = { f32: 1, f16: 10 } as const;
const INT64 = 7;
/** AttributeProto.AttributeType */
const INT = 2;
const IR_VERSION = 8;
const OPSET = 17;

/**
 * `c = a·b`: a MatMul, or a Gemm where an operand is stored transposed.
 *
 * Inputs a and b, output c; shapes are fixed, so that nothing is left to be found out when it runs.
 */
export function productModel(problem: PeerProblem): Uint8Array<ArrayBuffer> {
  const { a, b, c } = shapesOf(problem);
  const { transA, transB } = problem;
  const flags = [...attribute('transA', transA), ...attribute('transB', transB)];
  const op = transA || transB ? node('Gemm', ['a', 'b'], 'c', flags) : node('MatMul', ['a', 'b'], 'c');
  const type = TYPES[problem.type];
  return model([op], { a: [type, a], b: [type, b] }, { c: [type, c] });
}

/** `y = x`, all of it: what brings a tensor to the GPU or back. */
export function identityModel(type: 'f32' | 'f16', shape: readonly number[]): Uint8Array<ArrayBuffer> {
  const tensor: Tensor = [TYPES[type], shape];
  return model([node('Identity', ['x'], 'y')], { x: tensor }, { y: tensor });
}

/** The first element of each dimension of x but the last, and four of that: a read-back that costs nothing. */
export function cornerModel(type: 'f32' | 'f16', shape: readonly number[]): Uint8Array<ArrayBuffer> {
  const corner = shape.map((size, axis) => Math.min(size, axis === shape.length - 1 ? 4 : 1));
  return model(
    [node('Slice', ['x', 'starts', 'ends'], 'y')],
    { x: [TYPES[type], shape] },
    { y: [TYPES[type], corner] },
    { starts: shape.map(() => 0), ends: corner },
  );
}

/** The shapes of A, B and C as they are stored. */
export function shapesOf({ m, n, k, batch, transA, transB }: PeerProblem) {
  const many = batch > 1 ? [batch] : [];
  return {
    a: [...many, ...(transA ? [k, m] : [m, k])],
    b: [...many, ...(transB ? [n, k] : [k, n])],
    c: [...many, m, n],
  };
}

type Tensor = readonly [type: number, shape: readonly number[]];

function model(
  nodes: readonly number[][],
  inputs: Readonly<Record<string, Tensor>>,
  outputs: Readonly<Record<string, Tensor>>,
  constants: Readonly<Record<string, readonly number[]>> = {},
): Uint8Array<ArrayBuffer> {
  const graph = [
    ...nodes.flatMap(it => bytes(1, it)),
    ...text(2, 'webgemm'),
    ...Object.entries(constants).flatMap(([name, values]) => bytes(5, constant(name, values))),
    ...Object.entries(inputs).flatMap(([name, tensor]) => bytes(11, valueInfo(name, tensor))),
    ...Object.entries(outputs).flatMap(([name, tensor]) => bytes(12, valueInfo(name, tensor))),
  ];
  return Uint8Array.from([...number(1, IR_VERSION), ...bytes(7, graph), ...bytes(8, number(2, OPSET))]);
}

/** NodeProto */
function node(op: string, inputs: readonly string[], output: string, attributes: readonly number[] = []) {
  return [...inputs.flatMap(name => text(1, name)), ...text(2, output), ...text(4, op), ...attributes];
}

/** A NodeProto's field `attribute`; none where it is false, which is what is taken where there is none. */
const attribute = (name: string, value: boolean) =>
  value ? bytes(5, [...text(1, name), ...number(3, 1), ...number(20, INT)]) : [];

/** ValueInfoProto */
function valueInfo(name: string, [type, shape]: Tensor): number[] {
  const dimensions = shape.flatMap(size => bytes(1, number(1, size)));
  const tensorType = [...number(1, type), ...bytes(2, dimensions)];
  return [...text(1, name), ...bytes(2, bytes(1, tensorType))];
}

/** TensorProto: a vector of int64. */
const constant = (name: string, values: readonly number[]) => [
  ...number(1, values.length),
  ...number(2, INT64),
  ...bytes(7, values.flatMap(varint)),
  ...text(8, name),
];

const number = (field: number, value: number) => [...varint(field << 3), ...varint(value)];
const bytes = (field: number, content: readonly number[]) => [
  ...varint((field << 3) | 2),
  ...varint(content.length),
  ...content,
];
const text = (field: number, content: string) => bytes(field, [...new TextEncoder().encode(content)]);

function varint(value: number): number[] {
  const low = value % 128;
  return value < 128 ? [low] : [low + 128, ...varint(Math.floor(value / 128))];
}
