// What the page shows of the vectors: rows and the first layer's input, the order of ids, the geometry. Every number
// is checked against a plain computation, and everything is reached with the keyboard alone.
import { beforeAll, expect, test } from 'vitest';
import { gguf } from './files/gguf.js';
import { eventually, patience, readRow, sharedVisit, typeIds, upload, visit } from './page/site.js';

const kRows = 12;
const kWidth = 32;
const words = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i', 'j', 'k', 'l'];

// Any numbers will do, as long as no two rows are alike.
const table = Float32Array.from({ length: kRows * kWidth }, (_, i) => Math.fround(Math.sin(i * i + 0.5)));
const row = (id: number) => Array.from(table.subarray(id * kWidth, (id + 1) * kWidth));

const at = sharedVisit();

beforeAll(async () => {
  await at.page.locator('#matrix').waitFor();
  const model = gguf(
    [
      {
        name: 'token_embd.weight',
        dtype: 'F32',
        shape: [kRows, kWidth],
        data: new Uint8Array(table.buffer),
      },
    ],
    { 'general.architecture': 'llama', 'tokenizer.ggml.model': 'llama', 'tokenizer.ggml.tokens': words },
  );
  await at.page.locator('#files').setInputFiles(upload('twelve.gguf', model));
  await at.page.locator('#model h2', { hasText: 'twelve.gguf' }).waitFor();
}, patience);

/** input[t] = √d · E[id] + P[t], P interleaving sines and cosines of t / 10000^(2i/d). */
function firstLayerInput(id: number, position: number): number[] {
  return row(id).map((weight, i) => {
    const angle = position / 10000 ** ((i - (i % 2)) / kWidth);
    return Math.sqrt(kWidth) * weight + (i % 2 === 0 ? Math.sin(angle) : Math.cos(angle));
  });
}

const cosine = (a: number[], b: number[]) => {
  const dot = (u: number[], v: number[]) => u.reduce((sum, value, i) => sum + value * v[i]!, 0);
  return dot(a, b) / Math.sqrt(dot(a, a) * dot(b, b));
};

const choose = async (legend: string, option: string) => {
  const group = at.page.getByRole('group', { name: legend });
  await group.getByText(option, { exact: true }).click();
};

const shownIds = async () => (await at.page.locator('.matrix .row-id').allInnerTexts()).map(Number);

test(
  'raw rows are those of the file, read with the keyboard',
  async () => {
    await typeIds(at.page, '3 1 7 11 0');
    await eventually(shownIds).toEqual([3, 1, 7, 11, 0]);
    expect(await readRow(at.page, 2, 4)).toEqual(
      row(7)
        .slice(0, 4)
        .map((value) => value.toPrecision(4)),
    );
    await at.page.keyboard.press('End');
    await at.page.getByText(`row 2, dimension 31: ${row(7)[31]!.toPrecision(4)}`).waitFor();
    await at.page.keyboard.press('ArrowDown');
    await eventually(() => at.page.locator('.row[aria-pressed=true] .row-id').innerText()).toBe('11');
    // The focus follows once the row is drawn.
    await eventually(() =>
      at.page.evaluate(() => document.activeElement?.querySelector('.row-id')?.textContent),
    ).toBe('11');
  },
  patience,
);

test(
  'shuffled rows only change places; with positions none stays what it was',
  async () => {
    await at.page.getByRole('button', { name: 'Shuffle' }).press('Enter');
    await at.page.getByText('5 of 5 vectors are the same, bit for bit').waitFor();
    const order = await shownIds();
    expect([...order].sort((a, b) => a - b)).toEqual([0, 1, 3, 7, 11]);
    expect(order.some((id, i) => id === [3, 1, 7, 11, 0][i])).toBe(false);

    // With the keyboard: arrow keys move between the choices.
    await at.page.getByRole('radio', { name: 'raw rows' }).focus();
    await at.page.keyboard.press('ArrowRight');
    await at.page.getByText('5 of 5 vectors are the same').waitFor();
    await choose('Positions', 'sinusoidal');
    await at.page.getByText('0 of 5 vectors are the same').waitFor();
    await at.page.getByText('adds a vector for each place').waitFor();
    await choose('Positions', 'off');
    await at.page.getByText('5 of 5 vectors are the same').waitFor();
  },
  patience,
);

