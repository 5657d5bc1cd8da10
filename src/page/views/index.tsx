/** The views by name, each loaded when it is first shown. */
import type { ComponentType } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { Button } from '../components/button.tsx';
import { Notice } from '../components/notice.tsx';
import type { ViewName } from '../state/route.ts';

export const TITLES: Readonly<Record<ViewName, string>> = {
  ladder: 'Ladder',
  workbench: 'Workbench',
  gemm: 'GEMM',
  race: 'Race',
  results: 'Results',
};

const LOADERS: Readonly<Record<ViewName, () => Promise<{ default: ComponentType }>>> = {
  ladder: () => import('./ladder/index.tsx'),
  workbench: () => import('./workbench/index.tsx'),
  gemm: () => import('./gemm/index.tsx'),
  race: () => import('./race/index.tsx'),
  results: () => import('./results/index.tsx'),
};

type Loaded = { readonly View: ComponentType } | { readonly failed: true } | null;

export function ViewOf({ name }: { readonly name: ViewName }) {
  const [loaded, setLoaded] = useState<Loaded>(null);
  useEffect(() => {
    LOADERS[name]().then(
      module => setLoaded({ View: module.default }),
      () => setLoaded({ failed: true }),
    );
  }, [name]);
  if (loaded === null) return <p class="visually-hidden">Loading …</p>;
  if ('failed' in loaded) {
    return (
      <Notice tone="bad" title={`${TITLES[name]} could not be loaded`}>
        <p>The network failed, or the site was renewed since this page was opened.</p>
        <p>
          <Button onClick={() => location.reload()}>Load the page again</Button>
        </p>
      </Notice>
    );
  }
  return <loaded.View />;
}
