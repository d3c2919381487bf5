/** Each id once, in the order in which they come, and where among these the id of each position is. */
export function placesOf(ids: Uint32Array): { unique: Uint32Array; places: Uint32Array } {
  const placeOf = new Map<number, number>();
  for (const id of ids) if (!placeOf.has(id)) placeOf.set(id, placeOf.size);
  return { unique: Uint32Array.from(placeOf.keys()), places: ids.map((id) => placeOf.get(id)!) };
}
