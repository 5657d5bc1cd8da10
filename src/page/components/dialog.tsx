import type { ComponentChildren } from 'preact';
import { useEffect, useId, useRef } from 'preact/hooks';
import { Button } from './button.tsx';

interface DialogProps {
  readonly title: string;
  readonly open: boolean;
  readonly onClose: () => void;
  readonly children: ComponentChildren;
}

/** Over the page until it is closed: by its button, by Escape, or by a click beside it. */
export function Dialog({ title, open, onClose, children }: DialogProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  const id = useId();
  useEffect(() => {
    if (open) dialog.current?.showModal();
    else dialog.current?.close();
  }, [open]);
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: Escape does the same, by the element itself
    <dialog
      ref={dialog}
      class="dialog"
      aria-labelledby={id}
      onClose={onClose}
      onClick={event => event.target === dialog.current && onClose()}
    >
      <div class="dialog-head">
        <h2 id={id}>{title}</h2>
        <Button variant="quiet" onClick={onClose}>
          Close
        </Button>
      </div>
      <div class="dialog-body">{open && children}</div>
    </dialog>
  );
}
