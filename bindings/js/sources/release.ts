/**
 * Frees the memory of a buffer at once. Engines count what ArrayBuffers hold only loosely: a load that drops chunk after
 * chunk can have a hundred megabytes of them waiting for the next collection.
 *
 * `bytes` must be the caller's own, and the last use of it. A view on a part of a buffer is left alone, because others
 * may share the rest.
 */
export function release(bytes: Uint8Array): void {
  const buffer = bytes.buffer as Transferable;
  if (bytes.length !== buffer.byteLength || bytes.length === 0) return;
  if (buffer.transfer) buffer.transfer(0);
  else (closedPort ??= makeClosedPort())?.postMessage(null, [buffer]);
}

type Transferable = ArrayBuffer & { transfer?(length: number): ArrayBuffer };

// Before ArrayBuffer.prototype.transfer (Node 20): what is handed to a port that nobody listens to is gone.
let closedPort: MessagePort | undefined;

function makeClosedPort(): MessagePort | undefined {
  if (typeof MessageChannel !== 'function') return undefined;
  const { port1, port2 } = new MessageChannel();
  port1.close();
  port2.close();
  return port1;
}
