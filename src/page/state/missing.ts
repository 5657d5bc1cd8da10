/** What stands between this browser and a GPU, and what its user can do about it. Pure. */
import type { Missing } from '../gpu/protocol.ts';

/** What can be known of the browser. */
export interface Surroundings {
  readonly userAgent: string;
  /** WebGPU is only there on https and on localhost. */
  readonly secure: boolean;
  /** Whether the page itself, outside its worker, has WebGPU. */
  readonly pageHasGpu: boolean;
}

export interface Advice {
  readonly title: string;
  /** What is missing, in a sentence. */
  readonly what: string;
  /** What to do, one step or way an item. */
  readonly todo: readonly string[];
}

export const surroundings = (): Surroundings => ({
  userAgent: navigator.userAgent,
  secure: isSecureContext,
  pageHasGpu: 'gpu' in navigator,
});

export function advise(missing: Missing, around: Surroundings): Advice {
  if (!around.secure) {
    return {
      title: 'WebGPU needs a secure page',
      what: 'Browsers offer WebGPU only on pages that came over https, or from this machine.',
      todo: ['Open this page with https:// in front, or from http://localhost.'],
    };
  }
  if (missing === 'adapter') {
    return {
      title: 'This browser shows no GPU',
      what: 'It has WebGPU, but offers no adapter: the GPU or its driver is blocked, or there is none.',
      todo: [
        ...adapterSteps(around.userAgent),
        'Update the graphics driver and the browser, and restart both.',
      ],
    };
  }
  if (around.pageHasGpu) {
    return {
      title: 'WebGPU is not there in workers',
      what: 'This browser has WebGPU on the page, but not in workers, where this page does its work.',
      todo: [browserStep(around.userAgent)],
    };
  }
  return {
    title: 'This browser has no WebGPU',
    what: 'Without it nothing can run on your GPU from a page.',
    todo: [browserStep(around.userAgent)],
  };
}

function browserStep(userAgent: string): string {
  const linux = /Linux|X11/.test(userAgent) && !/Android/.test(userAgent);
  if (/Firefox\//.test(userAgent)) {
    return linux || /Android/.test(userAgent)
      ? 'Firefox: take Nightly, or set dom.webgpu.enabled and dom.webgpu.workers.enabled to true in about:config.'
      : 'Firefox: update to 141 or newer on Windows, 145 or newer on a Mac with Apple silicon.';
  }
  if (/iPhone|iPad/.test(userAgent)) return 'On an iPhone or iPad every browser needs iOS 26 or newer.';
  if (/Safari\//.test(userAgent) && !/Chrome\//.test(userAgent)) {
    return 'Safari: update to 26 or newer; in Safari 18 switch WebGPU on under Develop, Feature Flags.';
  }
  if (/Chrome\//.test(userAgent)) {
    return linux
      ? 'Chrome or Edge on Linux: open chrome://flags, enable “Unsafe WebGPU Support” and “Vulkan”, and relaunch.'
      : 'Chrome or Edge: update to 113 or newer (121 on Android).';
  }
  return 'Open this page in a current Chrome, Edge, Firefox or Safari.';
}

function adapterSteps(userAgent: string): string[] {
  if (!/Chrome\//.test(userAgent)) return [];
  const linux = /Linux|X11/.test(userAgent) && !/Android/.test(userAgent);
  return [
    ...(linux
      ? [
          'On Linux: start the browser with --enable-unsafe-webgpu --enable-features=Vulkan, or enable “Unsafe WebGPU Support” and “Vulkan” in chrome://flags.',
        ]
      : []),
    'See that “Use graphics acceleration when available” is on in the settings, under System.',
    'chrome://gpu says why WebGPU is off.',
  ];
}
