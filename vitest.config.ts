import { defineConfig } from 'vitest/config';
import { SOFTWARE_GPUS, type SoftwareGpu, softwareGpu } from './src/node/software.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** The software GPU that this run of test/gpu is for. */
    driver: SoftwareGpu;
    /** Why it can't be had on this machine; null where it is there. */
    missing: string | null;
  }
}

/** A run of tests on a driver; where it isn't there, they are skipped by name, with the reason. */
async function onDriver(driver: SoftwareGpu, folder = 'test/gpu', name: string = driver, env = {}) {
  const found = await softwareGpu(driver);
  return {
    extends: true as const,
    test: {
      name,
      env,
      include: [`${folder}/**/*.test.ts`],
      provide: { driver, missing: 'missing' in found ? found.missing : null },
      // The first use of a pipeline compiles it, which takes a CPU driver seconds.
      testTimeout: 120_000,
      hookTimeout: 60_000,
    },
  };
}

/** lavapipe with vectors of another width than the CPU's own (256 bits: 8 lanes): 4 and 16 lanes. */
const lanes = (lanes: number) =>
  onDriver('lavapipe-25', 'test/lanes', `${lanes} lanes`, { LP_NATIVE_VECTOR_WIDTH: String(lanes * 32) });

export default defineConfig({
  test: {
    // Threads would share a process: a test that times out while a buffer is being mapped would end the whole run.
    pool: 'forks',
    maxWorkers: 2,
    reporters: ['default', './test/summary.ts'],
    projects: [
      {
        extends: true,
        test: {
          name: 'unit',
          include: ['test/unit/**/*.test.ts', 'test/cli/**/*.test.ts'],
          testTimeout: 60_000,
        },
      },
      ...(await Promise.all([...SOFTWARE_GPUS.map(driver => onDriver(driver)), lanes(4), lanes(16)])),
    ],
  },
});
