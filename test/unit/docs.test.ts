import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const root = new URL('../../', import.meta.url);
const documents = ['README.md', ...readdirSync(new URL('docs', root)).map(name => `docs/${name}`)];

test.each(documents.filter(name => name.endsWith('.md')))('every link of %s leads to a file', name => {
  const from = new URL(name, root);
  const links = [...readFileSync(from, 'utf8').matchAll(/\]\(([^)#\s]+)/g)].map(([, link]) => link);
  const dead = links.filter(
    link => !/^https?:/.test(link) && !existsSync(fileURLToPath(new URL(link, from))),
  );
  expect(dead).toEqual([]);
});
