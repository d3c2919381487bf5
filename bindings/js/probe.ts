/**
 * Whether relaxed SIMD computes right results here. Node 20 (behind its flag) compiles it to something wrong, so
 * the operation has to run: three in every int8 lane times three in every int7 lane, four products per lane: 36.
 */
const kRelaxedDot = Uint8Array.of(
  ...[0, 97, 115, 109, 1, 0, 0, 0], // magic, version
  ...[1, 5, 1, 96, 0, 1, 127], // type: () → i32
  ...[3, 2, 1, 0], // one function of it
  ...[7, 5, 1, 1, 102, 0, 0], // exported as "f"
  ...[10, 22, 1, 20, 0], // its code:
  ...[65, 3, 253, 15, 65, 3, 253, 15], // i32.const 3, i8x16.splat, twice
  ...[65, 0, 253, 17], // i32.const 0, i32x4.splat
  ...[253, 147, 2], // i32x4.relaxed_dot_i8x16_i7x16_add_s
  ...[253, 27, 0, 11], // i32x4.extract_lane 0, end
);
const kRelaxedDotResult = 36;

let answer: boolean | undefined;

/** False also where a module cannot be compiled from bytes (there the caller chooses the module). */
export function relaxedDotIsRight(): boolean {
  answer ??= runsRight();
  return answer;
}

function runsRight(): boolean {
  try {
    const { exports } = new WebAssembly.Instance(new WebAssembly.Module(kRelaxedDot));
    return (exports.f as () => number)() === kRelaxedDotResult;
  } catch {
    return false;
  }
}
