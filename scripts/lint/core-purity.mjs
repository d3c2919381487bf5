// The core neither touches files, streams and threads nor throws, prints or ends the process.
import { findings, linesOf, report } from './files.mjs';

const headers =
  /^\s*#\s*include\s+<(iostream|fstream|cstdio|stdio\.h|filesystem|thread|mutex|unistd\.h|emscripten.*)>/;
const words =
  /\b(throw|try|catch|abort|exit|printf|fprintf|puts|fopen)\s*[({]|\bthrow\s+\w|\bstd::(cout|cerr)\b/;

function judge(text) {
  const code = text.replace(/"(\\.|[^"\\])*"/g, '""').replace(/\/\/.*/, '');
  if (headers.test(text)) return 'the core has no files, streams, threads or JavaScript';
  if (words.test(code)) return 'the core does not throw, print or end the process';
  return undefined;
}

report(findings(linesOf('src', /\.(h|cpp)$/), judge));
