/** Which browser this is, as a record says it. */
import type { RecordRuntime } from '../../ladder/record.ts';

const BROWSERS: readonly (readonly [name: string, version: RegExp])[] = [
  ['edge', /\bEdg\/([\d.]+)/],
  ['firefox', /\bFirefox\/([\d.]+)/],
  ['chrome', /\b(?:Headless)?Chrome\/([\d.]+)/],
  ['safari', /\bVersion\/([\d.]+).*\bSafari\//],
];

const PLATFORMS: readonly (readonly [name: string, pattern: RegExp])[] = [
  ['android', /Android/],
  ['ios', /iPhone|iPad/],
  ['windows', /Windows/],
  ['macos', /Mac OS X/],
  ['linux', /Linux|X11/],
];

export function runtime(userAgent = navigator.userAgent): RecordRuntime {
  const [name, pattern] = BROWSERS.find(([, version]) => version.test(userAgent)) ?? ['browser', /$^/];
  const platform = PLATFORMS.find(([, found]) => found.test(userAgent))?.[0] ?? 'unknown';
  return { name, version: pattern.exec(userAgent)?.[1] ?? 'unknown', dawn: null, platform };
}
