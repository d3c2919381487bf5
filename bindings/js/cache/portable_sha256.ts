/** SHA-256 of a stream where there is neither Node's nor WebCrypto's: a file of its own, loaded when it is needed. */
export { sha256 } from '@noble/hashes/sha2.js';
