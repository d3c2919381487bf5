// WebKitGTK has neither `using` (vitest.config.ts has it compiled away) nor the symbols that it calls.
for (const name of ['dispose', 'asyncDispose'] as const) {
  if (Symbol[name] === undefined)
    Object.defineProperty(Symbol, name, { value: Symbol.for(`Symbol.${name}`) });
}
