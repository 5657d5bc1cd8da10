/**
 * `node .ci/count.mjs REPORT FAILURES`: prints how many tests of vitest's JSON report passed, failed and were skipped,
 * and adds a line to FAILURES for each that failed. A file that fails before its first test is a failure, too.
 */
import { appendFileSync, readFileSync } from 'node:fs';
import { relative } from 'node:path';

const [, , report, failures] = process.argv;
const { numPassedTests, numPendingTests, numTodoTests, testResults } = JSON.parse(
  readFileSync(report, 'utf8'),
);
let failed = 0;
for (const { name, status, message, assertionResults } of testResults) {
  const whole = { fullName: 'before its first test', status, failureMessages: [message] };
  for (const test of assertionResults.length > 0 ? assertionResults : [whole]) {
    if (test.status !== 'failed') continue;
    failed++;
    const [why] = test.failureMessages.join('\n').split('\n');
    appendFileSync(failures, `FAILED ${relative('.', name)} ${test.fullName}: ${why}\n`);
  }
}
console.log(numPassedTests, failed, numPendingTests + numTodoTests);
