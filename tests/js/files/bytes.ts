/** Little-endian bytes, appended one after the other. */
export class ByteWriter {
  #bytes = new Uint8Array(1024);
  #length = 0;

  get length(): number {
    return this.#length;
  }

  u8(value: number): this {
    return this.#put(1, (view, at) => view.setUint8(at, value));
  }

  u32(value: number): this {
    return this.#put(4, (view, at) => view.setUint32(at, value, true));
  }

  i32(value: number): this {
    return this.#put(4, (view, at) => view.setInt32(at, value, true));
  }

  u64(value: number | bigint): this {
    return this.#put(8, (view, at) => view.setBigUint64(at, BigInt(value), true));
  }

  f32(value: number): this {
    return this.#put(4, (view, at) => view.setFloat32(at, value, true));
  }

  f64(value: number): this {
    return this.#put(8, (view, at) => view.setFloat64(at, value, true));
  }

  bytes(bytes: Uint8Array): this {
    this.#reserve(bytes.length);
    this.#bytes.set(bytes, this.#length);
    this.#length += bytes.length;
    return this;
  }

  zeros(count: number): this {
    return this.bytes(new Uint8Array(count));
  }

  padTo(multiple: number): this {
    return this.zeros((multiple - (this.#length % multiple)) % multiple);
  }

  finish(): Uint8Array<ArrayBuffer> {
    return this.#bytes.slice(0, this.#length);
  }

  #put(size: number, write: (view: DataView, at: number) => void): this {
    this.#reserve(size);
    write(new DataView(this.#bytes.buffer), this.#length);
    this.#length += size;
    return this;
  }

  #reserve(more: number): void {
    if (this.#length + more <= this.#bytes.length) return;
    const larger = new Uint8Array(Math.max(this.#length + more, 2 * this.#bytes.length));
    larger.set(this.#bytes);
    this.#bytes = larger;
  }
}
