import { MASK } from '@parley/shared/domain/approvals/mask';
import { describe, expect, it } from 'vitest';
import { offeredOptions, permissionQuestion } from '../../../services/api/src/agents/acp/permission.ts';
import { createScrubFor } from '../../../services/api/src/agents/mcp/calls/scrub.ts';

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
