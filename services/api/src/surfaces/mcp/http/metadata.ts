import { calledOrigin } from '../../../http/headers/called-origin.ts';
import { json, type Reply, type RequestHead } from '../../../http/route.ts';

export const MCP_PATH = '/run/v1/mcp';
export const METADATA_PATH = `/.well-known/oauth-protected-resource${MCP_PATH}`;

export interface McpResource {
  /** The address at which clients reach this resource; by default, it is derived from the request. */
  readonly url?: string;
  /** The issuer of user tokens; absent if tokens are signed with a shared secret. */
  readonly issuer?: string;
}

/** The protected-resource metadata (RFC 9728), which tells a client where to get a token for this resource. */
export function metadataReply(resource: McpResource, head: RequestHead): Reply {
  return json(200, {
    resource: resourceUrl(resource, head),
    ...(resource.issuer !== undefined && { authorization_servers: [resource.issuer] }),
    bearer_methods_supported: ['header'],
    resource_name: 'Parley',
  });
}

/** The challenge of a refused request (RFC 9728, section 5.1; RFC 6750, section 3). */
export function challengeOf(resource: McpResource, head: RequestHead): string {
  const url = new URL(resourceUrl(resource, head));
  const metadata = `resource_metadata="${url.origin}/.well-known/oauth-protected-resource${url.pathname}"`;
  return head.headers.authorization === undefined
    ? `Bearer ${metadata}`
    : `Bearer error="invalid_token", ${metadata}`;
}

function resourceUrl({ url }: McpResource, head: RequestHead): string {
  return url ?? `${calledOrigin(head)}${MCP_PATH}`;
}
