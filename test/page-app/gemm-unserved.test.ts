/** The GEMM view where no kernel can serve: a line at the field, every kernel's reason where the choice would stand. */
import { describe, expect, inject, test } from 'vitest';
import { openPage, settled, violations } from './browser.ts';

const LACKS = 'f16 matrices, and the device has no shader-f16';

describe.skipIf(!inject('chromium'))('a product that no kernel can serve', () => {
  for (const [width, theme] of [
    [360, 'light'],
    [1280, 'dark'],
  ] as const) {
    test(`is told in a line at its field, and for every kernel beside it, at ${width} px in ${theme}`, async () => {
      const opened = await openPage({ route: 'gemm?type=f16&device=least', width, theme });
      const { page, complaints } = opened;
      await settled(opened);
      const error = page.locator('.field-error');
      await error.waitFor();
      expect(await error.textContent()).toBe(LACKS);
      expect(await page.getByLabel('Type of A').getAttribute('aria-invalid')).toBe('true');
      const form = page.getByRole('form');
      expect(await form.evaluate(it => it.scrollWidth - it.clientWidth), 'px cut off').toBeLessThanOrEqual(0);

      const choice = page.getByRole('region', { name: 'What the library runs' });
      expect(await choice.getByRole('note').textContent()).toBe(`No kernel can serve this product${LACKS}.`);
      await choice.getByText('1024×1024×1024 f16→f16 NN on The least that WebGPU promises').waitFor();
      const kernels = page.getByRole('region', { name: 'Every kernel of the library' }).getByRole('listitem');
      const lines = await kernels.allTextContents();
      expect(lines).toHaveLength(8);
      expect(lines).toContain(`plaincan’t serve${LACKS}`);
      expect(lines.join()).toMatch(/gemvcan’t serveC is 1024×1024.*dot-i8can’t serve.*i8 and u8 only/);
      expect(await page.locator('.gemm-kernel').count()).toBe(0);

      expect(await violations(opened)).toEqual([]);
      const overflow = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
      expect(overflow, 'px wider than the window').toBeLessThanOrEqual(0);
      expect(complaints).toEqual([]);
    });
  }

  test('is served again with another type, or by another device', async () => {
    const opened = await openPage({ route: 'gemm?cType=f16&device=least' });
    const { page, complaints } = opened;
    await settled(opened);
    await page.locator('.field-error').getByText(LACKS, { exact: true }).waitFor();
    expect(await page.getByLabel('Type of C').getAttribute('aria-invalid')).toBe('true');
    await page.getByLabel('Explain for').selectOption('apple');
    await page.locator('.gemm-kernel').waitFor();
    expect(await page.locator('.field-error').count()).toBe(0);
    await page.getByLabel('Explain for').selectOption('least');
    await page.getByText('No kernel can serve this product').waitFor();
    await page.getByLabel('Type of C').selectOption('f32');
    await page.locator('.gemm-kernel').waitFor();
    expect(await page.getByText('No kernel can serve this product').count()).toBe(0);
    expect(complaints).toEqual([]);
  });
});