test(
  'the first layer’s input is √d · E[id] + P[t]',
  async () => {
    await typeIds(at.page, '3 1 7');
    await choose('Positions', 'sinusoidal');
    await choose('Scale', '× √d');
    await at.page.getByRole('heading', { name: 'X = E[ids] × 5.657 + P[t]' }).waitFor();
    await eventually(shownIds).toEqual([3, 1, 7]);
    for (const [position, id] of [3, 1, 7].entries()) {
      const expected = firstLayerInput(id, position).slice(0, 6);
      const shown = await readRow(at.page, position, 6);
      shown.forEach((text, i) => expect(Number(text)).toBeCloseTo(expected[i]!, 2));
    }
    const vectors = [3, 1, 7].map(firstLayerInput);
    await expectSimilarity(vectors);
    await choose('Scale', '× 1');
    await choose('Show', 'raw rows');
    await at.page.getByRole('heading', { name: 'X = E[ids]' }).waitFor();
  },
  patience,
);

async function expectSimilarity(vectors: number[][]): Promise<void> {
  const expected = vectors.flatMap((a) => vectors.map((b) => cosine(a, b).toFixed(2)));
  const shown = async () => {
    const titles = await at.page
      .locator('.similarity td[title]')
      .evaluateAll((cells) => cells.map((cell) => cell.getAttribute('title')!));
    return titles.map((title) => Number(title.split(': ')[1]).toFixed(2));
  };
  await eventually(shown).toEqual(expected);
}

test(
  'the similarity matrix holds cosines',
  async () => {
    await typeIds(at.page, '3 1 7 11 0');
    await expectSimilarity([3, 1, 7, 11, 0].map(row));
    expect(await at.page.locator('.similarity tbody th').allInnerTexts()).toEqual(['d', 'b', 'h', 'l', 'a']);
  },
  patience,
);

test(
  'the plane keeps the distances between three points',
  async () => {
    await typeIds(at.page, '3 1 7');
    await expect
      .poll(() => at.page.locator('#plane .chart').getAttribute('aria-label'))
      .toMatch(/^d: [^;]*; b: [^;]*; h: [^;]*$/);
    const label = (await at.page.locator('#plane .chart').getAttribute('aria-label'))!;
    const points = label.split('; ').map((point) => point.split(': ')[1]!.split(', ').map(Number));
    const distance = (a: number[], b: number[]) => Math.hypot(...a.map((value, i) => value - b[i]!));
    const ids = [3, 1, 7];
    for (const [i, j] of [
      [0, 1],
      [0, 2],
      [1, 2],
    ] as const) {
      expect(distance(points[i]!, points[j]!)).toBeCloseTo(distance(row(ids[i]!), row(ids[j]!)), 2);
    }
    await at.page.getByText(/left to right shows \d+\s% and bottom to top \d+\s%/).waitFor();
  },
  patience,
);

test(
  'neighbours are the largest cosines; one is added with a key',
  async () => {
    await typeIds(at.page, '3 1 7');
    await at.page.locator('.matrix .row').first().press('Enter');
    await at.page.getByRole('heading', { name: 'Near d' }).waitFor();
    const others = words.map((_, id) => id).filter((id) => id !== 3);
    const best = others.sort((a, b) => cosine(row(3), row(b)) - cosine(row(3), row(a))).slice(0, 8);
    const near = at.page.getByRole('list', { name: 'Nearest to d' }).getByRole('listitem');
    const expected = best.map((id) => `${words[id]}\n${cosine(row(3), row(id)).toFixed(3)}`);
    await eventually(async () => (await near.allInnerTexts()).map(joined)).toEqual(expected);
    await near.first().getByRole('button').press('Enter');
    await eventually(shownIds).toEqual([3, 1, 7, best[0]!]);
  },
  patience,
);

const joined = (text: string) => text.split(/\s+/).join('\n');

