import { expect, test } from 'vitest';
import { inOneLine } from '../../src/device/compiler-message.ts';

test.each([
  ["unresolved value 'x'", "unresolved value 'x'"],
  [
    "\nShader '' parsing error: expected expression\n  ┌─ wgsl:4:3\n4 │   );\n\n",
    "Shader '' parsing error: expected expression",
  ],
  [
    '\nShader validation error: f is invalid\n  ┌─ :1:1\n  = The type is wrong\n\n',
    'Shader validation error: f is invalid: The type is wrong',
  ],
  ['', 'the compiler gives no reason'],
])('%j', (message, line) => expect(inOneLine(message)).toBe(line));
