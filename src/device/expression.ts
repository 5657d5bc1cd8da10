import { GemmError } from '../errors.ts';
import { isInteger, type Problem } from '../problem.ts';
import { inOneLine } from './compiler-message.ts';

const BEFORE = (type: string) =>
  `fn custom(value: ${type}, row: u32, col: u32, batch: u32) -> ${type} {\n  return (\n`;

const checked = new WeakMap<GPUDevice, Map<string, Promise<GemmError | null>>>();

/**
 * Compiles the caller's WGSL expression by itself, so that a mistake in it is told apart from a kernel that fails.
 *
 * @throws GemmError `compilation-failed` with the compiler's message and the expression's own line
 */
export async function checkExpression(device: GPUDevice, { a, epilogue }: Problem): Promise<void> {
  const type = isInteger(a.type) ? 'i32' : 'f32';
  let known = checked.get(device);
  if (!known) {
    known = new Map();
    checked.set(device, known);
  }
  const key = `${type} ${epilogue}`;
  let verdict = known.get(key);
  if (!verdict) {
    verdict = compile(device, type, epilogue ?? '');
    known.set(key, verdict);
  }
  const error = await verdict;
  if (error) throw error;
}

async function compile(device: GPUDevice, type: string, expression: string): Promise<GemmError | null> {
  const before = BEFORE(type);
  device.pushErrorScope('validation');
  const code = `${before}${expression}\n  );\n}\n`;
  const module = device.createShaderModule({ label: 'epilogue expression', code });
  const scope = device.popErrorScope();
  const { messages } = await module.getCompilationInfo();
  await scope;
  const worst = messages.find(message => message.type === 'error');
  if (!worst) return null;
  const lines = expression.split('\n');
  // What is missing at the end is missed on the line behind it.
  const line = Math.min(lines.length, Math.max(1, worst.lineNum - before.split('\n').length + 1));
  return new GemmError(
    'compilation-failed',
    `the epilogue expression, line ${line}: ${inOneLine(worst.message)} — ${lines[line - 1].trim()}`,
    `Give one WGSL expression of value (${type}), row, col and batch (u32) whose type is ${type}.`,
  );
}
