/**
 * The API calls that make and revoke answer links. Opening a link in a browser is in `by-link.ts`, the storage of links in
 * `links.ts`.
 */

import { ParleyError } from '@parley/core/domain/errors';
import { type Caller, keyIdOf, operatorOf } from '@parley/shared/domain/caller';
import type { Engine } from '@parley/shared/elicitations/engine';
import { z } from 'zod';
import type { AccountEvent } from '../../accounts/events.ts';
import { answerPath } from '../../accounts/own-pages.ts';
import type { OnAct } from '../../http/proof/acts.ts';
import { json, jsonBody, operator, type Route, route, type Surface } from '../../http/route.ts';
import { refuseUnlinkableApproval, refuseUnlinkableQuestion } from './linkable.ts';
import { type AnswerLinks, LINK_SECONDS_MAX } from './links.ts';

const SECONDS_MIN = 60;
const SECONDS_DEFAULT = 3_600;

interface LinkRoutesDeps {
  readonly engine: Pick<Engine, 'read' | 'approvals'>;
  /** Absent if the deployment has no public address for pages. */
  readonly pages?: { readonly publicUrl: string; readonly links: AnswerLinks };
  /** False if approvals have no links. */
  readonly linksApprovals: boolean;
  readonly onEvent: (event: AccountEvent, requestId?: string) => void;
  readonly onAct: OnAct;
}

const LinkInput = z.strictObject({
  expiresInSeconds: z
    .int()
    .min(SECONDS_MIN)
    .max(LINK_SECONDS_MAX)
    .default(SECONDS_DEFAULT)
    .describe('How long the link can be opened; at most until the deadline.'),
});

const ApprovalLinkInput = LinkInput.extend({
  allowHighRisk: z
    .boolean()
    .default(false)
    .describe('True to make a link for a call whose `risk` is `high`.'),
}).meta({ id: 'ApprovalLinkInput' });

const QuestionLinkInput = LinkInput.extend({
  allowSensitive: z
    .boolean()
    .default(false)
    .describe('True to make a link for a question with `sensitive: true`.'),
}).meta({ id: 'AnswerLinkInput' });

const AnswerLink = z
  .object({
    url: z.url().describe('Shown once. Its part after # is a secret, which browsers do not send to servers.'),
    expiresAt: z.iso.datetime(),
  })
  .meta({
    id: 'AnswerLink',
    description: 'A link with which one browser may answer one question, or decide on one call.',
  });

const Revoked = z.object({ revoked: z.boolean() }).meta({ id: 'AnswerLinkRevoked' });

/** A record to which a link can lead, as its caller may see it. */
interface LinkableRecord {
  readonly row: { readonly expiresAt: number };
  readonly now: number;
}

/** The differences between links of questions and links of approvals. */
interface LinkedFamily<Input extends z.infer<typeof LinkInput>> {
  readonly path: string;
  readonly group: 'Questions' | 'Approvals';
  readonly input: z.ZodType<Input, unknown>;
  /** Sentences for the documentation of the calls. */
  readonly says: { readonly make: string; readonly about: string; readonly revoked: string };
  readonly sampleId: string;
  /** Reads the record for a caller. Throws `not_found`. */
  read(deps: LinkRoutesDeps, caller: Caller, id: string): Promise<LinkableRecord>;
  /** Reads as `read` does. Throws if a link could not lead to an answer. */
  readLinkable(deps: LinkRoutesDeps, caller: Caller, id: string, body: Input): Promise<LinkableRecord>;
}

const QUESTIONS: LinkedFamily<z.infer<typeof QuestionLinkInput>> = {
  path: '/v1/elicitations/:id/answer-link',
  group: 'Questions',
  input: QuestionLinkInput,
  says: {
    make: 'Make a link to answer without a token',
    about:
      'The first browser that opens the link may read and answer this question, and no other one. Send it only to the person who was asked. A new link revokes the one before.',
    revoked: 'The browser that opened the link can no longer read or answer the question, either.',
  },
  sampleId: 'el_0gT3fMv7Qx2LrK8sYbWnHc4D',
  read: ({ engine }, caller, id) => engine.read(caller, id),
  async readLinkable({ engine, pages }, caller, id, { allowSensitive }) {
    const seen = await engine.read(caller, id);
    if (pages !== undefined) refuseUnlinkableQuestion(pages.publicUrl, seen, allowSensitive);
    return seen;
  },
};

