import type { ErrorCode } from 'yaml';

const SENTENCES: Readonly<Partial<Record<ErrorCode, string>>> = {
  BAD_ALIAS: 'is an alias (`*name`), which this file does not take; text that begins with * needs quotes',
  BAD_DQ_ESCAPE: 'has a backslash that YAML does not know; double it, or use single quotes',
  BAD_INDENT: 'is indented otherwise than the lines it belongs to',
  BAD_SCALAR_START: 'begins with a character that YAML keeps for itself; put the text in quotes',
  BLOCK_AS_IMPLICIT_KEY: 'has a second `: ` in one line; put text that holds a colon and a blank in quotes',
  BLOCK_IN_FLOW: 'has a block within brackets or braces; write it in one style',
  MISSING_CHAR: 'misses a character: a closing quote or bracket, or the colon and blank after a key',
  MULTILINE_IMPLICIT_KEY: 'is no `key: value`; a key takes a colon and a blank, on one line',
  MULTIPLE_DOCS: 'begins a second document (`---`); the file is one document',
  NON_STRING_KEY: 'is a key that is no text; put it in quotes',
  RESOURCE_EXHAUSTION: 'is nested too deeply',
  TAB_AS_INDENT: 'is indented with a tab; YAML takes blanks only',
  TAG_RESOLVE_FAILED:
    'is a tag (`!name`) or a value that YAML cannot take so; text that begins with ! needs quotes',
};

/** What to do about a fault of YAML itself. The parser's own messages quote the text, so they are not used. */
export function sentenceOfSyntax(code: ErrorCode): string {
  return (
    SENTENCES[code] ?? 'is not YAML; look for a missing blank, quote or indent here or on the line before'
  );
}
