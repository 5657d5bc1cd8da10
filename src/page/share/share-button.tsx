/** A picture of results to keep or to send: shown first, then downloaded, copied or shared. */
import './share.css';
import { useState } from 'preact/hooks';
import { Button } from '../components/button.tsx';
import { Dialog } from '../components/dialog.tsx';
import { SelectField } from '../components/field.tsx';
import { ErrorNotice } from '../components/notice.tsx';
import type { PageRecord } from '../state/read-record.ts';
import { download, fileName } from '../state/results.ts';
import { chartOf } from './chart.ts';
import { lookOf, type Scheme, schemeNow } from './look.ts';
import { HEIGHT, pictureOf, WIDTH } from './picture.ts';
import { pngOf, svgUrl } from './png.ts';
import { summaryOf } from './summary.ts';

interface ShareButtonProps {
  readonly record: PageRecord;
  /** A record to stand beside it. */
  readonly beside?: PageRecord;
}

export function ShareButton(props: ShareButtonProps) {
  const [open, setOpen] = useState(false);
  return (
    <>
      <Button aria-haspopup="dialog" onClick={() => setOpen(true)}>
        Picture …
      </Button>
      <Dialog title="A picture of the results" open={open} onClose={() => setOpen(false)}>
        <Share {...props} />
      </Dialog>
    </>
  );
}

function Share({ record, beside }: ShareButtonProps) {
  const [scheme, setScheme] = useState<Scheme>(schemeNow);
  const [said, setSaid] = useState('');
  const [problem, setProblem] = useState<unknown>(null);
  const chart = chartOf(summaryOf(record), beside && summaryOf(beside));
  const svg = pictureOf(chart, lookOf(scheme));
  const name = fileName(record);
  const attempt = (done: string, action: () => Promise<unknown>) => async () => {
    setSaid('');
    setProblem(null);
    try {
      await action();
      setSaid(done);
    } catch (error) {
      // Whoever closes the system's own dialog has changed their mind.
      if ((error as Error).name !== 'AbortError') setProblem(error);
    }
  };
  return (
    <>
      <img class="share-picture" src={svgUrl(svg)} width={WIDTH} height={HEIGHT} alt={altOf(chart)} />
      <div class="row-fields">
        <SelectField
          label="Colours of the picture"
          value={scheme}
          options={[
            { value: 'light', label: 'light' },
            { value: 'dark', label: 'dark' },
          ]}
          onChange={setScheme}
        />
      </div>
      <div class="row">
        <Button
          variant="primary"
          onClick={attempt('The PNG is in your downloads.', async () =>
            download(`${name}.png`, await pngOf(svg), 'image/png'),
          )}
        >
          Download PNG
        </Button>
        <Button
          onClick={attempt('The SVG is in your downloads.', async () =>
            download(`${name}.svg`, svg, 'image/svg+xml'),
          )}
        >
          Download SVG
        </Button>
        {canCopy() && (
          <Button onClick={attempt('The picture is in the clipboard.', () => copy(svg))}>Copy</Button>
        )}
        {canShare() && (
          <Button
            onClick={attempt('', async () =>
              navigator.share({ title: chart.title, files: [fileOf(await pngOf(svg), name)] }),
            )}
          >
            Share …
          </Button>
        )}
      </div>
      <p class="small" role="status">
        {said}
      </p>
      {problem !== null && <ErrorNotice error={problem} />}
    </>
  );
}

const altOf = ({ title, subtitle, rows, foot }: ReturnType<typeof chartOf>) =>
  [
    `${title}. ${subtitle}. In GFLOP/s:`,
    rows.map(({ label, bars }) => `${label}: ${bars.map(bar => bar.text).join(', ')}`).join('; '),
    `${foot}.`,
  ].join(' ');

const canCopy = () => 'ClipboardItem' in globalThis && Boolean(navigator.clipboard?.write);

// The promise is handed over: Safari lets only the click itself write to the clipboard.
const copy = (svg: string) => navigator.clipboard.write([new ClipboardItem({ 'image/png': pngOf(svg) })]);

const fileOf = (blob: Blob, name: string) => new File([blob], `${name}.png`, { type: 'image/png' });

const canShare = () => navigator.canShare?.({ files: [fileOf(new Blob(), 'picture')] }) ?? false;
