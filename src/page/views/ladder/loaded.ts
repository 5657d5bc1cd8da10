import { useEffect, useState } from 'preact/hooks';

export type Loaded<T> = { readonly value: T } | { readonly error: unknown } | null;

/** What a dynamic import or another promise brings; null until then. @param load always the same function */
export function useLoaded<T>(load: () => Promise<T>): Loaded<T> {
  const [loaded, setLoaded] = useState<Loaded<T>>(null);
  useEffect(() => {
    let here = true;
    load().then(
      value => here && setLoaded({ value }),
      error => here && setLoaded({ error }),
    );
    return () => {
      here = false;
    };
  }, [load]);
  return loaded;
}
