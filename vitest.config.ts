import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import { playwright } from '@vitest/browser-playwright';
import { defineConfig, type TestProjectInlineConfiguration } from 'vitest/config';
import { SOFTWARE_GPUS, type SoftwareGpu, softwareGpu } from './src/node/software.ts';
import { findChromium } from './test/chromium.ts';
import { takeConsole } from './test/page/console.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** What this run of test/gpu is for: a software GPU in Node, the WebGPU of a page, or Deno's. */
    driver: SoftwareGpu | 'chromium' | 'deno';
    /** Why it can't be had on this machine; null where it is there. */
    missing: string | null;
    /** How to start Chromium; null where there is none. */
    chromium: { readonly executablePath: string; readonly args: string[] } | null;
  }
}

/** The first use of a pipeline compiles it, which takes a CPU driver seconds. */
const PATIENT = { testTimeout: 120_000, hookTimeout: 60_000 };

/** A run of tests on a driver; where it isn't there, they are skipped by name, with the reason. */
async function onDriver(driver: SoftwareGpu, folder = 'test/gpu', name: string = driver, env = {}) {
  const found = await softwareGpu(driver);
  const include = [`${folder}/**/*.test.ts`];
  const missing = 'missing' in found ? found.missing : null;
  return {
    extends: true as const,
    test: { name, env, include, provide: { driver, missing }, ...PATIENT },
  };
}

/** lavapipe with vectors of another width than the CPU's own (256 bits: 8 lanes): 4 and 16 lanes. */
const lanes = (lanes: number) =>
  onDriver('lavapipe-25', 'test/lanes', `${lanes} lanes`, { LP_NATIVE_VECTOR_WIDTH: String(lanes * 32) });

/**
 * The files of test/gpu that need nothing of Node's. Left out: `check` and `ladder`, which are about rungs that the
 * other drivers cover, and `gemm-memory`, which looks at Node's heap.
 */
const PORTABLE = ['kernels', 'gemm', 'gemm-errors', 'gemm-faults', 'gemm-limits', 'gemm-matmul', 'tune'].map(
  name => `test/gpu/${name}.test.ts`,
);

/** The package as it is built, in place of the sources, on the software GPU that is quickest at it. */
async function built(): Promise<TestProjectInlineConfiguration> {
  const quickest = 'missing' in (await softwareGpu('lavapipe-26')) ? 'swiftshader' : 'lavapipe-26';
  const { test } = await onDriver(quickest, 'test/gpu', 'dist');
  const include = PORTABLE.filter(file => !/kernels|limits/.test(file));
  const dist = fileURLToPath(new URL('dist/', import.meta.url));
  const alias = [{ find: /^(?:\.\.\/)+src\/(.*)\.ts$/, replacement: `${dist}$1.js` }];
  return { extends: true, resolve: { alias }, test: { ...test, include, globalSetup: ['test/built.ts'] } };
}

/** The programs in README.md and docs/, run against the built package. */
const guide = (): TestProjectInlineConfiguration => ({
  extends: true,
  test: {
    name: 'guide',
    include: ['test/guide/*.test.ts'],
    globalSetup: ['test/built.ts'],
    provide: { chromium: findChromium() },
    ...PATIENT,
  },
});

/** The page as it is built, in Chromium with SwiftShader. */
const pageApp = (): TestProjectInlineConfiguration => ({
  extends: true,
  test: {
    name: 'page',
    include: ['test/page-app/**/*.test.ts'],
    globalSetup: ['test/page-app/build.ts'],
    provide: { chromium: findChromium() },
    // What computes is waited for up to four minutes (test/page-app/browser.ts): a busy CPU is a slow GPU.
    testTimeout: 300_000,
    hookTimeout: 120_000,
    // A browser, its GPU's process and a page are four clocks; what needs a second try is named at the end of the output.
    retry: 1,
    expect: { poll: { timeout: 30_000 } },
  },
});

/** The library in a page: Chromium with SwiftShader, the one CPU adapter that it takes. */
function inPage(): TestProjectInlineConfiguration {
  const launchOptions = findChromium();
  const name = 'chromium';
  if (!launchOptions) {
    const missing = 'there is no Chromium on this machine (`apt-get install chromium`)';
    return { extends: true, test: { name, include: PORTABLE, provide: { driver: name, missing } } };
  }
  return {
    extends: true,
    server: {
      // Without them a page has no SharedArrayBuffer.
      headers: {
        'Cross-Origin-Opener-Policy': 'same-origin',
        'Cross-Origin-Embedder-Policy': 'require-corp',
      },
    },
    test: {
      name,
      include: PORTABLE,
      setupFiles: ['test/page/setup.ts'],
      provide: { driver: name, missing: null },
      ...PATIENT,
      browser: {
        enabled: true,
        headless: true,
        screenshotFailures: false,
        provider: playwright({ launchOptions }),
        instances: [{ browser: 'chromium' }],
        commands: { takeConsole },
      },
    },
  };
}

/** Deno's own WebGPU: wgpu, with another compiler of WGSL. `npm run test:deno` runs vitest itself under Deno. */
const inDeno = (): TestProjectInlineConfiguration => ({
  extends: true,
  test: {
    name: 'deno',
    include: [...PORTABLE, 'test/gpu/ladder.test.ts'],
    provide: { driver: 'deno', missing: null },
    ...PATIENT,
  },
});

const inNode = async (): Promise<TestProjectInlineConfiguration[]> => [
  {
    extends: true,
    test: {
      name: 'unit',
      include: ['test/unit/**/*.test.ts', 'test/cli/**/*.test.ts'],
      testTimeout: 60_000,
    },
  },
  ...(await Promise.all([...SOFTWARE_GPUS.map(driver => onDriver(driver)), lanes(4), lanes(16)])),
  await built(),
  guide(),
  pageApp(),
  inPage(),
];

export default defineConfig({
  test: {
    // Threads would share a process: a test that times out while a buffer is being mapped would end the whole run.
    pool: 'forks',
    // A software GPU uses several cores itself.
    maxWorkers: Math.min(4, Math.max(2, availableParallelism())),
    reporters: ['default', './test/summary.ts'],
    projects: 'deno' in process.versions ? [inDeno()] : await inNode(),
  },
});
