/** A vitest reporter: what ran on which driver, and what did not run or needed a second try and why, at the end. */
import type { Reporter, TestCase, TestModule } from 'vitest/node';

interface Tally {
  passed: number;
  failed: number;
  seconds: number;
  /** Tests that failed at first, with the reason. */
  readonly retried: Map<string, string>;
  /** Skipped tests by reason, and then by suite. */
  readonly skipped: Map<string, Map<string, number>>;
}

export default class Summary implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    const tallies = new Map<string, Tally>();
    for (const module of modules) {
      const project = module.project.name;
      const tally = tallies.get(project) ?? {
        passed: 0,
        failed: 0,
        seconds: 0,
        retried: new Map(),
        skipped: new Map(),
      };
      tallies.set(project, tally);
      tally.seconds += module.diagnostic().duration / 1000;
      for (const test of module.children.allTests()) count(tally, test);
    }
    for (const [project, tally] of tallies) print(project, tally);
    console.log();
  }
}

function count(tally: Tally, test: TestCase): void {
  const result = test.result();
  if (result.state === 'passed') tally.passed++;
  if (test.diagnostic()?.flaky) tally.retried.set(test.fullName, result.errors?.[0]?.message ?? '');
  if (result.state === 'failed') tally.failed++;
  if (result.state !== 'skipped') return;
  // Tests that the command line's own filter leaves out have no reason, and whoever set it knows.
  const reason = result.note;
  if (!reason) return;
  const suite = test.parent.type === 'suite' ? test.parent.fullName : test.fullName;
  const suites = tally.skipped.get(reason) ?? new Map<string, number>();
  tally.skipped.set(reason, suites.set(suite, (suites.get(suite) ?? 0) + 1));
}

function print(project: string, { passed, failed, seconds, retried, skipped }: Tally): void {
  const name = project.padEnd(12);
  const left = [...skipped.values()].flatMap(suites => [...suites.values()]).reduce((x, y) => x + y, 0);
  console.log(`${name} ${passed} passed, ${failed} failed, ${left} skipped  (${seconds.toFixed(1)} s)`);
  for (const [test, reason] of retried) console.log(`${name} right at a second try only: ${test}: ${reason}`);
  for (const [reason, suites] of skipped) {
    console.log(`${name} skipped, because ${reason}:`);
    for (const [suite, tests] of suites) console.log(`${name}   ${suite} (${tests})`);
  }
}
