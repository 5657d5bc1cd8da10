import { expect, test } from 'vitest';
import { RUNGS } from '../../src/ladder/rungs.ts';
import { coloured } from '../../src/page/components/wgsl-colours.ts';
import { APPLE } from '../unit/profiles.ts';

const shape = { m: 64, n: 64, k: 64 };

test.each(RUNGS.filter(rung => !rung.missing(APPLE)).map(rung => [rung.id, rung] as const))(
  'the WGSL of %s is coloured line by line, and nothing of it is lost',
  (_, rung) => {
    for (const { wgsl } of rung.build(shape, APPLE).passes) {
      const lines = coloured(wgsl);
      expect(lines.map(pieces => pieces.map(({ text }) => text).join('')).join('\n')).toBe(wgsl);
      const classes = new Set(lines.flat().flatMap(piece => piece.classes.split(' ')));
      expect([...classes]).toEqual(expect.arrayContaining(['tok-keyword', 'tok-typeName', 'tok-number']));
    }
  },
);
