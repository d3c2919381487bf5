// The page's first impression, its models and what is typed.
import { expect, test } from 'vitest';
import { place } from './faults/client.js';
import { weightAt } from './faults/content.js';
import { safetensors } from './files/safetensors.js';
import { eventually, patience, readRow, sharedVisit, typeIds, upload } from './page/site.js';

const at = sharedVisit();

const rows = () => at.page.locator('.matrix .row');

test(
  'loads the default model by itself and shows rows and logits',
  async () => {
    await at.page.getByRole('heading', { name: 'X = E[ids]' }).waitFor();
    expect(await rows().count()).toBe(7);
    // Of the row of "▁What", the best logit is its own.
    await at.page.locator('#logits text', { hasText: '▁What' }).first().waitFor();
    expect(await at.page.evaluate(() => crossOriginIsolated)).toBe(true);
  },
  patience,
);

test(
  'turns text into ids and ids into text',
  async () => {
    const pieces = at.page.locator('.pieces li');
    expect(await pieces.allInnerTexts()).toHaveLength(7);
    await at.page.locator('.switch').getByText('ids', { exact: true }).click();
    const ids = await at.page.locator('#typed').inputValue();
    expect(ids).toMatch(/^(\d+ ){6}\d+$/);
    expect(await pieces.locator('small').allInnerTexts()).toEqual(ids.split(' '));
    await at.page.locator('.switch').getByText('text', { exact: true }).click();
    expect(await at.page.locator('#typed').inputValue()).toBe('What is the capital of France?');
    expect(await rows().count()).toBe(7);
    // A word that is no piece is taken apart.
    await at.page.locator('#typed').fill('id2vec');
    await expect
      .poll(async () => (await at.page.locator('.piece-text').allInnerTexts()).join(''))
      .toBe('▁id2vec');
    expect(await pieces.count()).toBeGreaterThan(1);
    await at.page.getByText('Text is taken apart by the vocabulary of the file').waitFor();
  },
  patience,
);

test(
  'takes ids, and says what is wrong with a wrong one',
  async () => {
    await typeIds(at.page, '9 1706 9');
    await eventually(() => rows().count()).toBe(3);
    await typeIds(at.page, '9 8002');
    await at.page.getByText('id 8002 at position 1 is outside the vocabulary of 8002 rows').waitFor();
    await typeIds(at.page, '9 xyzzy');
    await at.page.getByText('“xyzzy”: neither an id nor a piece of this vocabulary.').waitFor();
    expect(await rows().count()).toBe(3); // the last good picture stays
    await typeIds(at.page, '9 1706');
    await eventually(() => at.page.locator('#typed-problem').textContent()).toBe('');
  },
  patience,
);

test(
  'a file that is none gets a sentence, and the model stays',
  async () => {
    await at.page.locator('#files').setInputFiles(upload('page.gguf', '<!doctype html><p>sorry</p>'));
    await at.page.getByRole('alert').getByText('HTML').waitFor();
    expect(await rows().count()).toBe(2);
  },
  patience,
);

test(
  'a model from a URL costs its own bytes, is kept, opens again from here, and goes when it is told to',
  async () => {
    const { url, stats } = place('ok', 'table-2000x64-before-100000-after-300000.safetensors');
    await at.page.getByLabel('URL of a model file').fill(url);
    await at.page.getByRole('button', { name: 'Open', exact: true }).click();
    const traffic = at.page.locator('.traffic');
    await traffic.waitFor();
    const { bytes } = await stats();
    const table = 2000 * 64 * 2;
    expect(bytes).toBeLessThan(table + 70_000);
    const share = Number(await traffic.locator('meter').getAttribute('value'));
    expect(await traffic.innerText()).toContain(`fetched ${(bytes / 1000).toFixed(1)} kB of a file of 65`);
    expect(share).toBeCloseTo(bytes / (table + 400_000), 2);
    await typeIds(at.page, '1999');
    await eventually(() => rows().count()).toBe(1);
    const expected = [0, 1, 2].map((i) => weightAt(1999 * 64 + i).toPrecision(4));
    expect(await readRow(at.page, 0, 3)).toEqual(expected);

    await at.page.getByRole('button', { name: 'GloVe' }).click();
    await at.page.getByText('1,000,000').first().waitFor();
    await at.page.getByText('Kept on this device').click();
    const name = 'table-2000x64-before-100000-after-300000.safetensors';
    await at.page.locator('.kept-name', { hasText: name }).click();
    await at.page.locator('#model h2', { hasText: name }).waitFor();
    expect((await stats()).bytes).toBe(bytes);
    expect(await traffic.innerText()).toContain('fetched 0 bytes');

    await at.page.getByRole('button', { name: `Delete ${name}` }).click();
    await at.page.getByText('What you open from a URL is kept here').waitFor();
    expect(await at.page.locator('.kept li').count()).toBe(0);
    // Beside a safetensors file a config.json may lie; browsers note on the console that this one has none.
    expect(at.complaints.splice(0).filter((text) => !text.includes('status of 404'))).toEqual([]);
  },
  patience,
);

