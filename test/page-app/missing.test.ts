import { expect, test } from 'vitest';
import { runtime } from '../../src/page/gpu/runtime.ts';
import { advise } from '../../src/page/state/missing.ts';

const MAC = 'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7)';
const LINUX = 'Mozilla/5.0 (X11; Linux x86_64)';
const BROWSERS = {
  chrome: `${LINUX} AppleWebKit/537.36 (KHTML, like Gecko) Chrome/150.0.0.0 Safari/537.36`,
  edge: 'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/150.0.0.0 Safari/537.36 Edg/150.0.1.0',
  firefox: `${LINUX.replace('x86_64', 'x86_64; rv:145.0')} Gecko/20100101 Firefox/145.0`,
  safari: `${MAC} AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.6 Safari/605.1.15`,
  iphone:
    'Mozilla/5.0 (iPhone; CPU iPhone OS 18_6 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.6 Mobile/15E148 Safari/604.1',
};

test.each([
  ['chrome', /chrome:\/\/flags/],
  ['edge', /113/],
  ['firefox', /about:config/],
  ['safari', /Safari: update to 26/],
  ['iphone', /iOS 26/],
] as const)('without WebGPU, %s is told what to do', (browser, todo) => {
  const around = { userAgent: BROWSERS[browser], secure: true, pageHasGpu: false };
  const advice = advise('webgpu', around);
  expect(advice.title).toBe('This browser has no WebGPU');
  expect(advice.todo.join('\n')).toMatch(todo);
});

test('an insecure page, a worker without WebGPU and a browser without an adapter are told apart', () => {
  const around = { userAgent: BROWSERS.chrome, secure: true, pageHasGpu: true };
  expect(advise('webgpu', { ...around, secure: false }).todo.join()).toMatch(/https/);
  expect(advise('webgpu', around).title).toMatch(/workers/);
  expect(advise('adapter', around).todo.join()).toMatch(/--enable-unsafe-webgpu.*chrome:\/\/gpu/s);
});

test.each([
  ['chrome', 'chrome', '150.0.0.0', 'linux'],
  ['edge', 'edge', '150.0.1.0', 'windows'],
  ['firefox', 'firefox', '145.0', 'linux'],
  ['safari', 'safari', '18.6', 'macos'],
  ['iphone', 'safari', '18.6', 'ios'],
] as const)('a record says of %s: %s %s on %s', (browser, name, version, platform) => {
  expect(runtime(BROWSERS[browser])).toEqual({ name, version, dawn: null, platform });
});
