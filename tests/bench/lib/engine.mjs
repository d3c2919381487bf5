/** Which engine measures: `Node 24.22.3, V8 13.6, linux x64`, or a browser. Runs in both. */

export const inNode = typeof process === 'object' && process.versions?.node !== undefined;

export function describeEngine() {
  if (!inNode)
    return (
      globalThis.navigator.userAgent.match(/(?:Chrome|Firefox)\/[\d]+/)?.[0].replace('/', ' ') ?? 'a browser'
    );
  const { versions, arch, platform } = process;
  return `Node ${versions.node}, V8 ${versions.v8.split('-')[0]}, ${platform} ${arch}`;
}
