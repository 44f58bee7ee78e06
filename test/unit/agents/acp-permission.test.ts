import { MASK } from '@parley/shared/domain/approvals/mask';
import { describe, expect, it } from 'vitest';
import {
  denied,
  offeredOptions,
  permissionOutcome,
  permissionQuestion,
} from '../../../services/api/src/agents/acp/permission.ts';
import { createScrubFor } from '../../../services/api/src/agents/mcp/scrub.ts';

const OPTIONS = [
  { optionId: 'yes', name: 'Allow\u202e', kind: 'allow_once' },
  { optionId: 'no', name: 'Reject', kind: 'reject_once' },
] as const;

function questionFor(call: Record<string, unknown>) {
  const toolCall = { toolCallId: 'c', ...call };
  const options = offeredOptions({ toolCall, options: [...OPTIONS] }, createScrubFor([]));
  return { options, ...permissionQuestion({ toolCall, options }) };
}

describe('the permission that an ACP agent asks for', () => {
  it.each([
    ['an object', { pwd: 'x1', to: 'a' }, { pwd: MASK, to: 'a' }],
    ['a list', [{ name: 'API_KEY', value: 'x1' }], [{ name: 'API_KEY', value: MASK }]],
    ['a text', 'ls', 'ls'],
  ])('shows its input with the masks of approvals: %s', (_what, rawInput, shown) => {
    const { description, options } = questionFor({ rawInput });
    expect(description).toBe(JSON.stringify(shown));
    expect(options).toHaveLength(2);
  });

  it('can only be refused where the input is nested too deeply to be masked', () => {
    const deep = JSON.parse(`${'['.repeat(100)}1${']'.repeat(100)}`);
    const { description, options } = questionFor({ rawInput: deep });
    expect(description).toContain('Not everything');
    expect(options.map(({ optionId }) => optionId)).toEqual(['no']);
  });

  it.each([
    // The ids of an allow, of a second allow and of the refusal; who can be chosen; what a refusal selects.
    [['a', 'b', 'c'], ['a', 'b', 'c'], 'c'],
    [['a', 'b', 'a'], ['b'], undefined],
    [['a', 'a', 'c'], ['c'], 'c'],
    [['a', 'a', 'a'], [], undefined],
  ] as const)('selects no option whose id another one has, too: %j', (ids, offered, refusal) => {
    const kinds = ['allow_once', 'allow_always', 'reject_once'] as const;
    const options = ids.map((optionId, at) => ({
      optionId,
      name: `${at}`,
      kind: kinds[at] ?? 'reject_once',
    }));
    const toolCall = { toolCallId: 'c' };
    const shown = offeredOptions({ toolCall, options }, createScrubFor([]));
    expect(shown.map(({ optionId }) => optionId)).toEqual(offered);
    const refused =
      refusal === undefined ? { outcome: 'cancelled' } : { outcome: 'selected', optionId: refusal };
    expect(denied(options).outcome).toEqual(refused);
    expect(permissionOutcome(shown, { status: 'declined' }).outcome).toEqual(refused);
  });

  it('shows no character that cannot be seen: in its words it is left out, in its input it has a name', () => {
    const shown = questionFor({
      title: 'Run\u202e it',
      rawInput: { to: 'a\u202eb' },
      locations: [{ path: '/a\u200b' }],
    });
    expect(shown).toMatchObject({ message: 'Run it', description: '/a[U+200B]\n{"to":"a[U+202E]b"}' });
    expect(JSON.stringify(shown.requestedSchema)).toContain('"title":"Allow"');
  });
});
