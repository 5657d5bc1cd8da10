import { useEffect, useState } from 'preact/hooks';
import { Button } from '../../components/button.tsx';

const SHOWN_MS = 2500;

/** Copies a text, and says whether it did: browsers may refuse. */
export function CopyButton({ text, what }: { readonly text: string; readonly what: string }) {
  const [said, setSaid] = useState('');
  useEffect(() => {
    if (said === '') return;
    const timer = setTimeout(() => setSaid(''), SHOWN_MS);
    return () => clearTimeout(timer);
  }, [said]);
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text);
      setSaid('Copied');
    } catch {
      setSaid('The browser refused');
    }
  };
  return (
    <>
      <Button aria-label={`Copy ${what}`} onClick={copy}>
        Copy
      </Button>
      <span class="small" role="status">
        {said}
      </span>
    </>
  );
}
