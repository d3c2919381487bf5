/** What is made of each misbehaviour: right bytes, or one clear error. Every test of the matrix goes by these lists. */

export const good = [
  'ok',
  'no-range',
  'no-range-reset',
  'whole-later',
  'shorter-range',
  'short-body',
  'longer-range',
  '416',
  '429',
  '500',
  '500-later',
  'reset',
  'reset-often',
  'stall',
  'slow',
  'gzip',
  'gzip-range',
  'no-length',
  'redirect',
  'cors-hidden',
  'cors-hidden-no-head',
  'no-preflight',
  'one-range',
];

/** With the codes that may come of it, and what the message says. */
export const bad: [behaviour: string, code: string, message: RegExp][] = [
  ['404', 'not-found', /There is no file .*404/],
  ['403', 'forbidden', /answered 403.*token.*headers/],
  ['401', 'forbidden', /answered 401/],
  ['429-long', 'http', /too many requests: try again in 600 s/],
  ['500-always', 'http', /answered 500.*try again later/],
  ['wrong-content-range', 'http', /asked for bytes .* and sent 0-.*range: false/],
  ['416-later', 'changed', /changed while it was read \(its size 700001 became 699994\)/],
  // Firefox waits for the rest of a body that was cut off.
  ['empty-body', 'network|stalled', /broke off|No answer|sent nothing/],
  ['reset-always', 'network', /No answer from/],
  ['reset-at-once', 'network', /No answer from/],
  ['stall-always', 'stalled', /sent nothing for 0.3 s/],
  ['stall-headers', 'stalled', /sent nothing for 0.3 s/],
  ['html', 'html', /web page instead of the file/],
  ['html-disguised', 'html', /web page instead of the file/],
  ['changed-etag', 'changed', /ETag "v1" became "v2"/],
  ['changed-date', 'changed', /changed while it was read/],
  ['changed-size', 'changed', /size 700001 became 700000/],
];

/** Behaviours that only a short stall timeout makes quick. */
export function isAboutTime(behaviour: string): boolean {
  return /^(stall|empty)/.test(behaviour);
}
