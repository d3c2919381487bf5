import { notFound } from './checks.js';
import { blobBytes, ChunkedSource } from './chunked.js';
import type { ByteSource, Source } from './source.js';

// The file that a model is opened by, best first. An index or a first shard leads to the others.
const kRoots = [
  /^model\.safetensors\.index\.json$/,
  /\.safetensors\.index\.json$/,
  /^model\.safetensors$/,
  /-0*1-of-\d+\.gguf$/,
  /\.gguf$/,
  /\.safetensors$/,
  /^pytorch_model\.bin\.index\.json$/,
  /\.onnx$/,
  /\.(bin|pth|pt)$/,
  /\.(npy|npz)$/,
];

/** The file of a folder that a model is opened by; undefined where none looks like one. */
export function chooseRoot(names: readonly string[]): string | undefined {
  const sorted = [...names].sort();
  for (const pattern of kRoots) {
    const found = sorted.find((name) => pattern.test(name.slice(name.lastIndexOf('/') + 1)));
    if (found !== undefined) return found;
  }
  return undefined;
}

/**
 * A dropped or chosen folder (`<input webkitdirectory>`, a list of shards). The root is chosen by name, or given;
 * siblings are looked up relative to the root's folder.
 */
export function folderSource(files: readonly File[], root?: string): Source {
  const byPath = new Map(files.map((file) => [pathOf(file), file]));
  const chosen = root ?? (files.length === 1 ? pathOf(files[0]!) : chooseRoot([...byPath.keys()]));
  const path = [...byPath.keys()].find((key) => key === chosen || key.endsWith(`/${chosen}`));
  if (path === undefined) {
    const names = files.slice(0, 5).map((file) => file.name);
    throw notFound(`${root ?? 'of a model'} among the ${files.length} given (${names.join(', ')}, …)`);
  }
  const folder = path.slice(0, path.lastIndexOf('/') + 1);
  const name = path.slice(folder.length);
  return new ChunkedSource(fileBytes(byPath, folder, name)!, name, true);
}

function fileBytes(files: Map<string, File>, folder: string, name: string): ByteSource | undefined {
  const file = files.get(folder + name);
  if (file === undefined) return undefined;
  return blobBytes(file, name, (other) => fileBytes(files, folder, other));
}

function pathOf(file: File): string {
  return file.webkitRelativePath || file.name;
}
