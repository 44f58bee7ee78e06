/** Builds the parts of a message as a standard client would. Collecting a whole turn is in `buffered.ts`. */

import type { Approval } from '@parley/core/domain/approvals/approval';
import type { Elicitation } from '@parley/core/domain/elicitations/elicitation';
import type { CallPage, TurnEvent } from '@parley/shared/domain/runs/turn-events';
import { type ShownApproval, shownApproval } from './approvals/shown.ts';
import { type ToolPart, type ToolPartEnd, toolPartOf } from './approvals/tool-part.ts';
import { type NamedPage, type ShownElicitation, shownElicitation, shownNotice, shownPage } from './shown.ts';
import { createPieces } from './text.ts';

/** A part of a `UIMessage`, of the kinds that Parley's turns produce. */
export type UiMessagePart =
  | { readonly type: 'step-start' }
  | { readonly type: 'text'; readonly text: string; readonly state: 'done' }
  | ToolPart
  /** An image that the person sent. */
  | {
      readonly type: 'file';
      readonly mediaType: string;
      readonly url: string;
      readonly filename?: string;
    }
  | { readonly type: 'data-left-out'; readonly data: { readonly v: 1; readonly text: string } }
  | { readonly type: 'data-elicitation-request'; readonly id: string; readonly data: ShownElicitation }
  | { readonly type: 'data-approval-request'; readonly id: string; readonly data: ShownApproval }
  | { readonly type: 'data-tool-page'; readonly id: string; readonly data: NamedPage }
  | {
      readonly type: 'data-tool-auth-required';
      readonly id: string;
      readonly data: ReturnType<typeof shownNotice>;
    };

/** The parts of one message while its turn runs. */
interface MessageParts {
  turn(event: TurnEvent): void;
  elicitation(elicitation: Elicitation): void;
  approval(approval: Approval): void;
  list(): readonly UiMessagePart[];
}

interface PartEntry {
  /** The step to which the part belongs; undefined for a question. */
  readonly step: number | undefined;
  /** The text block that is still open in the part. */
  block?: string;
  part: UiMessagePart;
}

/** Builds the parts that a standard client would build from the turn's stream, without the model's reasoning. */
export function createMessageParts(): MessageParts {
  const pieces = createPieces();
  /** Approvals by call. They are kept when a step starts again, because nobody is asked twice. */
  const approvals = new Map<string, Approval>();
  let entries: PartEntry[] = [];
  let step = 0;
  let stepOpen = false;

  function append(part: UiMessagePart, block?: string): void {
    entries.push({ step, part, ...(block !== undefined && { block }) });
  }

  function text(block: string, more: string): void {
    if (more === '') return;
    const open = entries.find((entry) => entry.block === block);
    if (open?.part.type === 'text') open.part = { ...open.part, text: open.part.text + more };
    else append({ type: 'text', text: more, state: 'done' }, block);
  }

  function finishBlock(block: string): void {
    text(block, pieces.finish(block));
    for (const entry of entries) if (entry.block === block) delete entry.block;
  }

  function closeStep(): void {
    for (const [block, rest] of pieces.finishAll()) text(block, rest);
    for (const entry of entries) delete entry.block;
    stepOpen = false;
  }

  function openStep(next: number): void {
    if (stepOpen && next === step) return;
    closeStep();
    step = next;
    stepOpen = true;
    append({ type: 'step-start' });
  }

  function restart(from: number): void {
    pieces.clear();
    entries = entries.filter(
      ({ step: of, part }) => of === undefined || of < from || (of === from && part.type === 'step-start'),
    );
    stepOpen = entries.some(({ step: of }) => of === from);
    step = from;
  }

  function call({ toolCallId, toolName, input = null }: Extract<TurnEvent, { type: 'tool-called' }>): void {
    const part = toolPartOf({ toolName, toolCallId, input }, approvals.get(toolCallId));
    const again = entries.find(
      (entry) =>
        entry.step === step && entry.part.type === 'dynamic-tool' && entry.part.toolCallId === toolCallId,
    );
    if (again === undefined) append(part);
    else again.part = part;
  }

  function page({ toolCallId, page: shown }: { toolCallId: string; page?: CallPage | undefined }): void {
    if (shown !== undefined) put({ type: 'data-tool-page', id: toolCallId, data: shownPage(shown) }, step);
  }

  /** Updates the part of a call with its approval, and with its outcome if it has one. */
  function update(toolCallId: string, outcome?: ToolPartEnd): void {
    const entry = entries.findLast(
      ({ part }) => part.type === 'dynamic-tool' && part.toolCallId === toolCallId,
    );
    if (entry?.part.type === 'dynamic-tool')
      entry.part = toolPartOf(entry.part, approvals.get(toolCallId), outcome);
  }

  /** Replaces the part of this type and id, or adds it. */
  function put(part: Extract<UiMessagePart, { id: string }>, of: number | undefined): void {
    const entry = entries.find(
      ({ part: { type, ...rest } }) => type === part.type && 'id' in rest && rest.id === part.id,
    );
    if (entry === undefined) entries.push({ step: of, part });
    else entry.part = part;
  }

  return {
    turn(event) {
      switch (event.type) {
        case 'turn-started':
          return;
        case 'step-started':
          return openStep(event.step);
        case 'step-restarted':
          return restart(event.step);
        case 'step-finished':
        case 'turn-finished':
        case 'turn-failed':
          return closeStep();
        case 'text-delta':
          return text(event.block, pieces.add(event.block, event.text));
        case 'text-finished':
          return finishBlock(event.block);
        case 'tool-called':
          return call(event);
        case 'tool-returned':
          update(event.toolCallId, { state: 'output-available', output: event.output ?? null });
          return page(event);
        case 'tool-failed':
          update(event.toolCallId, { state: 'output-error', errorText: event.message });
          return page(event);
        case 'tool-auth-required':
          return put(
            { type: 'data-tool-auth-required', id: event.toolCallId, data: shownNotice(event) },
            step,
          );
      }
    },
    elicitation(elicitation) {
      const data = shownElicitation(elicitation);
      put({ type: 'data-elicitation-request', id: elicitation.elicitationId, data }, undefined);
    },
    approval(approval) {
      approvals.set(approval.toolCallId, approval);
      update(approval.toolCallId);
      put(
        { type: 'data-approval-request', id: approval.approvalId, data: shownApproval(approval) },
        undefined,
      );
    },
    list: () => entries.map(({ part }) => part),
  };
}
