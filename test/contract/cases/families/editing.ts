import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { CALL, decideAs, requestApproval } from '../../../harness/engines/approvals.ts';
import type { Contract } from '../../../harness/engines/contract.ts';
import { callOutcome, expectCode } from '../../../harness/engines/observe.ts';
import { newStream, serviceOf } from '../../../harness/engines/questions.ts';
import { waitUntil } from '../../../harness/wait-until.ts';

const EDIT = { decision: 'edit', arguments: { ...CALL.arguments, booking: 'B-2' } } as const;
const DEEP = { booking: JSON.parse(`${'['.repeat(50_000)}${']'.repeat(50_000)}`), apiKey: '••••••' };

/** What approvals have and no other family: edited arguments, masks, and remembering. */
export function approvalContract(contract: Contract): void {
  describe('an approval', () => {
    it.each([
      ['that do not fit the tool', { booking: '', apiKey: '••••••' }, 'invalid_answer'],
      ['that lack what the tool requires', { apiKey: '••••••' }, 'invalid_answer'],
      ['that change a masked value', { booking: 'B-2', apiKey: 'mine' }, 'invalid_answer'],
      ['that drop a masked value', { booking: 'B-2' }, 'invalid_answer'],
      ['that add a secret', { booking: 'B-2', apiKey: '••••••', token: 'mine' }, 'invalid_answer'],
      ['that are nested without a bound', DEEP, 'invalid_answer'],
      ['that nobody could read', { booking: 'B'.repeat(70_000), apiKey: '••••••' }, 'invalid_answer'],
      ['that are missing', undefined, 'invalid_request'],
    ])('refuses arguments %s and stays pending', async (_what, edited, code) => {
      const { first, second } = contract;
      const stream = newStream();
      const { row } = await requestApproval(first, stream);
      const response = { decision: 'edit' as const, ...(edited !== undefined && { arguments: edited }) };
      expect(await callOutcome(decideAs(second, stream, row.id, response))).toMatchObject({
        refusal: { code },
      });
      expect((await first.approvals.read(serviceOf(stream), row.id)).row).toEqual(row);
    });

    it('that has ended refuses arguments that are nested without a bound', async () => {
      const { first } = contract;
      const stream = newStream();
      const { row } = await requestApproval(first, stream);
      await decideAs(first, stream, row.id, EDIT);
      await decideAs(first, stream, row.id, EDIT);
      const deep = { ...EDIT, arguments: DEEP };
      await expectCode(decideAs(first, stream, row.id, deep), 'invalid_answer');
    });

    it('that was remembered and revoked is not remembered again by a repeat of its decision', async () => {
      const { first, second } = contract;
      const stream = newStream();
      const remember = { decision: 'approve', remember: true } as const;
      const { row } = await requestApproval(first, stream);
      await decideAs(first, stream, row.id, remember);
      const [grant] = await second.approvals.grants.list(stream);
      await second.approvals.grants.revoke(stream, grant?.grantId ?? '');
      await decideAs(first, stream, row.id, remember);
      expect(await second.approvals.grants.list(stream)).toEqual([]);
      const { grants } = contract.pods.backend.ownerRecords;
      const revokedAt = await grants.now(stream);
      await waitUntil(async () => (await grants.now(stream)) > revokedAt, { what: 'a later decision' });
      const next = await requestApproval(first, stream);
      await decideAs(second, stream, next.row.id, remember);
      expect(await first.approvals.grants.list(stream)).toMatchObject([{ approvalId: next.row.id }]);
    });

    it('without a schema cannot be edited, and without a time cannot be remembered', async () => {
      const { first } = contract;
      const stream = newStream();
      const { inputSchema: _schema, remember: _remember, ...bare } = CALL;
      const definition = { ...bare, ...stream };
      const { row } = await first.approvals.request({ definition, idempotencyKey: `run ${randomUUID()}` });
      for (const response of [
        { decision: 'edit', arguments: { ...CALL.arguments } },
        { decision: 'approve', remember: true },
      ] as const)
        await expectCode(decideAs(first, stream, row.id, response), 'invalid_request');
    });
  });
}
