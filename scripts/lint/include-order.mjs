// A folder of src/ includes itself and folders before it in this list, never one after it.
import { findings, linesOf, report } from './files.mjs';

const order = [
  'core',
  'formats',
  'containers',
  'kernels',
  'table',
  'model',
  'stage',
  'search',
  'training',
  'tools',
];

function judge(text, path) {
  const [, included] = /^\s*#\s*include\s+"([^"/]+)\//.exec(text) ?? [];
  if (!included) return undefined;
  const from = path.split(/[\\/]/)[1];
  if (!order.includes(from)) return `folder ${from} is not in the list of scripts/lint/include-order.mjs`;
  if (!order.includes(included)) return `includes "${included}/", which is no folder of src/`;
  if (order.indexOf(included) > order.indexOf(from))
    return `${from}/ may not include ${included}/, which comes after it`;
  return undefined;
}

report(findings(linesOf('src', /\.(h|cpp)$/), judge));