const APPROVALS: LinkedFamily<z.infer<typeof ApprovalLinkInput>> = {
  path: '/v1/approvals/:id/answer-link',
  group: 'Approvals',
  input: ApprovalLinkInput,
  says: {
    make: 'Make a link to decide without a token',
    about:
      'The first browser that opens the link may read this call and approve or deny it, and no other one. Send it only to the person who decides. A new link revokes the one before. Refused where `PARLEY_APPROVAL_LINKS` is false.',
    revoked: 'The browser that opened the link can no longer read the call or decide, either.',
  },
  sampleId: 'ap_09Yw2nC5l8bZ0vR7tKdJ1mHs',
  read: ({ engine }, caller, id) => engine.approvals.read(caller, id),
  async readLinkable({ engine, linksApprovals }, caller, id, { allowHighRisk }) {
    const seen = await engine.approvals.read(caller, id);
    if (!linksApprovals)
      throw new ParleyError(
        'invalid_request',
        'Approvals have no answer links here: PARLEY_APPROVAL_LINKS is false.',
      );
    refuseUnlinkableApproval(seen, allowHighRisk);
    return seen;
  },
};

/** The calls with which an asker or an operator makes and revokes a link for a person without a token. */
export function answerLinkRoutes(deps: LinkRoutesDeps): Surface {
  return {
    routes: [
      issueRoute(deps, QUESTIONS),
      revokeRoute(deps, QUESTIONS),
      issueRoute(deps, APPROVALS),
      revokeRoute(deps, APPROVALS),
    ],
  };
}

function issueRoute<Input extends z.infer<typeof LinkInput>>(
  deps: LinkRoutesDeps,
  { path, group, input, says, sampleId, readLinkable }: LinkedFamily<Input>,
): Route {
  const { pages } = deps;
  return route({
    method: 'POST',
    path,
    proof: operator('link'),
    body: jsonBody(input, { optional: true }),
    docs: {
      group,
      summary: says.make,
      description: says.about,
      example: {
        body: { expiresInSeconds: 900 },
        reply: {
          url: `https://parley.example.com/auth/answer/${sampleId}#nD1…`,
          expiresAt: '2026-01-15T09:45:00.000Z',
        },
      },
      replies: { 201: { description: 'The link', schema: AnswerLink } },
      errors: ['already_settled', 'expired'],
    },
    async handle({ caller, params, body, head, admitted }) {
      const id = params.id ?? '';
      await admitted;
      const { row, now } = await readLinkable(deps, caller, id, body);
      if (pages === undefined) throw noPages();
      const opensUntil = Math.min(now + body.expiresInSeconds * 1_000, row.expiresAt);
      const token = await pages.links.issue(id, { now, opensUntil });
      note(deps, 'made', { id, caller, requestId: head.requestId });
      const link = {
        url: `${pages.publicUrl}${answerPath(id)}#${token}`,
        expiresAt: new Date(opensUntil).toISOString(),
      };
      return json(201, link, { 'cache-control': 'no-store' });
    },
  });
}

function revokeRoute<Input extends z.infer<typeof LinkInput>>(
  deps: LinkRoutesDeps,
  { path, group, says, read }: LinkedFamily<Input>,
): Route {
  const { pages } = deps;
  return route({
    method: 'DELETE',
    path,
    proof: operator('link'),
    docs: {
      group,
      summary: 'Revoke the answer link',
      description: says.revoked,
      example: { reply: { revoked: true } },
      replies: { 200: { description: '`revoked` is false where there was no link', schema: Revoked } },
    },
    async handle({ caller, params, head, admitted }) {
      const id = params.id ?? '';
      await admitted;
      await read(deps, caller, id);
      const revoked = (await pages?.links.revoke(id)) ?? false;
      if (revoked) note(deps, 'revoked', { id, caller, requestId: head.requestId });
      return json(200, { revoked });
    },
  });
}

interface NotedLink {
  readonly id: string;
  readonly caller: Caller;
  readonly requestId: string;
}

/** Records what happened to the link: an operator's call as an act, a service key's as an event. */
function note(
  { onEvent, onAct }: LinkRoutesDeps,
  change: 'made' | 'revoked',
  { id, caller, requestId }: NotedLink,
): void {
  const { tenant } = caller;
  if (operatorOf(caller) !== undefined)
    onAct({ act: change === 'made' ? 'link' : 'revoke_link', subject: id }, caller);
  else onEvent({ type: 'link', change, elicitationId: id, tenant, key: keyIdOf(caller) }, requestId);
}

function noPages(): ParleyError {
  return new ParleyError(
    'invalid_request',
    'Answer links need PARLEY_PUBLIC_URL, the address at which browsers reach Parley. It is not set.',
  );
}
