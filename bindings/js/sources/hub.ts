import { EmbeddingError } from '../errors.js';

/**
 * `hf://owner/name[@revision]/path/of/file` → the URL of that file on the Hugging Face hub. The revision is a
 * branch, tag or commit; `main` where it is left out.
 */
export function hubUrl(address: string): string {
  const match = /^hf:\/\/([^/@]+)\/([^/@]+)(?:@([^/]+))?\/(.+)$/.exec(address);
  if (!match) {
    throw new EmbeddingError(
      'not-found',
      `${address} names no file: write hf://owner/name/file or hf://owner/name@revision/file.`,
    );
  }
  const [, owner, name, revision = 'main', file] = match as unknown as string[];
  const path = file!.split('/').map(encodeURIComponent).join('/');
  return `https://huggingface.co/${owner}/${name}/resolve/${encodeURIComponent(decodeURIComponent(revision))}/${path}`;
}
