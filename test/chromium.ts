import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';

/** How to start this machine's Chromium with WebGPU; null where there is none. */
export function findChromium(): { executablePath: string; args: string[] } | null {
  const names = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'];
  const folders = (process.env.PATH ?? '').split(delimiter);
  const files = names.flatMap(name => folders.map(folder => join(folder, name)));
  const executablePath = files.find(file => existsSync(file));
  // Without the second one, headless Chromium gives no adapter.
  const args = ['--no-sandbox', '--enable-unsafe-webgpu', '--disable-background-networking'];
  return executablePath ? { executablePath, args } : null;
}
