// Structs that JavaScript writes for the core: both sides list the same fields in the same order.
import { readFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { kAffineCall, kEmbedCall, kHeadCall, kNearestCall, kPoolCall } from '../../bindings/js/call.js';
import { kOptimizerCall, kPoolGradientCall } from '../../bindings/js/training/trainer.js';

const lists = {
  EmbedCall: kEmbedCall,
  HeadCall: kHeadCall,
  PoolCall: kPoolCall,
  NearestCall: kNearestCall,
  AffineCall: kAffineCall,
  PoolGradientCall: kPoolGradientCall,
  OptimizerCall: kOptimizerCall,
};

/** Struct → its fields, in camel case. */
async function fieldsOfStructs(): Promise<Record<string, string[]>> {
  const header = await readFile('bindings/calls.h', 'utf8');
  const structs = [...header.matchAll(/^struct (\w+Call) \{\n(.*?)^\};/gms)];
  const camel = (field: string) => field.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase());
  const fieldsIn = (body: string) =>
    [...body.matchAll(/^ {2}[\w<>]+ (\w+);/gm)].map(([, field]) => camel(field!));
  return Object.fromEntries(structs.map(([, name, body]) => [name!, fieldsIn(body!)] as const));
}

describe('structs of bindings/calls.h', () => {
  it('have the fields that bindings/js writes', async () => {
    expect(await fieldsOfStructs()).toEqual(lists);
  });
});
