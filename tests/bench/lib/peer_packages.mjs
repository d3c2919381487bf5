/**
 * The packages that id2vec is compared with, in Node and in browsers, one thread each; undefined where one is not
 * installed. ID2VEC_PEERS names the folder in which scripts/bench.sh installs them.
 */
import { inNode } from './engine.mjs';

const kServed = '/peers'; // see browser.mjs

export function openOnnxRuntime() {
  return orNothing('onnxruntime-web', async () => {
    const ort = inNode
      ? await importHere('onnxruntime-web')
      : await import(`${kServed}/onnxruntime-web/dist/ort.wasm.bundle.min.mjs`);
    ort.env.wasm.numThreads = 1;
    return ort;
  });
}

export function openTensorFlow() {
  return orNothing('@tensorflow/tfjs-backend-wasm', async () => {
    const { tf, wasm, files } = inNode ? await tensorFlowHere() : await tensorFlowInPage();
    wasm.setWasmPaths(files);
    // It would start threads in a page that is isolated.
    tf.env().set('WASM_HAS_MULTITHREAD_SUPPORT', false);
    await tf.setBackend('wasm');
    await tf.ready();
    return tf;
  });
}

async function orNothing(name, open) {
  try {
    return await open();
  } catch (error) {
    console.error(`${name} cannot be used: ${error.message}`);
    return undefined;
  }
}

async function requireHere() {
  const folder = process.env.ID2VEC_PEERS;
  if (folder === undefined) throw new Error('ID2VEC_PEERS does not say where it is');
  const { createRequire } = await import('node:module');
  return createRequire(`${folder}/package.json`);
}

async function importHere(name) {
  const { pathToFileURL } = await import('node:url');
  return import(pathToFileURL((await requireHere()).resolve(name)).href);
}

async function tensorFlowHere() {
  const require = await requireHere();
  const main = require.resolve('@tensorflow/tfjs-backend-wasm');
  return {
    tf: require('@tensorflow/tfjs-core'),
    wasm: require('@tensorflow/tfjs-backend-wasm'),
    files: main.replace(/[^/\\]*$/, ''),
  };
}

async function tensorFlowInPage() {
  const files = `${kServed}/@tensorflow/tfjs-backend-wasm/dist/`;
  await import(`${kServed}/@tensorflow/tfjs-core/dist/tf-core.min.js`);
  await import(`${files}tf-backend-wasm.min.js`);
  return { tf: globalThis.tf, wasm: globalThis.tf.wasm, files };
}
