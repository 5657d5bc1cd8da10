/**
 * A WGSL compiler's message in one line. Dawn's has one anyway; naga (Deno, Firefox) draws the source around it: the
 * first line says what is wrong, and a line that begins with `=` says more.
 */
export function inOneLine(message: string): string {
  const lines = message.split('\n').map(line => line.trim());
  const [first = 'the compiler gives no reason', ...rest] = lines.filter(Boolean);
  const more = rest.find(line => line.startsWith('= '));
  return more ? `${first}: ${more.slice(2)}` : first;
}
