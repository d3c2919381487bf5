/** Text to ids through the optional package `@huggingface/tokenizers`. */
import { readFile } from 'node:fs/promises';
import { EmbeddingError } from '../errors.js';

interface TokenizerPackage {
  Tokenizer: new (
    json: object,
    config: object,
  ) => { encode(text: string, options: { add_special_tokens: boolean }): { ids: number[] } };
}

/** @throws {EmbeddingError} `not-found` where the package or the file is missing */
export async function tokenize(text: string, file: string, addSpecialTokens: boolean): Promise<number[]> {
  const { Tokenizer } = await tokenizerPackage();
  const json = JSON.parse(await readText(file, true)) as object;
  const config = await readText(file.replace(/tokenizer\.json$/, 'tokenizer_config.json'), false);
  const tokenizer = new Tokenizer(json, config === '' ? {} : (JSON.parse(config) as object));
  return tokenizer.encode(text, { add_special_tokens: addSpecialTokens }).ids;
}

async function tokenizerPackage(): Promise<TokenizerPackage> {
  // The name is a variable so that bundlers and the type checker leave the optional package alone.
  const name = '@huggingface/tokenizers';
  try {
    return (await import(name)) as TokenizerPackage;
  } catch {
    throw new EmbeddingError(
      'not-found',
      `--text needs the package ${name}, which is not installed: npm install ${name}`,
    );
  }
}

async function readText(file: string, required: boolean): Promise<string> {
  try {
    if (/^https?:\/\//.test(file)) {
      const response = await fetch(file);
      if (!response.ok) throw new Error(`HTTP status ${response.status}`);
      return await response.text();
    }
    return await readFile(file, 'utf8');
  } catch (error) {
    if (!required) return '';
    const reason = (error as Error).message;
    throw new EmbeddingError(
      'not-found',
      `No tokenizer at ${file} (${reason}): name a tokenizer.json with --tokenizer, or give ids.`,
    );
  }
}
