/** What a rung's row opens to: the idea, the figures, what the device is asked for, who reads what, and the WGSL. */
import { bytes, duration, percent, scientific } from '../../../figures.ts';
import type { PassTime, RungResult } from '../../../ladder/climb.ts';
import type { Rung, RungProgram, Shape } from '../../../ladder/rung.ts';
import { describeProfile } from '../../../profile.ts';
import type { Pass } from '../../../program.ts';
import { Code } from '../../components/code.tsx';
import { Details } from '../../components/details.tsx';
import { Facts } from '../../components/facts.tsx';
import { Prose } from '../../components/prose.tsx';
import { Table } from '../../components/table.tsx';
import { exampleProfile } from '../../picture/model/example.ts';
import { hrefOf } from '../../state/route.ts';
import { CopyButton } from './copy-button.tsx';
import { useLoaded } from './loaded.ts';
import { profile, square } from './size.ts';
import { shownSize } from './state.ts';
import { WORDS } from './words.ts';

interface RungDetailsProps {
  readonly rung: Rung;
  readonly result: RungResult | undefined;
}

export function RungDetails({ rung, result }: RungDetailsProps) {
  const n = shownSize.value;
  return (
    <>
      <div class="ladder-words">
        <InWords rung={rung} />
        {result && result.ms !== null && <Measured result={result} />}
      </div>
      {n === null ? (
        <p class="small muted">Type a size above to see the kernel that is made for it.</p>
      ) : (
        <Kernel rung={rung} shape={square(n)} />
      )}
    </>
  );
}

function InWords({ rung: { id, idea } }: { readonly rung: Rung }) {
  const words = WORDS[id];
  if (!words) return <p>{idea}</p>;
  return (
    <div class="section">
      {(
        [
          ['What it does', words.does],
          ['What that buys', words.gains],
          ['What is still in the way', words.lacks],
        ] as const
      ).map(([head, text]) => (
        <div key={head}>
          <h4>{head}</h4>
          <p>
            <Prose text={text} />
          </p>
        </div>
      ))}
    </div>
  );
}

function Measured({ result }: { readonly result: RungResult }) {
  const { ms, spread, relErr, worst, compileMs, detail, prepare, within = [] } = result;
  const passes = (times: readonly PassTime[]) =>
    times.map(({ label, ms }) => `${label} ${duration(ms)}`).join(', ');
  return (
    <div>
      <h4>Measured on this GPU</h4>
      <Facts
        items={[
          [
            'Time',
            `${duration(ms)} a product, the median; the middle half of the samples spans ${percent(spread)} of it`,
          ],
          ...(prepare.length > 0 ? ([['Beside it', passes(prepare)]] as const) : []),
          ...(within.length > 0 ? ([['Of it', passes(within)]] as const) : []),
          ['Error', `${scientific(relErr)}, as ‖C − ref‖ / ‖ref‖ with a float64 reference`],
          ['Worst cell', `${percent(worst)} of what it may be off`],
          ['Compiling', duration(compileMs)],
          ...(detail ? ([['Taken', detail]] as const) : []),
        ]}
      />
    </div>
  );
}

function Kernel({ rung, shape }: { readonly rung: Rung; readonly shape: Shape }) {
  const here = profile.value;
  const lacks = here ? rung.missing(here, shape) : '';
  const device = lacks === null ? here : exampleProfile(rung.rung, null)?.profile;
  if (!device) return null;
  const program = rung.build(shape, device);
  return (
    <>
      <div>
        <h4>What the device is asked for</h4>
        {lacks !== null && (
          <p class="small muted">
            <Prose
              text={
                here
                  ? `${describeProfile(here)} can’t run it: ${lacks}. This is for an example device that can.`
                  : 'No GPU is open: this is for an example device.'
              }
            />
          </p>
        )}
        <Asked program={program} shape={shape} />
      </div>
      <div>
        <h4>Who reads what</h4>
        <LazyPicture rung={rung.rung} />
      </div>
      <div class="section">
        <div class="ladder-code-head">
          <h4>
            Its WGSL at {shape.m}×{shape.n}×{shape.k}
          </h4>
          <a href={hrefOf('workbench', { rung: rung.rung })}>Edit it in the workbench</a>
        </div>
        <Shaders rung={rung} program={program} />
      </div>
    </>
  );
}

function Asked({ program, shape }: { readonly program: RungProgram; readonly shape: Shape }) {
  const scratch = Object.values(program.scratch).reduce((sum, size) => sum + size, 0);
  const cells = shape.m * shape.n;
  return (
    <Table
      caption={[
        `A and B in ${program.inputs}, C in ${program.result}, ${cells.toLocaleString('en-US')} cells`,
        ...(program.detail ? [program.detail] : []),
        ...(scratch > 0 ? [`${bytes(scratch)} of memory between the passes`] : []),
      ].join('; ')}
      rows={program.passes}
      keyOf={({ label }) => label}
      columns={[
        { head: 'Pass', cell: ({ label }) => label },
        { head: 'Workgroups', number: true, cell: ({ workgroups }) => grid(workgroups) },
        { head: 'Threads in each', number: true, cell: ({ threads }) => threads },
        { head: 'Threads', number: true, cell: pass => threadsOf(pass).toLocaleString('en-US') },
        {
          head: 'Workgroup memory',
          number: true,
          cell: ({ workgroupMemory }) => (workgroupMemory > 0 ? bytes(workgroupMemory) : 'none'),
        },
        {
          head: 'Buffers',
          cell: ({ bindings }) => (
            <span class="figure">
              {bindings.map(({ buffer, access }) => `${buffer} (${ACCESS[access]})`).join(', ')}
            </span>
          ),
        },
      ]}
    />
  );
}

const ACCESS = { uniform: 'uniform', read: 'reads', read_write: 'writes' } as const;

const grid = (workgroups: Pass['workgroups']): string => {
  const sides = workgroups.filter((side, axis) => side > 1 || axis === 0);
  return sides.map(side => side.toLocaleString('en-US')).join(' × ');
};

const threadsOf = ({ workgroups, threads }: Pass): number =>
  workgroups.reduce((product, side) => product * side, threads);

const loadPicture = () => import('../../picture/Picture.tsx');

function LazyPicture({ rung }: { readonly rung: string }) {
  const loaded = useLoaded(loadPicture);
  if (loaded === null) return <p class="small muted">Loading …</p>;
  if ('error' in loaded) return <p class="small">The picture could not be loaded: load the page again.</p>;
  return <loaded.value.Picture rung={rung} profile={profile.value} />;
}

/** The shader that multiplies, and before it those that prepare operands. */
function Shaders({ rung, program }: { readonly rung: Rung; readonly program: RungProgram }) {
  const { passes } = program;
  return (
    <>
      {passes.slice(0, -1).map(({ label, wgsl }) => (
        <Details key={label} summary={`Before it: ${label}`}>
          <Shader label={`${label}, before rung ${rung.rung}`} wgsl={wgsl} />
        </Details>
      ))}
      {passes.slice(-1).map(({ label, wgsl }) => (
        <Shader key={label} label={`rung ${rung.rung}, ${label}`} wgsl={wgsl} />
      ))}
    </>
  );
}

function Shader({ label, wgsl }: { readonly label: string; readonly wgsl: string }) {
  const source = wgsl.trim();
  return (
    <div class="section ladder-shader">
      <div class="row">
        <CopyButton text={source} what={`the WGSL of ${label}`} />
        <span class="small muted">{source.split('\n').length} lines</span>
      </div>
      <Code source={source} label={`WGSL of ${label}`} />
    </div>
  );
}
