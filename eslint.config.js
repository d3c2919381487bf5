import js from '@eslint/js';
import { defineConfig, globalIgnores } from 'eslint/config';
import tseslint from 'typescript-eslint';

export default defineConfig(
  globalIgnores(['build/', 'dist/', 'web/dist/', 'coverage/']),
  js.configs.recommended,
  {
    files: ['**/*.{ts,tsx}'],
    extends: [tseslint.configs.recommendedTypeChecked],
    languageOptions: { parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname } },
    rules: {
      // Interfaces of this package are asynchronous where one of several implementations is.
      '@typescript-eslint/require-await': 'off',
      // Bound text in messages is numbers more often than not.
      '@typescript-eslint/restrict-template-expressions': [
        'error',
        { allowNumber: true, allowBoolean: true },
      ],
      // An AbortSignal's reason may be anything, and it is passed on as it is.
      '@typescript-eslint/prefer-promise-reject-errors': 'off',
      // The functions of a Node module that was imported at run time look like methods to this rule.
      '@typescript-eslint/unbound-method': 'off',
      '@typescript-eslint/switch-exhaustiveness-check': 'error',
    },
  },
  {
    files: ['**/*.{js,mjs}'],
    languageOptions: {
      globals: {
        AbortController: false,
        console: false,
        fetch: false,
        performance: false,
        process: false,
        setTimeout: false,
        URL: false,
        Buffer: false,
        TextEncoder: false,
        WebAssembly: false,
      },
    },
  },
  {
    files: ['examples/**', 'tests/package/**'],
    languageOptions: {
      globals: { document: false, location: false, Response: false, URLSearchParams: false },
    },
  },
);