test(
  'a long text is not drawn to its end',
  async () => {
    await typeIds(at.page, Array.from({ length: 250 }, (_, i) => i % kRows).join(' '));
    await at.page.getByText('… 50 more').waitFor();
    expect(await at.page.locator('.matrix .row').count()).toBe(200);
    await at.page.getByRole('heading', { name: '[250, 32]' }).waitFor();
    await typeIds(at.page, '3 1 7');
    await eventually(shownIds).toEqual([3, 1, 7]);
  },
  patience,
);

test(
  'an analogy is the nearest to a − b + c of the unit rows',
  async () => {
    const unit = (id: number) => row(id).map((value) => value / Math.hypot(...row(id)));
    const [a, b, c] = [unit(0), unit(1), unit(2)];
    const target = a.map((value, i) => value - b[i]! + c[i]!);
    const others = words.map((_, id) => id).slice(3);
    const best = others.sort((x, y) => cosine(target, row(y)) - cosine(target, row(x))).slice(0, 3);
    const form = at.page.getByRole('form', { name: 'Analogy' });
    await form.getByLabel('this', { exact: true }).fill('a');
    await form.getByLabel('minus that').fill('b');
    await form.getByLabel('plus that').fill('c');
    await form.getByLabel('plus that').press('Enter');
    const names = at.page.getByRole('list', { name: 'Answers' }).locator('.near-name');
    await eventually(() => names.allInnerTexts()).toEqual(best.map((id) => words[id]));
    await form.getByLabel('this', { exact: true }).fill('zebra');
    await form.getByLabel('this', { exact: true }).press('Enter');
    await form.getByText('“zebra”: no piece of this vocabulary.').waitFor();
  },
  patience,
);

test(
  'king − man + woman',
  async () => {
    await at.page.getByRole('button', { name: 'GloVe' }).click();
    await at.page.getByText('1,000,000').first().waitFor();
    for (const [label, word] of [
      ['this', 'king'],
      ['minus that', 'man'],
      ['plus that', 'woman'],
    ] as const) {
      await at.page.getByLabel(label, { exact: true }).fill(word);
    }
    await at.page.getByRole('button', { name: '≈ ?' }).click();
    await eventually(() => at.page.locator('.analogy .near-name').first().innerText()).toBe('queen');
  },
  patience,
);

test(
  'the bill is that of the formats’ blocks',
  async () => {
    const bill = at.page.getByRole('table', { name: 'Bytes of the embedding in common formats' });
    const line = async (format: string) => {
      const cells = bill.getByRole('row').filter({ has: at.page.getByRole('rowheader', { name: format }) });
      return (await cells.getByRole('cell').first().innerText()).trim();
    };
    // 10,000 · 100 weights of 4 and of 2 bytes; no format of blocks fits a width of 100.
    expect(await line('F32')).toBe('4.00 MB');
    expect(await line('F16 now')).toBe('2.00 MB');
    expect(await bill.getByText('Q8_0').count()).toBe(0);
  },
  patience,
);

test.each(['light', 'dark'] as const)(
  'fits a phone, %s',
  async (colorScheme) => {
    const phone = await visit(at.browser, at.site.url, {
      viewport: { width: 360, height: 740 },
      colorScheme,
    });
    await phone.page.locator('#plane .chart svg').waitFor();
    await phone.page.getByText('first layer’s input').click();
    await phone.page.getByText('sinusoidal').click();
    await phone.page.getByRole('heading', { name: '+ P[t]' }).waitFor();
    await phone.page.locator('#bill summary').click();
    await phone.page.getByText('Kept on this device').click();
    expect(await phone.page.evaluate(() => document.documentElement.scrollWidth)).toBe(360);
    const small = await phone.page.evaluate(() => {
      const texts = [...document.querySelectorAll<HTMLElement>('h2, p, dd, dt, label, button, .near-name')];
      return texts.filter((it) => it.offsetWidth > 1 && parseFloat(getComputedStyle(it).fontSize) < 12)
        .length;
    });
    expect(small).toBe(0);
    expect(phone.complaints).toEqual([]);
    await phone.page.context().close();
  },
  patience,
);

test('nothing was complained of', () => {
  expect(at.complaints).toEqual([]);
});
