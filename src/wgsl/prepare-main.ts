/** The `main` of passes that prepare one operand or both in one dispatch (kernels/pack.ts, kernels/split.ts). */

export interface PrepareMain {
  readonly letters: readonly ('A' | 'B')[];
  /** Of an operand's uniform without its letter; its `groups` are the workgroups that prepare the operand. */
  readonly uniform: string;
  /** Functions without their letters, of the number of a workgroup among its operand's and the thread, with a barrier between two. */
  readonly steps: readonly string[];
  readonly threads: number;
}

/** WGSL. Barriers stand in `main`, whichever operand a workgroup prepares. */
export function prepareMain({ letters, uniform, steps, threads }: PrepareMain): string {
  const groups = letters.map(letter => `${uniform}${letter}.groups`);
  const [first, second] = letters;
  const call = (name: string) => {
    const ofFirst = `${name}${first}(index, thread);`;
    return second
      ? `if (index < ${groups[0]}) { ${ofFirst} } else { ${name}${second}(index - ${groups[0]}, thread); }`
      : ofFirst;
  };
  return /* wgsl */ `@compute @workgroup_size(${threads})
fn main(
  @builtin(workgroup_id) group: vec3u,
  @builtin(num_workgroups) groups: vec3u,
  @builtin(local_invocation_index) thread: u32,
) {
  let index = group.y * groups.x + group.x;
  if (index >= ${groups.join(' + ')}) { return; }
  ${steps.map(call).join('\n  workgroupBarrier();\n  ')}
}
`;
}
