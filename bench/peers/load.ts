import manifest from '../package.json' with { type: 'json' };

type Package = keyof typeof manifest.devDependencies;

/** The version of a peer that bench/package.json pins. */
export const versionOf = (name: Package): string => manifest.devDependencies[name];

/**
 * Waits for the import of a peer's packages.
 *
 * @throws Error with one line that says how to install them, where one is not there
 */
export async function installed<T>(title: string, names: readonly Package[], load: Promise<T>): Promise<T> {
  try {
    return await load;
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    if (code !== 'ERR_MODULE_NOT_FOUND' && code !== 'MODULE_NOT_FOUND') throw cause;
    const packages = names.map(name => `${name}@${versionOf(name)}`).join(' ');
    throw new Error(
      `${title} is not installed; in a checkout \`npm ci --prefix bench --ignore-scripts\` brings it, elsewhere \`npm install --ignore-scripts ${packages}\``,
      { cause },
    );
  }
}

/** What a CommonJS package exports: Node gives it as `default`, bundlers as it is. */
export const exported = <T extends object>(module: T): T =>
  'default' in module && module.default ? (module.default as T) : module;
