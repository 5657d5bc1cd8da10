/**
 * Software GPUs: Vulkan drivers that compute on the CPU, so that everything runs on a machine without a GPU.
 *
 * Dawn's Node binding looks for `libvulkan.so.1` beside itself first. So each software GPU is a folder in the cache
 * that holds a copy of the binding and a Vulkan library under that name; node_modules stays as it was installed.
 */
import { cpSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { brotliDecompressSync } from 'node:zlib';
import tar from 'tar-stream';

const require = createRequire(import.meta.url);

/** A folder with a Dawn binding in it, and what has to be in the environment before it is loaded. */
export interface DawnFolder {
  readonly name: string;
  readonly binding: string;
  readonly env: Readonly<Record<string, string>>;
}

/** Names of the software GPUs that this version knows; lavapipe is brought by scripts/software-gpus.sh. */
export const SOFTWARE_GPUS = ['swiftshader', 'lavapipe-25', 'lavapipe-26'] as const;
/** One of SOFTWARE_GPUS. */
export type SoftwareGpu = (typeof SOFTWARE_GPUS)[number];

export const cacheFolder = (): string =>
  process.env.WEBGEMM_CACHE ?? join(process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache'), 'webgemm');

/** A software GPU's folder, made if it can be made, or why it can't be had here. */
export async function softwareGpu(name: SoftwareGpu): Promise<DawnFolder | { readonly missing: string }> {
  const dawn = dawnPackage();
  if (!dawn) return { missing: 'the package `webgpu` is not installed' };
  return name === 'swiftshader' ? swiftShader(dawn) : lavapipe(name, dawn);
}

interface DawnPackage {
  readonly version: string;
  readonly binding: string;
}

function dawnPackage(): DawnPackage | null {
  const folder = packageFolder('webgpu');
  if (!folder) return null;
  const arch = process.platform === 'darwin' ? 'universal' : process.arch;
  return {
    version: packageVersion(folder),
    binding: join(folder, 'dist', `${process.platform}-${arch}`, 'dawn.node'),
  };
}

/** SwiftShader, out of the npm package `@sparticuz/chromium`, which ships it as a compressed archive. */
async function swiftShader(dawn: DawnPackage): Promise<DawnFolder | { missing: string }> {
  if (process.platform !== 'linux' || process.arch !== 'x64') {
    return { missing: 'the SwiftShader in `@sparticuz/chromium` is for Linux on x64' };
  }
  const chromium = packageFolder('@sparticuz/chromium');
  if (!chromium) return { missing: 'the package `@sparticuz/chromium` is not installed' };
  const folder = join(cacheFolder(), `swiftshader-${packageVersion(chromium)}-dawn-${dawn.version}`);
  const binding = join(folder, 'dawn.node');
  if (!existsSync(folder)) {
    const library = await fileInArchive(join(chromium, 'bin', 'swiftshader.tar.br'), 'libvk_swiftshader.so');
    try {
      makeWhole(folder, draft => {
        writeFileSync(join(draft, 'libvulkan.so.1'), library);
        cpSync(dawn.binding, join(draft, 'dawn.node'));
      });
    } catch (error) {
      return {
        missing: `the cache cannot be written (${(error as Error).message}); WEBGEMM_CACHE names another folder`,
      };
    }
  }
  return { name: 'swiftshader', binding, env: {} };
}

/** Mesa's lavapipe, where scripts/software-gpus.sh has put it. */
function lavapipe(name: SoftwareGpu, dawn: DawnPackage): DawnFolder | { missing: string } {
  const folder = join(cacheFolder(), name);
  if (!existsSync(join(folder, 'version'))) {
    return { missing: `${name} is not in the cache; scripts/software-gpus.sh brings it` };
  }
  const binding = join(folder, `dawn-${dawn.version}.node`);
  if (!existsSync(binding)) {
    const draft = `${binding}.${process.pid}`;
    cpSync(dawn.binding, draft);
    renameSync(draft, binding);
  }
  const icd = join(folder, 'icd.json');
  return { name, binding, env: { VK_DRIVER_FILES: icd, VK_ICD_FILENAMES: icd } };
}

async function fileInArchive(archive: string, name: string): Promise<Buffer> {
  const extract = tar.extract();
  extract.end(brotliDecompressSync(readFileSync(archive)));
  for await (const entry of extract) {
    if (entry.header.name.endsWith(name)) return buffer(entry);
    entry.resume();
  }
  throw new Error(`${name} is not in ${archive}`);
}

/** Fills a folder under another name and then renames it, so that nobody ever sees half of it. */
function makeWhole(folder: string, fill: (draft: string) => void): void {
  const draft = `${folder}.${process.pid}`;
  mkdirSync(draft, { recursive: true });
  try {
    fill(draft);
    renameSync(draft, folder);
  } catch (error) {
    rmSync(draft, { recursive: true, force: true });
    if (!existsSync(folder)) throw error; // somebody else was faster
  }
}

function packageFolder(name: string): string | null {
  for (const base of require.resolve.paths(name) ?? []) {
    const folder = join(base, name);
    if (existsSync(join(folder, 'package.json'))) return folder;
  }
  return null;
}

const packageVersion = (folder: string): string =>
  JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')).version;

/** The version of the installed Dawn binding, for records. */
export const dawnVersion = (): string | null => dawnPackage()?.version ?? null;

/** The installed Dawn binding itself, which finds the machine's own GPUs. */
export function hardwareGpu(): DawnFolder | { readonly missing: string } {
  const dawn = dawnPackage();
  if (!dawn) return { missing: 'the package `webgpu` is not installed' };
  if (!existsSync(dawn.binding)) {
    return { missing: `the package \`webgpu\` has no binding for ${process.platform} on ${process.arch}` };
  }
  if (!vulkanLoader())
    return { missing: 'the machine has no Vulkan loader (libvulkan.so.1), so no GPU driver to ask' };
  return { name: 'hardware', binding: dawn.binding, env: {} };
}

/** Dawn prints a warning of its own where it finds no Vulkan loader; this looks first, as the system's linker would. */
function vulkanLoader(): boolean {
  if (process.platform !== 'linux') return true;
  const library = 'libvulkan.so.1';
  const folders = (process.env.LD_LIBRARY_PATH ?? '').split(':').filter(Boolean);
  if (folders.some(folder => existsSync(join(folder, library)))) return true;
  const linkerCache = '/etc/ld.so.cache';
  return !existsSync(linkerCache) || readFileSync(linkerCache).includes(library);
}
