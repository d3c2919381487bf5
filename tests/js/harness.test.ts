import { describe, expect, it } from 'vitest';
import { corpusFile, corpusPath, hasCorpus, inBrowser, projectFile } from './corpus.js';

describe('the test harness', () => {
  it('reads a file of the project', async () => {
    const bytes = await projectFile('LICENSE');
    expect(new TextDecoder().decode(bytes.subarray(0, 11))).toBe('MIT License');
  });

  it.skipIf(!hasCorpus)('reads a model file of the corpus', async () => {
    const bytes = await corpusFile('gguf/stories260K.gguf');
    expect(new TextDecoder().decode(bytes.subarray(0, 4))).toBe('GGUF');
  });

  it.runIf(inBrowser && hasCorpus)('has a server that answers Range requests', async () => {
    const response = await fetch(corpusPath('gguf/stories260K.gguf'), { headers: { Range: 'bytes=1-3' } });
    expect(response.status).toBe(206);
    expect(await response.text()).toBe('GUF');
  });
});
