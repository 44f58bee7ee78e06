// Prefixes that issuers give to their secrets so that they can be detected.
const SHAPES = [
  /\bsk-[A-Za-z0-9_-]{16,}/,
  /\b[srp]k_(?:live|test)_[A-Za-z0-9]{10,}/,
  /\bgh[pousr]_[A-Za-z0-9]{20,}/,
  /\bgithub_pat_[A-Za-z0-9_]{20,}/,
  /\bglpat-[A-Za-z0-9_-]{16,}/,
  /\bxox[abeprs]-[A-Za-z0-9-]{10,}/,
  /\bxapp-[A-Za-z0-9-]{10,}/,
  /\bAKIA[A-Z0-9]{16}\b/,
  /\bAIza[A-Za-z0-9_-]{30,}/,
  /\blin_api_[A-Za-z0-9]{20,}/,
  /\beyJ[A-Za-z0-9_-]{10,400}\.eyJ/,
  /-----BEGIN [A-Z ]*PRIVATE KEY-----/,
  /\bBearer +(?=\S{0,99}\d)[A-Za-z0-9._~+/-]{16}/i,
];

/** True for text that contains a recognizable secret. False does not mean that there is none. */
export function holdsSecret(text: string): boolean {
  return SHAPES.some((shape) => shape.test(text));
}