test(
  'a model with its tokenizer takes any text',
  async () => {
    const vocabulary = ['[UNK]', 'un', '##happy', 'cat', '##s', 'purr'];
    const tokenizer = {
      added_tokens: [],
      post_processor: null,
      normalizer: { type: 'BertNormalizer', clean_text: true, lowercase: true },
      pre_tokenizer: { type: 'BertPreTokenizer' },
      model: {
        type: 'WordPiece',
        unk_token: '[UNK]',
        continuing_subword_prefix: '##',
        max_input_chars_per_word: 100,
        vocab: Object.fromEntries(vocabulary.map((piece, id) => [piece, id])),
      },
      decoder: { type: 'WordPiece', prefix: '##', cleanup: true },
    };
    const weights = Float32Array.from({ length: 6 * 4 }, (_, i) => i / 8);
    const model = safetensors([
      { name: 'embeddings', dtype: 'F32', shape: [6, 4], data: new Uint8Array(weights.buffer) },
    ]);
    await at.page
      .locator('#files')
      .setInputFiles([
        upload('model.safetensors', model),
        upload('tokenizer.json', JSON.stringify(tokenizer)),
      ]);
    await at.page.getByText('Text is taken apart by tokenizer.json').waitFor();
    await at.page.locator('#typed').fill('Unhappy cats purr');
    await eventually(() => at.page.locator('.piece-text').allInnerTexts()).toEqual(vocabulary.slice(1));
    expect(await at.page.locator('.piece small').allInnerTexts()).toEqual(['1', '2', '3', '4', '5']);
    expect(await readRow(at.page, 1, 4)).toEqual([8, 9, 10, 11].map((i) => (i / 8).toPrecision(4)));
  },
  patience,
);

test(
  'a tokenizer that is none gets a sentence',
  async () => {
    await at.page.locator('#files').setInputFiles(upload('tokenizer.json', '{ no'));
    await at.page.getByRole('alert').getByText('tokenizer.json is no JSON').waitFor();
    await at.page.locator('#files').setInputFiles(upload('tokenizer.json', '{"model":{"type":"Oracle"}}'));
    await at.page.getByRole('alert').getByText('tokenizer.json is no tokenizer that can be read').waitFor();
  },
  patience,
);

test(
  'trains a table in a worker',
  async () => {
    await at.page.getByRole('button', { name: 'Train a small one' }).click();
    await at.page.locator('.neighbours li').first().waitFor();
    expect(await at.page.locator('.neighbours').textContent()).toMatch(/queen|dog|tuesday/);
  },
  patience,
);

test(
  'measures this browser in a worker',
  async () => {
    await at.page.getByRole('button', { name: 'Universal Sentence Encoder' }).click();
    await at.page.locator('#model h2', { hasText: 'Sentence pieces' }).waitFor();
    await at.page.getByRole('button', { name: 'Measure in this browser' }).click();
    await eventually(() => at.page.locator('.figures tbody tr').count()).toBe(5);
    await at.page.getByRole('button', { name: 'Measure in this browser' }).waitFor();
    const cells = await at.page.locator('.figures td').allInnerTexts();
    expect(cells).toHaveLength(10);
    for (const cell of cells) {
      const [, milliseconds, speed, share] = /^([\d.]+) ms\s+([\d.]+) GB\/s, (\d+) %$/
        .exec(cell)!
        .map(Number);
      expect(milliseconds).toBeGreaterThan(0);
      expect(speed).toBeGreaterThan(0);
      expect(share).toBeGreaterThan(0);
    }
    // F32 of the made-up table: 16384 · 768 · 4 bytes, in the time that is shown.
    const [, milliseconds, speed] = /^([\d.]+) ms\s+([\d.]+)/.exec(cells[2]!)!.map(Number) as [
      0,
      number,
      number,
    ];
    expect(speed).toBeCloseTo((16384 * 768 * 4) / milliseconds / 1e6, 0);
  },
  2 * patience,
);

test('nothing was complained of', () => {
  expect(at.complaints).toEqual([]);
});
